package order_test

import (
	"fmt"
	"testing"

	"github.com/dengxu/dengxu/internal/order"
)

// eachBench measures lines of 60,000 members in one lane and in twelve.
func eachBench(b *testing.B, measure func(b *testing.B, line order.Line, all []order.Member)) {
	b.Helper()
	for _, lanes := range []int{1, 12} {
		index, all := longLine(lanes, 60_000/lanes)
		b.Run(fmt.Sprintf("aging/lanes=%d", lanes), func(b *testing.B) {
			b.ReportAllocs()
			measure(b, order.Line{Index: index}, all)
		})
	}
}

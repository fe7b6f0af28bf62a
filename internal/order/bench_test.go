package order_test

import (
	"fmt"
	"testing"

	"github.com/dengxu/dengxu/internal/order"
)

// eachBench measures do over lines of 60,000 members in one lane and in twelve;
// i counts what was done.
func eachBench(b *testing.B, do func(line order.Line, all []order.Member, i int)) {
	b.Helper()
	names := map[order.Discipline]string{order.Aging: "aging", order.Strict: "strict", order.Ratio: "ratio"}
	for _, d := range []order.Discipline{order.Aging, order.Strict, order.Ratio} {
		for _, lanes := range []int{1, 12} {
			line, all := longRule(d, lanes, 60_000/lanes)
			b.Run(fmt.Sprintf("%s/lanes=%d", names[d], lanes), func(b *testing.B) {
				b.ReportAllocs()
				for i := 0; b.Loop(); i++ {
					do(line, all, i)
				}
			})
		}
	}
}

// longRule is longLine in a discipline; in strict and ratio its paces are
// groups.
func longRule(d order.Discipline, lanes, each int) (order.Line, []order.Member) {
	index, all := longLine(lanes, each)
	line := order.Line{Rule: order.Rule{Discipline: d, Escalate: 3_600_000}, Index: index}
	if d == order.Aging {
		return line, all
	}
	grouped := &sliceIndex{keys: map[order.Lane][]order.Key{}}
	for _, lane := range index.lanes {
		group := order.Group{Name: groupOf(lane), Rank: lane.K / 8, Share: 1 + lane.K%7}
		line.Rule.Groups = append(line.Rule.Groups, group)
		l := order.Lane{Group: group.Name}
		grouped.lanes, grouped.keys[l] = append(grouped.lanes, l), index.keys[lane]
	}
	for i, m := range all {
		all[i].Lane = order.Lane{Group: groupOf(m.Lane)}
	}
	line.Index = grouped
	return line, all
}

func groupOf(lane order.Lane) string { return fmt.Sprintf("g%d", lane.K) }

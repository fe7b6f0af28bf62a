package pebblestore

import (
	"fmt"
	"testing"
)

func TestFilter(t *testing.T) {
	t.Parallel()
	const n = 100_000
	var f opFilter
	key := func(i int) []byte { return opKey(nil, "key-1", fmt.Sprint("op-", i)) }
	for i := range n {
		f.add(key(i), int64(i))
	}
	wrong := 0
	for i := range n {
		if !f.has(key(i)) {
			t.Fatalf("key %d was added and is not there", i)
		}
		if f.has(key(n + i)) {
			wrong++
		}
	}
	// Three parts with 0.3 % each.
	if share := float64(wrong) / n; share > 0.02 {
		t.Errorf("%.2f %% of new keys are taken for known", 100*share)
	}
	bytes := 0
	for _, p := range f.parts {
		bytes += 64 * len(p.lines)
	}
	if bytes > 4*n {
		t.Errorf("%d bytes for %d keys", bytes, n)
	}
	f.forget(n / 2)
	for i := n / 2; i < n; i++ {
		if !f.has(key(i)) {
			t.Fatalf("key %d was forgotten before its time", i)
		}
	}
	if f.has(key(0)) && f.has(key(1)) && f.has(key(2)) {
		t.Error("nothing was forgotten")
	}
}

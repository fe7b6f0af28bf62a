package gbdt

import (
	"encoding/binary"
	"hash/crc32"
	"math"
	"testing"
)

func saved(t testing.TB, m *Model) []byte {
	t.Helper()
	b, err := m.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// resealed puts the right sum behind changed bytes.
func resealed(b []byte) []byte {
	b = b[:len(b)-4]
	return binary.BigEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
}

func TestLoadingWhatWasSavedGivesTheSameBits(t *testing.T) {
	t.Parallel()
	rows := made(10, 600, 3)
	m := train(t, rows, Params{Quantile: 0.9, MinWeight: 10})
	var loaded Model
	if err := loaded.UnmarshalBinary(saved(t, m)); err != nil {
		t.Fatal(err)
	}
	for i := range rows.Target {
		if a, b := m.Predict(rows.row(i)), loaded.Predict(rows.row(i)); math.Float64bits(a) != math.Float64bits(b) {
			t.Fatalf("row %d: %g, then %g", i, a, b)
		}
	}
	if loaded.Quantile() != 0.9 || loaded.Features() != 3 || loaded.Trees() != m.Trees() {
		t.Errorf("%g, %d, %d", loaded.Quantile(), loaded.Features(), loaded.Trees())
	}
}

func TestDamagedBytesAreRefused(t *testing.T) {
	t.Parallel()
	b := saved(t, train(t, made(11, 300, 3), Params{Quantile: 0.9, MinWeight: 10}))
	change := func(at int, to byte) []byte {
		c := append([]byte(nil), b...)
		c[at] = to
		return c
	}
	firstNode := headerSize + 2
	for _, row := range []struct {
		bytes []byte
		want  string
	}{
		{nil, "this is no forest"},
		{change(0, 'x'), "this is no forest"},
		{change(4, 2), "this forest is of version 2, and 1 is known"},
		{change(firstNode, b[firstNode]+1), "the forest is damaged"},
		{b[:len(b)-1], "the forest is damaged"},
		{resealed(change(headerSize-6, 0xff)), "a forest of 100 trees over 65283 features"},
		{resealed(change(5, 0xff)), "the forest has no quantile or no base"},
		{resealed(change(firstNode+9, 9)), "tree 0: node 0 asks for feature 9 of 3"},
		{resealed(change(firstNode+12, 0)), "tree 0: node 0 leads to 0 and 2 of 15"},
		{resealed(append(append([]byte(nil), b[:len(b)-4]...), 0, 0, 0, 0, 0)), "1 bytes behind the last tree"},
		{resealed(append([]byte(nil), b[:len(b)-20]...)), "tree 99: it has 15 nodes in 205 bytes"},
	} {
		var m Model
		if err := m.UnmarshalBinary(row.bytes); err == nil || err.Error() != row.want {
			t.Errorf("%v, want %s", err, row.want)
		}
		if m.Trees() != 0 {
			t.Error("a refused forest has trees")
		}
	}
}

func FuzzUnmarshal(f *testing.F) {
	f.Add(saved(f, train(f, made(12, 60, 2), Params{Quantile: 0.5, Trees: 2, MinWeight: 5})))
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) >= 4 {
			b = resealed(b) // damage that the sum does not see
		}
		var m Model
		if m.UnmarshalBinary(b) != nil {
			return
		}
		if v := m.Predict(make([]float64, m.Features())); v != v {
			t.Error("not a number")
		}
	})
}

package gbdt

import (
	"cmp"
	"math"
	"slices"
)

// Bounds of what is trained and loaded.
const (
	maxTrees    = 10_000
	maxLeaves   = 1024
	maxBins     = 255
	maxFeatures = 1024
)

// weightOne is the largest weight as a whole number. 2^32 rows of it still fit.
const weightOne = 1 << 30

// feature is one column in bins. Bin 0 holds what is missing, bin b from 1 what
// is above edges[b-2] and at most edges[b-1].
type feature struct {
	bins  []uint8
	edges []float64
}

// bin makes bins of about equal weight, at most most of them. Edges are values
// of the column, so a rising transform of the column changes no bin.
func bin(column []float64, weight []int64, most int) feature {
	type value struct {
		v float64
		w int64
	}
	values := make([]value, 0, len(column))
	var total int64
	for i, v := range column {
		if !math.IsNaN(v) {
			values = append(values, value{v, weight[i]})
			total += weight[i]
		}
	}
	slices.SortFunc(values, func(a, b value) int { return cmp.Compare(a.v, b.v) })
	distinct := values[:0]
	for _, v := range values {
		if last := len(distinct) - 1; last >= 0 && distinct[last].v == v.v {
			distinct[last].w += v.w
		} else {
			distinct = append(distinct, v)
		}
	}
	f := feature{bins: make([]uint8, len(column))}
	var sum int64
	for i, v := range distinct {
		sum += v.w
		full := float64(sum)*float64(most) >= float64(total)*float64(len(f.edges)+1)
		if len(distinct) <= most || full || i == len(distinct)-1 {
			f.edges = append(f.edges, v.v)
		}
	}
	for i, v := range column {
		if !math.IsNaN(v) {
			at, _ := slices.BinarySearch(f.edges, v)
			f.bins[i] = uint8(at + 1)
		}
	}
	return f
}

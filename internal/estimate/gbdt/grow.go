package gbdt

import (
	"cmp"
	"math/rand/v2"
	"slices"
)

// grower holds what a training changes from tree to tree.
type grower struct {
	params    Params
	features  []feature
	weight    []int64
	minWeight int64
	rest      []float64 // target less what the trees so far say
	below     []bool    // whether rest is below 0
	all       []int32   // rows, those of a leaf side by side
	picked    []weighted
	spare     []histogram // of trees before
}

// cell sums the weight of the rows of one bin, and of those below what the
// trees say. Whole numbers, so that sums do not depend on their order.
type cell struct{ weight, below int64 }

func (c cell) less(o cell) cell { return cell{c.weight - o.weight, c.below - o.below} }

// histogram has one cell for each bin of each feature.
type histogram [][]cell

// part is a leaf while its tree grows: a run of rows, and its best split.
type part struct {
	at         int // of its node
	rows, also []int32
	sum        cell
	histogram  histogram
	best       split
}

// split divides a part: bins up to bin go left.
type split struct {
	gain        float64
	feature     int
	bin         int
	missingLeft bool
}

// tree grows one tree, takes what it says from the rest, and returns its nodes;
// nil when nothing can be gained.
func (g *grower) tree(random *rand.Rand) []node {
	for i, r := range g.rest {
		g.below[i] = r < 0
	}
	rows, also := g.sample(random)
	root := part{rows: rows, also: also}
	g.measure(&root)
	if root.best.gain <= 0 {
		return nil
	}
	nodes := []node{{feature: leaf}}
	parts := []part{root}
	for len(parts) < g.params.Leaves {
		at := 0
		for i := range parts {
			if parts[i].best.gain > parts[at].best.gain {
				at = i
			}
		}
		if parts[at].best.gain <= 0 {
			break
		}
		left, right := g.divide(&parts[at])
		left.at, right.at = len(nodes), len(nodes)+1
		s := parts[at].best
		nodes[parts[at].at] = node{
			value: g.features[s.feature].edges[s.bin-1], feature: int16(s.feature), missingLeft: s.missingLeft,
			left: uint16(left.at), right: uint16(right.at),
		}
		nodes = append(nodes, node{feature: leaf}, node{feature: leaf})
		parts[at] = left
		parts = append(parts, right)
	}
	for i := range parts {
		nodes[parts[i].at].value = g.renew(&parts[i])
		g.spare = append(g.spare, parts[i].histogram)
	}
	return nodes
}

// sample divides the rows into those that splits are found from and those that
// only follow.
func (g *grower) sample(random *rand.Rand) (rows, also []int32) {
	if g.params.Sample >= 1 {
		return g.all, nil
	}
	slices.Sort(g.all)
	n := max(1, int(g.params.Sample*float64(len(g.all))))
	for i := range n {
		j := i + random.IntN(len(g.all)-i)
		g.all[i], g.all[j] = g.all[j], g.all[i]
	}
	return g.all[:n], g.all[n:]
}

// renew takes the quantile of what is left in a leaf, at the learning rate.
func (g *grower) renew(p *part) float64 {
	value := g.params.Rate * g.quantile(p.rows, p.also)
	for _, rows := range [][]int32{p.rows, p.also} {
		for _, i := range rows {
			g.rest[i] -= value
		}
	}
	return value
}

// measure counts a part from its rows and finds its best split.
func (g *grower) measure(p *part) {
	p.histogram = g.empty()
	for f, column := range g.features {
		cells := p.histogram[f]
		for _, i := range p.rows {
			c := &cells[column.bins[i]]
			c.weight += g.weight[i]
			if g.below[i] {
				c.below += g.weight[i]
			}
		}
	}
	g.find(p)
}

func (g *grower) empty() histogram {
	if n := len(g.spare); n > 0 {
		h := g.spare[n-1]
		g.spare = g.spare[:n-1]
		for _, cells := range h {
			clear(cells)
		}
		return h
	}
	h := make(histogram, len(g.features))
	for f, column := range g.features {
		h[f] = make([]cell, len(column.edges)+1)
	}
	return h
}

// find looks for the split of a part that gains most; the first of equals.
func (g *grower) find(p *part) {
	p.sum = cell{}
	for _, c := range p.histogram[0] {
		p.sum.weight += c.weight
		p.sum.below += c.below
	}
	p.best = split{}
	whole := g.score(p.sum)
	for f, cells := range p.histogram {
		missing := cells[0]
		var left cell // without what is missing
		for b := 1; b < len(cells); b++ {
			left.weight += cells[b].weight
			left.below += cells[b].below
			if cells[b].weight == 0 {
				continue
			}
			g.consider(p, left, whole, split{feature: f, bin: b})
			if missing.weight > 0 {
				g.consider(p, cell{left.weight + missing.weight, left.below + missing.below}, whole, split{feature: f, bin: b, missingLeft: true})
			}
		}
	}
}

// consider keeps a split when it gains more than the best so far.
func (g *grower) consider(p *part, left cell, whole float64, s split) {
	right := p.sum.less(left)
	if left.weight < max(1, g.minWeight) || right.weight < max(1, g.minWeight) {
		return
	}
	s.gain = g.score(left) + g.score(right) - whole
	// A gain that is only the rounding of its own terms is none.
	if s.gain > p.best.gain && s.gain > 1e-12*float64(p.sum.weight) {
		p.best = s
	}
}

// score is the square of the sum of gradients over the sum of weights.
func (g *grower) score(c cell) float64 {
	gradient := g.params.Quantile*float64(c.weight) - float64(c.below)
	return gradient * gradient / float64(c.weight)
}

// divide splits a part by its best split. The smaller side is counted, the
// other is the difference.
func (g *grower) divide(p *part) (left, right part) {
	s := p.best
	if p.histogram[s.feature][0].weight == 0 {
		// Nothing was missing here: what will be goes with the many.
		goesLeft := cell{}
		for b := 1; b <= s.bin; b++ {
			goesLeft.weight += p.histogram[s.feature][b].weight
		}
		p.best.missingLeft = 2*goesLeft.weight >= p.sum.weight
		s = p.best
	}
	n := g.partition(p.rows, s)
	left.rows, right.rows = p.rows[:n:n], p.rows[n:]
	n = g.partition(p.also, s)
	left.also, right.also = p.also[:n:n], p.also[n:]

	small, large := &left, &right
	if len(left.rows) > len(right.rows) {
		small, large = large, small
	}
	g.measure(small)
	large.histogram = p.histogram
	for f, cells := range large.histogram {
		for b, c := range small.histogram[f] {
			cells[b] = cells[b].less(c)
		}
	}
	g.find(large)
	return left, right
}

// partition brings the rows that go left to the front and says how many.
func (g *grower) partition(rows []int32, s split) int {
	bins := g.features[s.feature].bins
	n := 0
	for i, row := range rows {
		b := int(bins[row])
		if b == 0 && s.missingLeft || b > 0 && b <= s.bin {
			rows[n], rows[i] = rows[i], rows[n]
			n++
		}
	}
	return n
}

// weighted is a number with its weight.
type weighted struct {
	v float64
	w int64
}

// quantile is the least of the rests of rows at or below which their share of
// weight lies; half way to the next one when the share is met exactly.
func (g *grower) quantile(runs ...[]int32) float64 {
	g.picked = g.picked[:0]
	var total int64
	for _, rows := range runs {
		for _, i := range rows {
			g.picked = append(g.picked, weighted{g.rest[i], g.weight[i]})
			total += g.weight[i]
		}
	}
	return selectWeighted(g.picked, g.params.Quantile*float64(total))
}

// selectWeighted finds where the running weight reaches want. It is Hoare's
// selection: what lies on the wrong side of a pivot is never looked at again.
func selectWeighted(values []weighted, want float64) float64 {
	var before int64 // weight of what was left behind on the lower side
	for len(values) > 32 {
		pivot := median3(values[0].v, values[len(values)/2].v, values[len(values)-1].v)
		lower, equal := 0, 0
		var lowerWeight, equalWeight int64
		for i := 0; i < len(values); i++ {
			switch v := values[i]; {
			case v.v < pivot:
				values[i], values[lower+equal] = values[lower+equal], values[i]
				values[lower+equal], values[lower] = values[lower], values[lower+equal]
				lower++
				lowerWeight += v.w
			case v.v == pivot:
				values[i], values[lower+equal] = values[lower+equal], values[i]
				equal++
				equalWeight += v.w
			}
		}
		switch {
		case want < float64(before+lowerWeight):
			values = values[:lower]
		case want > float64(before+lowerWeight+equalWeight):
			before += lowerWeight + equalWeight
			values = values[lower+equal:]
		case want > float64(before+lowerWeight) && want < float64(before+lowerWeight+equalWeight):
			return pivot
		default:
			return selectSorted(values, before, want) // on an edge, where two values count
		}
	}
	return selectSorted(values, before, want)
}

func selectSorted(values []weighted, before int64, want float64) float64 {
	slices.SortFunc(values, func(a, b weighted) int { return cmp.Compare(a.v, b.v) })
	for i, v := range values {
		before += v.w
		if float64(before) < want {
			continue
		}
		if float64(before) == want && i+1 < len(values) {
			return v.v + (values[i+1].v-v.v)/2
		}
		return v.v
	}
	return values[len(values)-1].v
}

func median3(a, b, c float64) float64 {
	return max(min(a, b), min(max(a, b), c))
}

package redisstore

import (
	"encoding/binary"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/order"
	"github.com/dengxu/dengxu/internal/store"
)

const (
	lastPlace = 1<<47 - 1 // what fits into six bytes without the first being 255
	lastSeq   = 1<<48 - 1
)

// laneIndex is a line in Go: an order.Index, and the members' bytes.
type laneIndex struct {
	line  string // queue, "\0", generation
	lanes []order.Lane
	keys  map[order.Lane][]order.Key
	ids   map[uint64]string // by seq
}

func newLaneIndex(queue string, gen uint32) *laneIndex {
	line := string(binary.BigEndian.AppendUint32([]byte(queue+"\x00"), gen))
	return &laneIndex{line: line, keys: map[order.Lane][]order.Key{}, ids: map[uint64]string{}}
}

func (x *laneIndex) add(m order.Member, id string) {
	keys, open := x.keys[m.Lane]
	if !open {
		x.lanes = append(x.lanes, m.Lane)
	}
	i, _ := slices.BinarySearchFunc(keys, m.Key, order.Key.Compare)
	x.keys[m.Lane] = slices.Insert(keys, i, m.Key)
	x.ids[m.Key.Seq] = id
}

func (x *laneIndex) Lanes() iter.Seq[order.Lane] { return slices.Values(x.lanes) }

func (x *laneIndex) Len(l order.Lane) int { return len(x.keys[l]) }

func (x *laneIndex) Below(l order.Lane, k order.Key) int {
	i, _ := slices.BinarySearchFunc(x.keys[l], k, order.Key.Compare)
	return i
}

func (x *laneIndex) At(l order.Lane, i int) (order.Key, bool) {
	if keys := x.keys[l]; i >= 0 && i < len(keys) {
		return keys[i], true
	}
	return order.Key{}, false
}

// lane is a lane's bytes, behind those of the line.
func (x *laneIndex) lane(l order.Lane) string {
	return string(binary.BigEndian.AppendUint16([]byte(l.Class+"\x00"+l.Group+"\x00"), uint16(l.K)))
}

// head is a member's bytes without line and id, as Compared has them.
func (x *laneIndex) head(m order.Member) string {
	place := binary.BigEndian.AppendUint64(nil, uint64(m.Key.Place))
	seq := binary.BigEndian.AppendUint64(nil, m.Key.Seq)
	return x.lane(m.Lane) + string(place[2:]) + string(seq[2:])
}

func (x *laneIndex) member(m order.Member) string {
	return x.line + x.head(m) + x.ids[m.Key.Seq]
}

// members are all of the line.
func (x *laneIndex) members() iter.Seq[order.Member] {
	return func(yield func(order.Member) bool) {
		for _, lane := range x.lanes {
			for _, key := range x.keys[lane] {
				if !yield(order.Member{Lane: lane, Key: key}) {
					return
				}
			}
		}
	}
}

// orderCase is a partition's lines at a moment, and what a counter sees.
type orderCase struct {
	now   int64
	lines []*laneIndex // all that stand in the zset
	specs []order.Line // whose Index is a *laneIndex
}

func (c *orderCase) index(spec int) *laneIndex { return c.specs[spec].Index.(*laneIndex) }

func (c *orderCase) String() string {
	text := fmt.Sprintf("now %d", c.now)
	for i, spec := range c.specs {
		text += fmt.Sprintf("\nspec %d: line %q, rule %+v, debts %v, classes %q, bound %q",
			i, c.index(i).line, spec.Rule, spec.Debts, spec.Classes, spec.Bound)
	}
	for _, line := range c.lines {
		for m := range line.members() {
			text += fmt.Sprintf("\n  %q %q %q K %d: age %d, place %d, seq %d",
				line.line, m.Lane.Class, m.Lane.Group, m.Lane.K, c.now-m.Key.Place, m.Key.Place, m.Key.Seq)
		}
	}
	return text
}

// args are the arguments of the driver up to the asks.
func (c *orderCase) args() []string {
	args := []string{strconv.FormatInt(c.now, 10), strconv.Itoa(len(c.specs))}
	var owed []string
	for i, spec := range c.specs {
		args = append(args, c.index(i).line, disciplines[spec.Rule.Discipline])
		if spec.Classes == nil {
			args = append(args, "-1")
		} else {
			args = append(args, strconv.Itoa(len(spec.Classes)))
			args = append(args, spec.Classes...)
		}
		args = append(args, spec.Bound)
		rule, names := c.rule(i)
		args, owed = append(args, rule), append(owed, names...)
	}
	args = append(append(args, strconv.Itoa(len(owed))), owed...)
	var members []string
	for _, line := range c.lines {
		for m := range line.members() {
			members = append(members, line.member(m))
		}
	}
	return append(append(args, strconv.Itoa(len(members))), members...)
}

// rule is a spec's rule, packed as the store does, and what is owed by name. Each
// spec has debts of its own.
func (c *orderCase) rule(i int) (packed string, owed []string) {
	spec := &c.specs[i]
	o := store.Ordering{Rule: spec.Rule}
	if !ruled(&o) {
		return "", nil
	}
	var p packer
	queue := dengxu.QueueID(fmt.Sprint("queue-", i))
	packRule(&p, queue, &o)
	for class, groups := range spec.Debts {
		for group, n := range groups {
			owed = append(owed, tallyField(store.OwedTally(queue, class, group)), strconv.FormatInt(n, 10))
		}
	}
	return string(p.buf), owed
}

// Factors whose ratios are whole, are not, are near to each other, and are the
// extremes; 0 is none, and 255 and 256 differ in both bytes.
var casePaces = []int{0, 1, 2, 3, 5, 7, 10, 12, 14, 15, 20, 20, 25, 30, 60, 199, 200, 255, 256, 397, 399, 400}

// Classes before and behind "@", beginnings of others, and the highest bytes.
var caseClasses = [][]string{
	{""},
	{"", "a"},
	{"a", "b", "ab", "@1", "@2", "@12"},
	{"0", "A", "Z", "é", "\x7f", "@1", "@0", "\xff\xfe"},
}

// Lines that are the beginnings of others, or stand right beside them.
var caseQueues = []string{"a", "ab", "b", "q\xff", "q"}

var caseGens = []uint32{0, 1, 2, 255, 256, 1<<32 - 1}

func randomOrderCase(r *rand.Rand) *orderCase {
	c := &orderCase{now: 1_767_225_600_000 + r.Int64N(1_000_000)}
	switch r.IntN(10) {
	case 0:
		c.now = r.Int64N(60) // bounds before 1970
	case 1:
		c.now = lastPlace - r.Int64N(60) // ages up to the whole range
	case 2:
		c.now = r.Int64N(lastPlace)
	}
	for len(c.lines) < 1+r.IntN(4) {
		x := newLaneIndex(caseQueues[r.IntN(len(caseQueues))], caseGens[r.IntN(len(caseGens))])
		if !slices.ContainsFunc(c.lines, func(o *laneIndex) bool { return o.line == x.line }) {
			c.lines = append(c.lines, x)
		}
	}
	classes := caseClasses[r.IntN(len(caseClasses))]
	grouped := r.IntN(2) == 0
	unit := c.unit(r)
	for range 1 + r.IntN(3) { // some lines are seen by nobody, others twice
		spec := randomSpec(r, c.lines[r.IntN(len(c.lines))], classes)
		if grouped && r.IntN(6) > 0 {
			groupedSpec(r, &spec, classes, unit)
		}
		c.specs = append(c.specs, spec)
	}
	c.fill(r, classes, grouped, unit)
	return c
}

func randomSpec(r *rand.Rand, x *laneIndex, classes []string) order.Line {
	spec := order.Line{Index: x, Bound: []string{"", "@1"}[r.IntN(2)]}
	if r.IntN(4) == 0 {
		spec.Rule.Discipline = order.Epoch
	}
	if r.IntN(2) == 0 {
		spec.Classes = []string{}
		for range r.IntN(len(classes) + 1) {
			spec.Classes = append(spec.Classes, classes[r.IntN(len(classes))])
		}
	}
	return spec
}

// unit is what ages are multiples of.
func (c *orderCase) unit(r *rand.Rand) int64 {
	units := []int64{1, 1, 2, 60, 4200, 1_000_003, 80_000_000, c.now/2000 + 1, c.now/400 + 1}
	return units[r.IntN(len(units))]
}

// fill adds members, in few lanes or many, with ties of every kind.
func (c *orderCase) fill(r *rand.Rand, classes []string, grouped bool, unit int64) {
	paces := casePaces
	if c.now > 1<<46 && r.IntN(2) == 0 {
		// Cross products that a double cannot tell apart.
		paces, unit = []int{389, 397, 399, 400}, c.now/2000-1
	}
	lanes := make([]order.Lane, 1+r.IntN(8))
	for i := range lanes {
		lanes[i] = order.Lane{Class: classes[r.IntN(len(classes))], K: paces[r.IntN(len(paces))]}
		if r.IntN(4) == 0 || grouped {
			lanes[i].Group = caseGroups[r.IntN(len(caseGroups))]
		}
		if grouped && r.IntN(10) > 0 {
			lanes[i].K = 0
		}
	}
	n := r.IntN(20)
	if r.IntN(10) == 0 {
		n = r.IntN(200)
	}
	seqs := randomSeqs(r, n)
	for i := range n {
		lane := lanes[r.IntN(len(lanes))]
		m := order.Member{Lane: lane, Key: order.Key{Place: c.randomPlace(r, lane.K, unit), Seq: seqs[i]}}
		id := make([]byte, r.IntN(4))
		for j := range id {
			id[j] = []byte{0, 1, 'a', 255}[r.IntN(4)]
		}
		c.lines[r.IntN(len(c.lines))].add(m, string(id))
	}
}

// randomSeqs are n different ones, small or of any size.
func randomSeqs(r *rand.Rand, n int) []uint64 {
	var seqs []uint64
	for _, i := range r.Perm(n + 3) {
		seqs = append(seqs, uint64(i+1))
	}
	if r.IntN(3) == 0 {
		for i := range seqs {
			seqs[i] = lastSeq + 1 - seqs[i]
		}
	}
	return seqs
}

// randomPlace is often a small number of units times K ago, which makes
// priorities equal across factors, and often one millisecond beside that; and
// sometimes in the future.
func (c *orderCase) randomPlace(r *rand.Rand, k int, unit int64) int64 {
	age := r.Int64N(6) * unit
	if r.IntN(5) > 0 {
		age *= int64(max(k, 1))
	}
	if r.IntN(3) == 0 {
		age += r.Int64N(3) - 1
	}
	if r.IntN(6) == 0 {
		age = -r.Int64N(4)
	}
	return min(max(c.now-age, 0), lastPlace)
}

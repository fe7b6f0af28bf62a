package pebblestore

import (
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/order"
	"github.com/dengxu/dengxu/internal/store"
)

// line is one queue in one generation: how many tokens are in each state, all
// of them by arrival, and the lanes of those that wait. It is an order.Index.
type line struct {
	key      store.LineKey
	counts   map[dengxu.State]int
	lanes    map[order.Lane]*counted[order.Key, *entry]
	arrivals counted[arrival, *entry]
}

// arrival is the arrival number of a token, as the key of a list.
type arrival uint64

// Less orders by number.
func (a arrival) Less(than arrival) bool { return a < than }

func newLine(k store.LineKey) *line {
	k.Queue = dengxu.QueueID(strings.Clone(string(k.Queue)))
	return &line{
		key: k, counts: make(map[dengxu.State]int),
		lanes: make(map[order.Lane]*counted[order.Key, *entry]),
	}
}

// nobody stands for every line that no token is in.
var nobody = newLine(store.LineKey{})

func (l *line) enter(m order.Member, e *entry) {
	in := l.lanes[m.Lane]
	if in == nil {
		in = new(counted[order.Key, *entry])
		// The texts of a record share one string, which a key must not keep.
		m.Lane.Class, m.Lane.Group = strings.Clone(m.Lane.Class), strings.Clone(m.Lane.Group)
		l.lanes[m.Lane] = in
	}
	in.Insert(m.Key, e)
}

func (l *line) leave(m order.Member) {
	in := l.lanes[m.Lane]
	if in == nil {
		return
	}
	if in.Delete(m.Key); in.Len() == 0 {
		delete(l.lanes, m.Lane)
	}
}

// Lanes yields the lanes that have a member.
func (l *line) Lanes() iter.Seq[order.Lane] { return maps.Keys(l.lanes) }

// Len is the number of members of a lane.
func (l *line) Len(at order.Lane) int {
	if in := l.lanes[at]; in != nil {
		return in.Len()
	}
	return 0
}

// Below counts the members of a lane whose key is less than k.
func (l *line) Below(at order.Lane, k order.Key) int {
	if in := l.lanes[at]; in != nil {
		return in.Below(k)
	}
	return 0
}

// At is the i-th member of a lane, from 0, in key order.
func (l *line) At(at order.Lane, i int) (order.Key, bool) {
	in := l.lanes[at]
	if in == nil {
		return order.Key{}, false
	}
	k, _, ok := in.At(i)
	return k, ok
}

// at is the token that stands in a lane with a key, or nil.
func (l *line) at(m order.Member) *entry {
	if in := l.lanes[m.Lane]; in != nil {
		e, _ := in.Get(m.Key)
		return e
	}
	return nil
}

// view is what a reader sees of the line.
func (l *line) view() store.LineView {
	v := store.LineView{Counts: maps.Clone(l.counts)}
	for at, in := range l.lanes {
		head, _, _ := in.At(0)
		v.Lanes = append(v.Lanes, store.LaneView{Lane: at, Len: in.Len(), Head: head})
	}
	slices.SortFunc(v.Lanes, func(a, b store.LaneView) int { return a.Lane.Compare(b.Lane) })
	return v
}

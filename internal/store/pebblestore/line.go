package pebblestore

import (
	"iter"
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
	counts   [maxStates]int // by index in dengxu.States
	lanes    []lane         // that have a member, by Lane.Compare: mostly one, seldom more than ten
	arrivals counted[arrival, *entry]
}

// lane is the members of one lane.
type lane struct {
	order.Lane
	members *counted[order.Key, *entry]
}

// maxStates is room for all states.
const maxStates = 16

// arrival is the arrival number of a token, as the key of a list.
type arrival uint64

// Less orders by number.
func (a arrival) Less(than arrival) bool { return a < than }

func newLine(k store.LineKey) *line {
	k.Queue = dengxu.QueueID(strings.Clone(string(k.Queue)))
	return &line{key: k}
}

// nobody stands for every line that no token is in.
var nobody = newLine(store.LineKey{})

// find is where a lane is among the lanes, or would be.
func (l *line) find(at order.Lane) (int, bool) {
	return slices.BinarySearchFunc(l.lanes, at, func(have lane, at order.Lane) int { return have.Compare(at) })
}

// lane is the members of a lane; none when it has no member.
func (l *line) lane(at order.Lane) *counted[order.Key, *entry] {
	if i, ok := l.find(at); ok {
		return l.lanes[i].members
	}
	return noMembers
}

var noMembers = new(counted[order.Key, *entry])

func (l *line) enter(m order.Member, e *entry) {
	i, ok := l.find(m.Lane)
	if !ok {
		// The texts of a record share one string, which a key must not keep.
		m.Lane.Class, m.Lane.Group = strings.Clone(m.Lane.Class), strings.Clone(m.Lane.Group)
		l.lanes = slices.Insert(l.lanes, i, lane{m.Lane, new(counted[order.Key, *entry])})
	}
	l.lanes[i].members.Insert(m.Key, e)
}

func (l *line) leave(m order.Member) {
	i, ok := l.find(m.Lane)
	if !ok {
		return
	}
	in := l.lanes[i].members
	if in.Delete(m.Key); in.Len() == 0 {
		l.lanes = slices.Delete(l.lanes, i, i+1)
	}
}

// Lanes yields the lanes that have a member.
func (l *line) Lanes() iter.Seq[order.Lane] {
	return func(yield func(order.Lane) bool) {
		for i := range l.lanes {
			if !yield(l.lanes[i].Lane) {
				return
			}
		}
	}
}

// Len is the number of members of a lane.
func (l *line) Len(at order.Lane) int { return l.lane(at).Len() }

// Below counts the members of a lane whose key is less than k.
func (l *line) Below(at order.Lane, k order.Key) int { return l.lane(at).Below(k) }

// At is the i-th member of a lane, from 0, in key order.
func (l *line) At(at order.Lane, i int) (order.Key, bool) {
	k, _, ok := l.lane(at).At(i)
	return k, ok
}

// at is the token that stands in a lane with a key, or nil.
func (l *line) at(m order.Member) *entry {
	e, _ := l.lane(m.Lane).Get(m.Key)
	return e
}

// view is what a reader sees of the line.
func (l *line) view() store.LineView {
	v := store.LineView{Counts: l.states()}
	for _, in := range l.lanes {
		head, _, _ := in.members.At(0)
		v.Lanes = append(v.Lanes, store.LaneView{Lane: in.Lane, Len: in.members.Len(), Head: head})
	}
	return v
}

// states are the states that tokens of the line are in, and how many.
func (l *line) states() map[dengxu.State]int {
	counts := make(map[dengxu.State]int)
	for i, n := range l.counts {
		if n != 0 {
			counts[stateNames[i]] = n
		}
	}
	return counts
}

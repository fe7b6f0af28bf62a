package memstore

import (
	"iter"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/order"
)

// line is one queue in one generation: how many tokens are in each state, and
// the lanes of those that wait. It is an order.Index.
type line struct {
	counts map[dengxu.State]int
	lanes  map[order.Lane]*lane
}

// lane is the waiting tokens of a lane in their order.
type lane = sorted[member]

type member struct {
	key order.Key
	id  dengxu.TokenID
}

func compareMembers(a, b member) int { return a.key.Compare(b.key) }

func newLine() *line {
	return &line{counts: make(map[dengxu.State]int), lanes: make(map[order.Lane]*lane)}
}

// nobody stands for every line that no token is in.
var nobody = newLine()

func (l *line) enter(at order.Lane, m member) {
	in := l.lanes[at]
	if in == nil {
		in = &lane{compare: compareMembers}
		l.lanes[at] = in
	}
	in.insert(m)
}

func (l *line) leave(at order.Lane, m member) {
	in := l.lanes[at]
	if in == nil {
		return
	}
	if in.remove(m); len(in.items) == 0 {
		delete(l.lanes, at)
	}
}

// Lanes yields the lanes that have a member.
func (l *line) Lanes() iter.Seq[order.Lane] {
	return func(yield func(order.Lane) bool) {
		for at := range l.lanes {
			if !yield(at) {
				return
			}
		}
	}
}

// Len is the number of members of a lane.
func (l *line) Len(at order.Lane) int {
	if in := l.lanes[at]; in != nil {
		return len(in.items)
	}
	return 0
}

// Below counts the members of a lane whose key is less than k.
func (l *line) Below(at order.Lane, k order.Key) int {
	in := l.lanes[at]
	if in == nil {
		return 0
	}
	i, _ := in.find(member{key: k})
	return i
}

// At is the i-th member of a lane, from 0, in key order.
func (l *line) At(at order.Lane, i int) (order.Key, bool) {
	in := l.lanes[at]
	if in == nil || i < 0 || i >= len(in.items) {
		return order.Key{}, false
	}
	return in.items[i].key, true
}

// id is the token that stands in a lane with a key, or "".
func (l *line) id(m order.Member) dengxu.TokenID {
	in := l.lanes[m.Lane]
	if in == nil {
		return ""
	}
	if i, found := in.find(member{key: m.Key}); found {
		return in.items[i].id
	}
	return ""
}

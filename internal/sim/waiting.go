package sim

import (
	"slices"

	"github.com/dengxu/dengxu/internal/order"
)

// part is everybody who waits in one queue for one class: what a counter sees or
// does not see as a whole.
type part struct {
	queue int // of hall.queues
	class string
	lanes []*lane
	size  int // who waits
	calls passes
	pairs []pair // ordering ratio
}

// lane is the waiting tokens of a part that differ in place and seq only: one
// factor in aging, one group in strict and ratio.
type lane struct {
	name order.Lane
	// heads are by (place, seq). Who has left is taken out when it comes to the
	// top.
	heads heap[head]
}

// head is one entry of a lane.
type head struct {
	key     order.Key
	who     int32
	version uint64 // of the token when it entered
}

func (h head) before(o head) bool { return h.key.Less(o.key) }

// laneOf finds or adds a lane.
func (p *part) laneOf(name order.Lane) *lane {
	for _, l := range p.lanes {
		if l.name == name {
			return l
		}
	}
	l := &lane{name: name}
	p.lanes = append(p.lanes, l)
	return l
}

// top is the first who waits, if anybody does.
func (l *lane) top(waits func(head) bool) (head, bool) {
	for len(l.heads) > 0 {
		if waits(l.heads[0]) {
			return l.heads[0], true
		}
		l.heads.pop()
	}
	return head{}, false
}

// passes counts who of a part is passed by somebody who came later, until each
// is called for the first time.
type passes struct {
	came  []int32 // who, in the order in which they came
	seqs  []uint64
	gone  []bool
	first int // of came who is not gone
	// steps is a Fenwick tree of differences: the sum up to i is by how many the
	// i-th was passed.
	steps []int32
}

// add appends somebody who came, and returns the position.
func (p *passes) add(who int32, seq uint64, most int) int32 {
	if p.steps == nil {
		p.steps = make([]int32, most+2)
	}
	p.came, p.seqs, p.gone = append(p.came, who), append(p.seqs, seq), append(p.gone, false)
	return int32(len(p.came) - 1)
}

// oldest is who came first of those who wait for their first call.
func (p *passes) oldest() (who int32, seq uint64, ok bool) {
	for p.first < len(p.came) && p.gone[p.first] {
		p.first++
	}
	if p.first == len(p.came) {
		return nobody, 0, false
	}
	return p.came[p.first], p.seqs[p.first], true
}

// passedBy counts one who came with a seq and is called before all who came
// earlier and wait.
func (p *passes) passedBy(seq uint64) {
	end, _ := slices.BinarySearch(p.seqs, seq)
	p.step(0, 1)
	p.step(end, -1)
}

func (p *passes) step(at int, by int32) {
	for i := at + 1; i < len(p.steps); i += i & -i {
		p.steps[i] += by
	}
}

// leave takes somebody out and returns by how many they were passed.
func (p *passes) leave(position int32) int {
	p.gone[position] = true
	n := int32(0)
	for i := int(position) + 1; i > 0; i -= i & -i {
		n += p.steps[i]
	}
	return int(n)
}

// Package order owns the mathematics of a waiting line: who is ahead of whom,
// who is called next, and where a token goes back in. It is pure: it reads a
// line through Index and never changes it, keeps no clock and no settings. It
// refuses to know what tokens, counters or stores are.
//
// Times are milliseconds since the Unix epoch, factors are twentieths of one
// (K = factor·20, from 1 to 400: 20 is the ordinary factor 1.0).
package order

import (
	"cmp"
	"iter"
	"slices"
)

// Discipline is how a queue orders its tokens.
type Discipline uint8

// The disciplines.
const (
	Aging  Discipline = iota // accumulating priority: largest (now − place)/factor
	Epoch                    // place is scaled at join; first place wins
	Strict                   // groups by rank, the oldest first once overdue
	Ratio                    // shares between groups, by debts
)

// Rule is how a line orders its members. The zero value is aging.
type Rule struct {
	Discipline Discipline
	// Escalate is the age in ms from which a member is overdue (strict).
	Escalate int64
	// Groups are the groups of the line, by name (strict, ratio). A group that
	// is not among them has the last rank of those that are, and one share.
	Groups []Group
}

// Group is what a Rule says of the members of one group.
type Group struct {
	Name  string
	Rank  int // strict: less is called earlier, equal ranks are one tier
	Share int // ratio: calls in a round beside the other groups', 1..20
}

// Debts are what the groups of a ratio line owe, by class and group: numbers of
// calls in units of the strides. What is absent owes nothing.
type Debts map[string]map[string]int64

// Ordinary is K of the ordinary factor 1.0.
const Ordinary = 20

// Lane is a part of a queue inside which (place, seq) alone decides. Only
// callable tokens are in a lane.
type Lane struct {
	Class string `json:"class,omitzero"` // "" when the queue has no classes; "@counter" when bound to one counter
	Group string `json:"group,omitzero"` // "" in aging and epoch
	K     int    `json:"k,omitzero"`     // factor in twentieths; 0 in disciplines that do not age by factor
}

// Compare orders lanes by class, group and K, for answers that must not depend
// on how a store keeps them.
func (l Lane) Compare(o Lane) int {
	return cmp.Or(cmp.Compare(l.Class, o.Class), cmp.Compare(l.Group, o.Group), cmp.Compare(l.K, o.K))
}

// Bound reports whether the lane's tokens are bound to one counter.
func (l Lane) Bound() bool { return l.Class != "" && l.Class[0] == '@' }

// Key is a token's point in its lane.
type Key struct {
	Place int64  `json:"place,omitzero"` // ms
	Seq   uint64 `json:"seq,omitzero"`   // arrival number, unique in the partition
}

// Less orders keys by place, then arrival.
func (k Key) Less(o Key) bool {
	return k.Place < o.Place || k.Place == o.Place && k.Seq < o.Seq
}

// Compare is Less for sorting.
func (k Key) Compare(o Key) int {
	return cmp.Or(cmp.Compare(k.Place, o.Place), cmp.Compare(k.Seq, o.Seq))
}

// Member is a token as the line sees it.
type Member struct {
	Lane Lane `json:"lane,omitzero"`
	Key  Key  `json:"key,omitzero"`
}

// Index is what ranks and picks ask of a queue's line.
type Index interface {
	// Lanes yields the lanes that have a member, in no promised order.
	Lanes() iter.Seq[Lane]
	// Len is the number of members of a lane.
	Len(Lane) int
	// Below counts the members of a lane whose key is less than k.
	Below(l Lane, k Key) int
	// At is the i-th member of a lane, from 0, in key order.
	At(l Lane, i int) (Key, bool)
}

// Line is how one queue is ordered at a moment.
type Line struct {
	Rule  Rule
	Index Index
	Debts Debts // ratio; what a line does not see does not matter
	// Classes restricts to lanes of these classes; nil means all that are not
	// bound to a counter ("@…").
	Classes []string
	// Bound is the class of tokens bound to the asking counter ("@counter"),
	// seen beside Classes; "" for none.
	Bound string
}

// Sees reports whether the line, as restricted, includes a lane.
func (l Line) Sees(lane Lane) bool {
	if lane.Bound() {
		return lane.Class == l.Bound
	}
	return l.Classes == nil || slices.Contains(l.Classes, lane.Class)
}

// Mode is how a counter over several queues chooses between their winners.
type Mode uint8

// The modes of a counter.
const (
	Oldest Mode = iota // largest (now − place)/factor, future last
	Listed             // the first queue that has anyone
)

// Choice is one member taken by Pick.
type Choice struct {
	Line   int // index of the line it came from
	Member Member
	// Passed is how many members that Pick saw in all lines had an earlier
	// place and were not taken before it; an excluded one is not taken.
	Passed int
	// Debts are those of the member's class afterwards, by group; nil when the
	// call charged nothing: in other disciplines, and for a place in the future.
	Debts map[string]int64
	// Compared are the lane heads that were judged, the winner first, then in
	// the order of the lines; at most 8.
	Compared []Member
}

// Placed is a place found for a member, and the rank that it has there.
type Placed struct {
	Place int64
	Rank  int
}

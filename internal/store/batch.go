package store

import (
	"fmt"
	"strings"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/order"
)

// Batch is one atomic change of one partition. The store checks Op, then
// Expect in order, then the versions of Docs and Tokens; then it writes.
// Time fields of Docs, Tokens, Marks and Pick may be symbolic (Now + Δ).
type Batch struct {
	Partition Partition
	Site      dengxu.SiteID
	Op        Op
	Expect    []Expectation
	Docs      []DocWrite
	Tokens    []TokenWrite
	Tallies   []TallyAdd
	Marks     []MarkWrite
	Pick      *Pick
	Events    []EventSpec
	// Ranks asks for the ranks of tokens that the batch writes, at the
	// commit's time, in the lines as they were before the batch.
	Ranks []RankOf
}

// RankOf asks for the rank of the Token-th (from 1) of a batch's tokens.
type RankOf struct {
	Token    int
	Ordering Ordering
	Classes  []string // that compete with its class; nil = all
}

// Ordering is how a line is ordered, and where its debts are.
type Ordering struct {
	order.Rule
	// Day is the business day that debts of ordering ratio belong to: those of
	// another day read as 0. They are the tallies OwedTally of the line's queue.
	Day int
}

// Picks is how many tokens the batch may pick.
func (b *Batch) Picks() int {
	if b.Pick == nil {
		return 0
	}
	return b.Pick.Max
}

// Op makes a batch idempotent: the first batch of (Scope, Key) that commits is
// remembered for Keep ms with the tokens it wrote or picked. A later one with
// the same Hash has no effect and answers those tokens as they are now; with
// another Hash it is refused (OpReused). A batch that picks nothing is not
// remembered.
type Op struct {
	Scope string
	Key   string // "" = not idempotent
	Hash  [16]byte
	Keep  int64  // ms
	Note  string // answered with a replay: which outcome it was
}

// DocWrite writes or deletes a document. Expect is the version that it must
// have now (0 = must not exist); the new one is Expect + 1.
type DocWrite struct {
	Doc    Doc // Version is filled in; Due may be symbolic
	Expect uint64
	Delete bool
}

// TokenWrite replaces a token's record. The record must have Version
// Token.Version − 1 now (1 = must not exist).
//
// Filled in by the store: symbolic times; Arrival and Seq when 0; CallNo when
// NextCall; Number when Series is set.
type TokenWrite struct {
	Token  Token
	Series *Series
	// ScaleFrom, when not 0, makes Place scaled (ordering epoch): Place is
	// resolved first, then Place = ScaleFrom + ⌊(Place − ScaleFrom)·Factor/1000⌋.
	// With a PlaceFloor it is the floor that is scaled instead, since Place is
	// then one that the token already had.
	ScaleFrom int64
	// PlaceFloor, when not 0, is the least that Place may resolve to; Penalty
	// is added after that. A place below 0 becomes 0.
	PlaceFloor int64
	Penalty    int64
	// Archive moves an ended record out of the live set: it leaves every index
	// and stays readable by id. Nothing else of the record changes but
	// Version, and no event is due.
	Archive bool
}

// MaxTokens is the most tokens that one batch may write and pick.
const MaxTokens = 100

// NextCall as a record's CallNo stands for the partition's next call number.
const NextCall = ^uint64(0)

// Series numbers tokens: the next number of (Site of the batch, Name, Day).
// A series of an earlier day starts again at First.
type Series struct {
	Name  string
	Day   int
	First int64
	Last  int64  // 0 = none
	At    string // at Last: "widen" counts on, "refuse" refuses the batch (SeriesBelow), "wrap" starts again
}

// TallyKey names a daily count. A tally of an earlier day reads as 0.
type TallyKey struct {
	Name string
	Day  int
}

// JoinsTally is the name of the tally of a queue's joins, which an audit holds
// against the log.
func JoinsTally(q dengxu.QueueID) string { return joinsTally + string(q) }

const joinsTally = "joins/"

// OwedTally is the name of the tally in which a group of a class owes calls, in
// ordering ratio. A pick sets it, where it changes; a batch does not name it.
// Like other tallies it never goes back to an earlier day.
func OwedTally(q dengxu.QueueID, class, group string) string {
	return owedTally + string(q) + "\x00" + class + "\x00" + group
}

const owedTally = "owed/"

// TallyQueue is the queue that a tally is of.
func TallyQueue(tally string) (dengxu.QueueID, bool) {
	if queue, ok := strings.CutPrefix(tally, joinsTally); ok {
		return dengxu.QueueID(queue), true
	}
	queue, _, ok := strings.Cut(strings.TrimPrefix(tally, owedTally), "\x00")
	return dengxu.QueueID(queue), ok && IsOwed(tally)
}

// IsOwed reports whether a tally is one of OwedTally.
func IsOwed(tally string) bool { return strings.HasPrefix(tally, owedTally) }

// TallyAdd adds N to a tally.
type TallyAdd struct {
	Key TallyKey
	N   int64
}

// MarkWrite remembers when something last happened to a business id.
type MarkWrite struct {
	MarkKey
	At   int64 // may be symbolic
	Keep int64 // ms after which it may be forgotten
}

// Pick takes the first tokens of several lines, by order.Pick at the commit's
// time, and writes the call on each: State, Counter, CalledAt, FirstCalled if
// unset, Deadline, Due, the next CallNo, CallCount 1, Confirmed and Asked
// false, StartedAt when State is serving, Why, Reason and Undo cleared,
// Version + 1, Passed and Compared; the waiting span is closed with VerbCall
// and Actor. Lines are judged as they were before the batch's own token
// writes; Exclude is never picked. Tokens bound to Counter are seen too.
type Pick struct {
	Lines    []PickLine
	Mode     order.Mode
	Max      int
	Exclude  dengxu.TokenID
	State    dengxu.State
	Counter  dengxu.CounterID
	Deadline int64 // symbolic
	Due      int64 // symbolic, 0 = none
	Actor    string
	Event    dengxu.EventType
}

// PickLine is one line that a pick takes from. Deadline and Due of the pick
// are those of the line when set here.
type PickLine struct {
	Line     LineKey
	Ordering Ordering
	Classes  []string // nil = all
	Deadline int64    // symbolic; 0 = the pick's
	Due      int64
}

// EventSpec is an event to be written. Token says about which token of the
// batch: 1 is the first of Tokens, and so on; 0 is none. The store fills in
// number, time, and what the record says.
type EventSpec struct {
	Type    dengxu.EventType
	Token   int
	Queue   dengxu.QueueID   // where Token is 0, or the queue that was left; "" = the token's
	Counter dengxu.CounterID // "" = the token's
	Actor   string
	Reason  string // "" = the token's
	Data    []byte // JSON, or nil
}

// Result is what a commit did. Its records are read and never changed, nor what
// they point to: the store keeps the same ones.
type Result struct {
	Now      int64
	Replayed bool    // Op was committed before; nothing happened now
	Note     string  // of the first commit, when replayed
	Tokens   []Token // written, in the order of the batch, then picked; on a replay those of the first commit as they are now
	Picked   int     // how many of Tokens, at the end, were picked, also on a replay
	Docs     []Doc   // as written
	Ranks    []int   // as asked by Ranks; nil on a replay
	Last     Cursor  // of the last event written, or of the log's end
}

// Expectation is something that must hold at the commit. The types below are
// all there are.
type Expectation interface{ expectation() }

type (
	// DocAt expects a document at a version; 0 = absent.
	DocAt struct {
		Key     DocKey
		Version uint64
	}
	// TokenAt expects a token's version.
	TokenAt struct {
		ID      dengxu.TokenID
		Version uint64
	}
	// HolderFree expects that no active token holds the mark. Not is the one
	// token that may: the one that the batch writes.
	HolderFree struct {
		Holder HolderKey
		Not    dengxu.TokenID
	}
	// MarkOlder expects that the business id's mark in the queue is at or
	// before At (symbolic), or absent.
	MarkOlder struct {
		MarkKey
		At int64
	}
	// MarkAt expects that the business id's mark in the queue is what was
	// read: At, or 0 for none.
	MarkAt struct {
		MarkKey
		At int64
	}
	// CountBelow expects fewer than Max tokens in any of States in a line.
	CountBelow struct {
		Line   LineKey
		States []dengxu.State
		Max    int
	}
	// TallyBelow expects a tally under Max.
	TallyBelow struct {
		Key TallyKey
		Max int64
	}
	// RoomAt expects fewer than Max busy tokens at a counter. Freed is how
	// many of them the batch itself takes away.
	RoomAt struct {
		Counter dengxu.CounterID
		Max     int
		Freed   int
	}
	// LaneOpen expects that Lane has members, or that the line has fewer than
	// Max lanes with members.
	LaneOpen struct {
		Line LineKey
		Lane order.Lane
		Max  int
	}
	// NotBefore expects that the commit happens at or after At.
	NotBefore struct{ At int64 }
	// Before expects that the commit happens before At.
	Before struct{ At int64 }
	// SeriesBelow is what a Series with At "refuse" implies; it is never
	// given, only refused.
	SeriesBelow struct{ Name string }
	// OpReused is refused when an Op's key was used with another hash; it is
	// never given.
	OpReused struct{}
)

func (DocAt) expectation()       {}
func (TokenAt) expectation()     {}
func (HolderFree) expectation()  {}
func (MarkOlder) expectation()   {}
func (MarkAt) expectation()      {}
func (CountBelow) expectation()  {}
func (TallyBelow) expectation()  {}
func (RoomAt) expectation()      {}
func (LaneOpen) expectation()    {}
func (NotBefore) expectation()   {}
func (Before) expectation()      {}
func (SeriesBelow) expectation() {}
func (OpReused) expectation()    {}

// Refused is the error of a batch whose expectation did not hold. Nothing was
// changed.
type Refused struct {
	By    Expectation    // the first that did not hold
	Token dengxu.TokenID // HolderFree: who has the mark
	At    int64          // MarkOlder, MarkAt: the mark; NotBefore, Before: ignored
	Have  uint64         // DocAt, TokenAt: the version now
	Now   int64          // the partition's time
}

// Error names the kind of expectation; the engine turns it into a code.
func (r *Refused) Error() string { return fmt.Sprintf("refused by %T", r.By) }

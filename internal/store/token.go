package store

import (
	"encoding/base32"
	"encoding/binary"
	"slices"
	"strconv"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/order"
)

// Token is the record of one stay in a queue. What a store indexes is derived
// from it by Indexes, and by nothing else.
type Token struct {
	ID      dengxu.TokenID
	Site    dengxu.SiteID
	Arrival uint64 // arrival number in the partition, never changes; 0 in a batch = the next

	Queue dengxu.QueueID
	Gen   int // generation of the queue: the business day, or 0 when the line is kept
	Class string
	Group string

	Prefix string
	Number int64
	Width  int

	State   dengxu.State
	Version uint64 // 1 at the join, then one more at each change
	Since   int64  // when State began

	Lane   order.Lane // where it stands while waiting
	Place  int64
	Seq    uint64 // tie-break in the lane; 0 in a batch = the next arrival number
	Origin int64  // place before the last miss, for reinstate original; 0 = Place

	Factor    int32 // thousandths, after rules, clips and lane merge
	Clipped   bool  // the factor was clipped or moved to the nearest lane
	HeadStart int64 // ms

	JoinedAt    int64
	Due         int64  // when the timer loop should look at it; 0 = never
	Why         string // why it is scheduled: delay, check_in, missed, deferred, other_token
	FirstCalled int64
	CalledAt    int64
	Deadline    int64 // of the call
	CallNo      uint64
	CallCount   int
	Confirmed   bool
	Asked       bool
	StartedAt   int64
	EndedAt     int64
	Reason      string // of the last change

	Counter dengxu.CounterID // where it is called, served or held
	Misses  int
	Defers  int
	Stars   int

	Business string // business id, "" = none
	Unique   bool   // holds the (queue, generation, business) mark while active
	Channel  string
	Party    int
	Name     string
	Phone    string
	Note     string
	Attrs    []byte         // JSON object, or nil
	Payload  []byte         // JSON, or nil
	Passed   int            // tokens that had waited longer by place when it was called
	Compared []order.Member // heads of the lanes compared at the last call, at most 8; the first is the token's own
	Spans    []Span         // closed spans, at most MaxSpans, oldest first
	Undo     *Undo
}

// MaxSpans is how many spans a record keeps; the log has all.
const MaxSpans = 16

// Span is one closed interval in one state.
type Span struct {
	State    dengxu.State
	From, To int64
	Queue    dengxu.QueueID
	Counter  dengxu.CounterID
	Actor    string
	Verb     dengxu.Verb
	Reason   string // given with Verb
	Implicit bool
}

// Undo is what an undo puts back, and until when and by whom.
type Undo struct {
	Verb   dengxu.Verb
	Actor  string
	Until  int64
	Before UndoState
}

// UndoState is the part of a record that a verb changed.
type UndoState struct {
	State     dengxu.State
	Queue     dengxu.QueueID
	Gen       int
	Class     string
	Group     string
	Lane      order.Lane
	Place     int64
	Seq       uint64
	Origin    int64
	Factor    int32
	Due       int64
	Why       string
	Deadline  int64
	CallCount int
	Confirmed bool
	StartedAt int64
	Counter   dengxu.CounterID
	Misses    int
}

// Clone returns a copy that shares nothing with t.
func (t *Token) Clone() Token {
	c := *t
	c.Attrs, c.Payload = slices.Clone(t.Attrs), slices.Clone(t.Payload)
	c.Compared, c.Spans = slices.Clone(t.Compared), slices.Clone(t.Spans)
	if t.Undo != nil {
		c.Undo = new(*t.Undo)
	}
	return c
}

// Label is the printed number, such as A012.
func (t *Token) Label() string {
	// Longer than both mostly are: every event has a label.
	var digits, buf [32]byte
	number := strconv.AppendInt(digits[:0], t.Number, 10)
	label := append(buf[:0], t.Prefix...)
	for range t.Width - len(number) {
		label = append(label, '0')
	}
	return string(append(label, number...))
}

// Base32 is how token ids and refs are written: lower case, in the order of
// ASCII, without the letters that are taken for digits or for each other.
var Base32 = base32.NewEncoding("0123456789abcdefghjkmnpqrstvwxyz").WithPadding(base32.NoPadding)

// Ref is the token's stable name without power.
func (t *Token) Ref(p Partition) string {
	var b [10]byte
	b[0] = byte(p)
	n := 1 + binary.PutUvarint(b[1:], t.Arrival)
	return Base32.EncodeToString(b[:n])
}

// CloseSpan appends the span that ends at time to (which may be symbolic) and
// begins the next one there. The oldest spans beyond MaxSpans are dropped; the
// slice is copied, so that records sharing it stay as they are.
func (t *Token) CloseSpan(to int64, verb dengxu.Verb, actor string) {
	spans := t.Spans
	if len(spans) >= MaxSpans {
		spans = spans[len(spans)-MaxSpans+1:]
	}
	t.Spans = append(append(make([]Span, 0, len(spans)+1), spans...), Span{
		State: t.State, From: t.Since, To: to,
		Queue: t.Queue, Counter: t.Counter, Actor: actor, Verb: verb,
	})
	t.Since = to
}

// LineKey names one line: a queue in one generation.
type LineKey struct {
	Queue dengxu.QueueID
	Gen   int
}

// Line is the line that the token is or was in.
func (t *Token) Line() LineKey { return LineKey{t.Queue, t.Gen} }

// HolderKey names the mark that a unique holder sets in one line.
type HolderKey struct {
	Line     LineKey
	Business string
}

// Indexes is everything that a store keeps about a token besides the record,
// derived from the record alone. An empty field means: not in that index.
type Indexes struct {
	InLane  bool             // member (Lane, Place, Seq) of Line
	Line    LineKey          // counted by State, listed by Arrival; until it is archived
	Holder  HolderKey        // Business != "" : the mark is taken
	Counter dengxu.CounterID // listed at the counter: calling, serving or held there
	Busy    bool             // fills a place at Counter
	Person  string           // business id, listed per site while active
	Due     int64
}

// Indexes derives the index entries of t.
func (t *Token) Indexes() Indexes {
	ix := Indexes{InLane: t.State == dengxu.StateWaiting, Line: t.Line(), Due: t.Due}
	if !t.State.Ended() && t.Business != "" {
		ix.Person = t.Business
		if t.Unique {
			ix.Holder = HolderKey{t.Line(), t.Business}
		}
	}
	if t.State.AtCounter() || t.State == dengxu.StateHeld {
		ix.Counter = t.Counter
		ix.Busy = t.State.AtCounter()
	}
	return ix
}

// Member is the token as its line sees it.
func (t *Token) Member() order.Member {
	return order.Member{Lane: t.Lane, Key: order.Key{Place: t.Place, Seq: t.Seq}}
}

// BoundTo is the class of the lanes whose tokens are bound to a counter. No
// class of a queue begins like it.
func BoundTo(c dengxu.CounterID) string { return "@" + string(c) }

// BoundClass is the class of a lane whose tokens are bound to one counter, or
// "".
func BoundClass(l order.Lane) string {
	if l.Bound() {
		return l.Class
	}
	return ""
}

package store

import (
	"encoding/base32"
	"encoding/binary"
	"encoding/json"
	"slices"
	"strconv"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/order"
)

// Token is the record of one stay in a queue. What a store indexes is derived
// from it by Indexes, and by nothing else. The JSON names here and below are
// those of dumps.
type Token struct {
	ID      dengxu.TokenID `json:"id,omitzero"`
	Site    dengxu.SiteID  `json:"site,omitzero"`
	Arrival uint64         `json:"arrival,omitzero"` // arrival number in the partition, never changes; 0 in a batch = the next

	Queue dengxu.QueueID `json:"queue,omitzero"`
	Gen   int            `json:"gen,omitzero"` // generation of the queue: the business day, or 0 when the line is kept
	Class string         `json:"class,omitzero"`
	Group string         `json:"group,omitzero"`

	Prefix string `json:"prefix,omitzero"`
	Number int64  `json:"number,omitzero"`
	Width  int    `json:"width,omitzero"`

	State   dengxu.State `json:"state,omitzero"`
	Version uint64       `json:"version,omitzero"` // 1 at the join, then one more at each change
	Since   int64        `json:"since,omitzero"`   // when State began

	Lane   order.Lane `json:"lane,omitzero"` // where it stands while waiting
	Place  int64      `json:"place,omitzero"`
	Seq    uint64     `json:"seq,omitzero"`    // tie-break in the lane; 0 in a batch = the next arrival number
	Origin int64      `json:"origin,omitzero"` // place before the last miss, for reinstate original; 0 = Place

	Factor    int32 `json:"factor,omitzero"`     // thousandths, after rules, clips and lane merge
	Clipped   bool  `json:"clipped,omitzero"`    // the factor was clipped or moved to the nearest lane
	HeadStart int64 `json:"head_start,omitzero"` // ms
	// Rules are the names of the rules that matched, in their order: when it
	// joined, or was last judged by them.
	Rules  []string `json:"rules,omitempty"`
	Judged *Judged  `json:"judged,omitzero"` // nil = the queue had no rules

	JoinedAt    int64  `json:"joined_at,omitzero"`
	Booked      int64  `json:"booked,omitzero"` // the time of the appointment; 0 = none
	Due         int64  `json:"due,omitzero"`    // when the timer loop should look at it; 0 = never
	Why         string `json:"why,omitzero"`    // why it is scheduled: delay, appointment, check_in, missed, deferred, other_token
	FirstCalled int64  `json:"first_called,omitzero"`
	CalledAt    int64  `json:"called_at,omitzero"`
	Deadline    int64  `json:"deadline,omitzero"` // of the call
	CallNo      uint64 `json:"call_no,omitzero"`
	CallCount   int    `json:"call_count,omitzero"`
	Confirmed   bool   `json:"confirmed,omitzero"`
	Asked       bool   `json:"asked,omitzero"`
	StartedAt   int64  `json:"started_at,omitzero"`
	EndedAt     int64  `json:"ended_at,omitzero"`
	Reason      string `json:"reason,omitzero"` // of the last change

	Counter dengxu.CounterID `json:"counter,omitzero"` // where it is called, served or held
	Misses  int              `json:"misses,omitzero"`
	Defers  int              `json:"defers,omitzero"`
	Stars   int              `json:"stars,omitzero"`

	Business string          `json:"business,omitzero"` // business id, "" = none
	Unique   bool            `json:"unique,omitzero"`   // holds the (queue, generation, business) mark while active
	Channel  string          `json:"channel,omitzero"`
	Party    int             `json:"party,omitzero"`
	Name     string          `json:"name,omitzero"`
	Phone    string          `json:"phone,omitzero"`
	Note     string          `json:"note,omitzero"`
	Attrs    json.RawMessage `json:"attrs,omitempty"`    // JSON object, or nil
	Payload  json.RawMessage `json:"payload,omitempty"`  // JSON, or nil
	Passed   int             `json:"passed,omitzero"`    // tokens that had waited longer by place when it was called
	Compared []order.Member  `json:"compared,omitempty"` // heads of the lanes compared at the last call, at most 8; the first is the token's own
	Spans    []Span          `json:"spans,omitempty"`    // closed spans, at most MaxSpans, oldest first
	Undo     *Undo           `json:"undo,omitzero"`
}

// Judged is what the rules of a queue were held against when the token joined,
// beyond what the record says elsewhere. It holds in that queue only.
type Judged struct {
	Queue   dengxu.QueueID `json:"queue,omitzero"`
	Class   string         `json:"class,omitzero"`   // that was asked for, "" = none
	Waiting *int           `json:"waiting,omitzero"` // how many waited, where a rule asked
	Missed  int64          `json:"missed,omitzero"`  // the holder's marks, where a rule asked
	Joined  int64          `json:"joined,omitzero"`
	Served  int64          `json:"served,omitzero"`
}

func (j *Judged) clone() *Judged {
	c := *j
	if j.Waiting != nil {
		c.Waiting = new(*j.Waiting)
	}
	return &c
}

// MaxSpans is how many spans a record keeps; the log has all.
const MaxSpans = 16

// Span is one closed interval in one state.
type Span struct {
	State    dengxu.State     `json:"state,omitzero"`
	From     int64            `json:"from,omitzero"`
	To       int64            `json:"to,omitzero"`
	Queue    dengxu.QueueID   `json:"queue,omitzero"`
	Counter  dengxu.CounterID `json:"counter,omitzero"`
	Actor    string           `json:"actor,omitzero"`
	Verb     dengxu.Verb      `json:"verb,omitzero"`
	Reason   string           `json:"reason,omitzero"` // given with Verb
	Implicit bool             `json:"implicit,omitzero"`
}

// Undo is what an undo puts back, and until when and by whom.
type Undo struct {
	Verb   dengxu.Verb `json:"verb,omitzero"`
	Actor  string      `json:"actor,omitzero"`
	Until  int64       `json:"until,omitzero"`
	Before UndoState   `json:"before,omitzero"`
}

// UndoState is the part of a record that a verb changed.
type UndoState struct {
	State     dengxu.State     `json:"state,omitzero"`
	Queue     dengxu.QueueID   `json:"queue,omitzero"`
	Gen       int              `json:"gen,omitzero"`
	Class     string           `json:"class,omitzero"`
	Group     string           `json:"group,omitzero"`
	Lane      order.Lane       `json:"lane,omitzero"`
	Place     int64            `json:"place,omitzero"`
	Seq       uint64           `json:"seq,omitzero"`
	Origin    int64            `json:"origin,omitzero"`
	Factor    int32            `json:"factor,omitzero"`
	Due       int64            `json:"due,omitzero"`
	Why       string           `json:"why,omitzero"`
	Deadline  int64            `json:"deadline,omitzero"`
	CallCount int              `json:"call_count,omitzero"`
	Confirmed bool             `json:"confirmed,omitzero"`
	StartedAt int64            `json:"started_at,omitzero"`
	Counter   dengxu.CounterID `json:"counter,omitzero"`
	Misses    int              `json:"misses,omitzero"`
	Rules     []string         `json:"rules,omitempty"`
}

// Clone returns a copy that shares nothing with t.
func (t *Token) Clone() Token {
	c := *t
	c.Unshare()
	return c
}

// Unshare makes t, a plain copy of another record, share nothing with it.
func (t *Token) Unshare() {
	t.Attrs, t.Payload = slices.Clone(t.Attrs), slices.Clone(t.Payload)
	t.Compared, t.Spans = slices.Clone(t.Compared), slices.Clone(t.Spans)
	t.Rules = slices.Clone(t.Rules)
	if t.Judged != nil {
		t.Judged = t.Judged.clone()
	}
	if t.Undo != nil {
		t.Undo = new(*t.Undo)
		t.Undo.Before.Rules = slices.Clone(t.Undo.Before.Rules)
	}
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
	room := len(spans) + 1
	if t.State == dengxu.StateCalling {
		room++ // mostly a service that nobody started follows: CloseNext
	}
	t.Spans = append(make([]Span, 0, room), spans...)
	t.closeSpan(to, verb, actor)
}

// CloseNext is CloseSpan right after another: the slice is t's own already.
func (t *Token) CloseNext(to int64, verb dengxu.Verb, actor string) {
	if len(t.Spans) >= MaxSpans {
		t.Spans = t.Spans[len(t.Spans)-MaxSpans+1:]
	}
	t.closeSpan(to, verb, actor)
}

func (t *Token) closeSpan(to int64, verb dengxu.Verb, actor string) {
	t.Spans = append(t.Spans, Span{
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

package store

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/order"
)

// Ask is a set of point reads of one partition, answered from one snapshot.
type Ask struct {
	Partition Partition
	Tokens    []dengxu.TokenID // live or archived
	Docs      []DocKey
	Holders   []HolderKey
	Counters  []dengxu.CounterID // their tokens: calling, serving, held; by call number
	Persons   []Person           // active tokens of a business id in a site; by arrival
	Lines     []LineKey          // counts and lanes
	Fronts    []FrontAsk
	Ranks     []RankAsk
	Afters    []AfterAsk
	Tallies   []TallyKey
	Marks     []MarkKey
	Op        Op // looked up by Scope and Key; Hash is compared
}

// Person names a business id in a site.
type Person struct {
	Site     dengxu.SiteID
	Business string
}

// MarkKind is what a mark remembers the last time of.
type MarkKind string

// The kinds of marks. The names of those that are not Ended are part of keys.
const (
	MarkEnded  MarkKind = "" // completed, missed for good or abandoned: for cooldowns
	MarkJoined MarkKind = "joined"
	MarkMissed MarkKind = "missed"
	MarkServed MarkKind = "served"
)

// MarkKey names a business id's mark in a queue.
type MarkKey struct {
	Queue    dengxu.QueueID `json:"queue"`
	Business string         `json:"business"`
	Kind     MarkKind       `json:"kind,omitzero"`
}

// Name is the mark's name within its queue. No business id has a "\x00".
func (k MarkKey) Name() string {
	if k.Kind == MarkEnded {
		return k.Business
	}
	return k.Business + "\x00" + string(k.Kind)
}

// MarkNamed is the mark of a queue that has a name.
func MarkNamed(q dengxu.QueueID, name string) MarkKey {
	business, kind, _ := strings.Cut(name, "\x00")
	return MarkKey{Queue: q, Business: business, Kind: MarkKind(kind)}
}

// RankAsk asks how many tokens of a line are ahead of Member, by order.Rank.
type RankAsk struct {
	Line     LineKey
	Ordering Ordering
	Classes  []string // that compete with the member's class; nil = all
	Member   order.Member
}

// AfterAsk asks for the place behind the N-th of the member's class, by
// order.After. Member is left out of the line if it stands there.
type AfterAsk struct {
	Line     LineKey
	Ordering Ordering
	Member   order.Member
	N        int
	DayStart int64 // ordering epoch: where scaling begins
	Factor   int32 // ordering epoch: thousandths, as in the record
}

// View is the answer to an Ask: each slice is as long as the Ask's.
type View struct {
	Now      int64
	Tokens   []*Token // nil = unknown
	Docs     []*Doc   // nil = unknown
	Holders  []dengxu.TokenID
	Counters [][]Token // in call order
	Persons  [][]Token
	Lines    []LineView
	Fronts   []FrontView
	Ranks    []int
	Afters   []order.Placed
	Tallies  []int64
	Marks    []int64 // 0 = none
	Op       *OpView // nil = never seen
}

// OpView is a remembered operation.
type OpView struct {
	Reused bool // the hash differs
	Note   string
	Tokens []Token // as they are now
	Picked int     // how many of Tokens, at the end, were picked
}

// LineView is the state of one line.
type LineView struct {
	Counts map[dengxu.State]int
	Lanes  []LaneView
}

// LaneView is one lane with members.
type LaneView struct {
	Lane order.Lane
	Len  int
	Head order.Key
}

// MaxFront is how many keys of a lane a FrontAsk may ask for.
const MaxFront = 1024

// FrontAsk asks for the beginning of each lane of a line.
type FrontAsk struct {
	Line LineKey
	Most int // keys of each lane; less than 0 counts as 0, more than MaxFront as that
}

// FrontView is how the lanes of a line begin, in the order of Lane.Compare.
// Lanes without members are not among them.
type FrontView struct {
	Lanes []FrontLane
}

// FrontLane is the beginning of one lane.
type FrontLane struct {
	Lane order.Lane
	Len  int         // members of the lane
	Keys []order.Key // the first of them, in order; nil of none
}

// ListAsk asks for tokens in arrival order. Zero fields do not restrict.
type ListAsk struct {
	Partition Partition
	Site      dengxu.SiteID
	Queue     dengxu.QueueID
	Gen       *int
	States    []dengxu.State
	Counter   dengxu.CounterID
	Label     string // printed number, exact
	Text      string // part of name, phone, business id or label, without case
	After     uint64 // arrival number of the last one seen
	Before    uint64 // with Newest: arrival number of the last one seen; 0 = from the newest
	Newest    bool   // newest first
	Limit     int
}

// Page is one page of tokens.
type Page struct {
	Now    int64
	Tokens []Token
	Next   uint64 // After (or Before) for the next page; 0 = no more
}

// DueEntry is something whose time has come: a token or a document.
type DueEntry struct {
	At    int64
	Token dengxu.TokenID // "" = a document
	Doc   DocKey
}

// Compare orders entries by time, then documents before tokens, then by id,
// so that every store answers the same first entries.
func (d DueEntry) Compare(o DueEntry) int {
	return cmp.Or(
		cmp.Compare(d.At, o.At), cmp.Compare(d.Token, o.Token),
		cmp.Compare(d.Doc.Kind, o.Doc.Kind), cmp.Compare(d.Doc.ID, o.Doc.ID),
	)
}

// Due is what is due now, and when the timer loop should look again.
type Due struct {
	Now     int64
	Entries []DueEntry // in the order of DueEntry.Compare
	Next    int64      // At of the first entry after Entries, past only when the limit cut them short; 0 = none
}

// Cursor is a position in a partition's log. Its epoch changes when the log
// may have lost its end.
type Cursor struct {
	Partition Partition
	Epoch     uint64
	Number    uint64
}

// Event is one entry of the log.
type Event struct {
	Number  uint64
	At      int64
	Type    dengxu.EventType
	Site    dengxu.SiteID
	Queue   dengxu.QueueID
	Counter dengxu.CounterID
	Token   dengxu.TokenID
	Ref     string
	Label   string
	State   dengxu.State
	Version uint64
	Actor   string
	Reason  string
	Data    json.RawMessage
}

// EventPage is a run of events. Reset means that the log no longer reaches
// back to the cursor: the reader must read everything anew and go on at End.
type EventPage struct {
	Events []Event
	Reset  bool
	End    Cursor // after the last of Events, or the log's end
}

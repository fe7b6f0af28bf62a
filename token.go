package dengxu

import (
	"encoding/json"
	"time"
)

// Token is one stay in a queue as staff see it: the answer of a call and of
// every verb. Holders see a Position instead.
type Token struct {
	ID            TokenID         `json:"token_id"`
	Ref           string          `json:"ref" doc:"stable name without power, for boards and logs"`
	Number        string          `json:"number" doc:"printed label, never a key"`
	State         State           `json:"state"`
	Version       uint64          `json:"version" doc:"rises by one at each change"`
	Site          SiteID          `json:"site"`
	QueueID       QueueID         `json:"queue_id"`
	CounterID     CounterID       `json:"counter_id,omitempty"`
	Class         string          `json:"class,omitempty"`
	PriorityGroup string          `json:"priority_group,omitempty"`
	Factor        float64         `json:"factor,omitempty" doc:"how fast the wait counts; smaller is faster"`
	BusinessID    string          `json:"business_id,omitempty"`
	Name          string          `json:"name,omitempty"`
	Phone         string          `json:"phone,omitempty"`
	Note          string          `json:"note,omitempty"`
	PartySize     int             `json:"party_size,omitempty"`
	Channel       string          `json:"channel,omitempty"`
	ExtAttrs      json.RawMessage `json:"ext_attrs,omitempty"`
	Payload       json.RawMessage `json:"payload,omitempty"`
	JoinedAt      time.Time       `json:"joined_at"`
	AppointmentAt time.Time       `json:"appointment_at,omitzero" doc:"the booked time"`
	Place         time.Time       `json:"place" doc:"the token's point in time in the line"`
	NotBefore     time.Time       `json:"not_before,omitzero" doc:"when a scheduled token comes back by itself"`
	CheckInBy     time.Time       `json:"check_in_by,omitzero" doc:"scheduled until check-in: when it is abandoned instead"`
	CalledAt      time.Time       `json:"called_at,omitzero" doc:"the last call"`
	CallDeadline  time.Time       `json:"call_deadline,omitzero"`
	CallCount     int             `json:"call_count,omitempty" doc:"1 + recalls of this call"`
	CallNo        uint64          `json:"call_no,omitempty" doc:"rises with every call of the site"`
	StartedAt     time.Time       `json:"started_at,omitzero"`
	EndedAt       time.Time       `json:"ended_at,omitzero"`
	Misses        int             `json:"misses,omitempty"`
	Defers        int             `json:"defers,omitempty"`
	Rating        int             `json:"rating,omitempty"`
	Reason        string          `json:"reason,omitempty" doc:"of the last change, or why it is scheduled"`
	WaitSeconds   float64         `json:"wait_seconds" doc:"from joined_at, or the booked time when that is later, to the first call, or to the end, or so far"`
	Rank          *int            `json:"rank,omitempty" doc:"where it was asked for: tokens ahead that compete for the same counters"`
	RankReached   *int            `json:"rank_reached,omitempty" doc:"reinstate, transfer and move: the rank that the place asked for reached"`
	Lease         *Lease          `json:"lease,omitempty"`
}

// Lease is a worker's hold on a task. Its ID is a fencing value: another lease
// of the same task has another one.
type Lease struct {
	ID        string    `json:"id"`
	ExpiresAt time.Time `json:"expires_at"`
}

// Estimate is how long the wait may be. Known false means that no number can
// be given honestly; Reason says why.
type Estimate struct {
	Known              bool   `json:"known"`
	LowSeconds         *int   `json:"low_seconds"`
	RecommendedSeconds *int   `json:"recommended_seconds"`
	HighSeconds        *int   `json:"high_seconds"`
	Method             string `json:"method" enum:"none,idle,erlang,linear,trees,blend,window" doc:"how it was made; none when unknown"`
	Reason             string `json:"reason" enum:",no_counter_open,not_enough_data,paused,not_waiting"`
	// Position is on what it rests: the services until and with the own,
	// expected under the queue's ordering. It is seldom whole.
	Position   float64           `json:"position,omitempty" doc:"services until and with the own that it rests on, as expected under the queue's ordering"`
	AsOf       time.Time         `json:"as_of,omitzero" doc:"the moment of the line that it was made from"`
	Calibrated bool              `json:"calibrated,omitempty" doc:"it was held to what the line itself allows"`
	Why        string            `json:"why,omitempty" enum:"counter_left,slower_service" doc:"why it rose although the position fell"`
	Text       map[string]string `json:"text,omitempty" doc:"for people, rounded as they read it, by language: en, zh-CN"`
}

// Why an estimate rose although its position fell.
const (
	RoseCounterLeft   = "counter_left"   // fewer counters are open
	RoseSlowerService = "slower_service" // services take longer than they did
)

// The reasons of an unknown estimate.
const (
	UnknownNoCounter  = "no_counter_open"
	UnknownNoData     = "not_enough_data"
	UnknownPaused     = "paused"
	UnknownNotWaiting = "not_waiting"
)

// Ticket is the answer of a join.
type Ticket struct {
	ID                   TokenID   `json:"token_id" doc:"the holder's credential; keep it"`
	QueueID              QueueID   `json:"queue_id"`
	Number               string    `json:"number"`
	State                State     `json:"state"`
	Version              uint64    `json:"version"`
	Rank                 *int      `json:"rank" doc:"tokens ahead that compete for the same counters; 0 = next; null unless waiting"`
	RankIfCheckedIn      *int      `json:"rank_if_checked_in,omitempty" doc:"scheduled: the rank if it came back now"`
	JoinedAt             time.Time `json:"joined_at"`
	AppointmentAt        time.Time `json:"appointment_at,omitzero" doc:"the booked time"`
	NotBefore            time.Time `json:"not_before,omitzero" doc:"scheduled: the earliest time at which it waits"`
	CheckInBy            time.Time `json:"check_in_by,omitzero" doc:"scheduled until check-in: when it is abandoned instead"`
	TicketURL            string    `json:"ticket_url"`
	Estimate             Estimate  `json:"estimate"`
	EstimatedWaitSeconds *int      `json:"estimated_wait_seconds"`
}

// Called is one announcement, as boards and tickets show it.
type Called struct {
	Number      string    `json:"number"`
	CounterID   CounterID `json:"counter_id"`
	CounterName string    `json:"counter_name"`
	At          time.Time `json:"at"`
}

// Position is what a holder sees of the own token.
type Position struct {
	Ticket
	Site             SiteID    `json:"site"`
	SiteName         string    `json:"site_name"`
	QueueName        string    `json:"queue_name"`
	ServerTime       time.Time `json:"server_time"`
	TimeZone         string    `json:"time_zone"`
	CounterID        CounterID `json:"counter_id,omitempty"`
	CounterName      string    `json:"counter_name,omitempty"`
	CalledAt         time.Time `json:"called_at,omitzero"`
	CallDeadline     time.Time `json:"call_deadline,omitzero"`
	CallCount        int       `json:"call_count,omitempty"`
	DefersLeft       int       `json:"defers_left"`
	Door             Door      `json:"door"`
	DoorReason       string    `json:"door_reason,omitempty" doc:"what the staff gave as the reason"`
	LastCalled       *Called   `json:"last_called,omitempty"`
	Actions          []Verb    `json:"actions" doc:"what the holder may do now"`
	AsOf             time.Time `json:"as_of"`
	Stale            bool      `json:"stale"`
	PollAfterSeconds float64   `json:"poll_after_seconds"`
}

// Place says where a token goes back in line: its original place, the tail as
// if joining now, or behind the N-th now.
type Place struct {
	At    string // PlaceOriginal, PlaceTail, or "" with After set
	After *int
}

// The named places.
const (
	PlaceOriginal = "original"
	PlaceTail     = "tail"
)

// maxAfter bounds N of {"after": N}: no line is as long, so a larger one is a
// slip.
const maxAfter = 1_000_000

// MarshalJSON writes "original", "tail" or {"after": N}.
func (p Place) MarshalJSON() ([]byte, error) {
	if p.After != nil {
		return json.Marshal(map[string]int{"after": *p.After})
	}
	return json.Marshal(p.At)
}

// UnmarshalJSON reads what MarshalJSON writes and refuses anything else with
// Invalid, field place.
func (p *Place) UnmarshalJSON(b []byte) error {
	var name string
	if json.Unmarshal(b, &name) == nil && (name == PlaceOriginal || name == PlaceTail) {
		*p = Place{At: name}
		return nil
	}
	var after map[string]*int
	if err := json.Unmarshal(b, &after); err != nil || len(after) != 1 {
		return Fieldf(Invalid, "place", `place must be "original", "tail" or {"after": N}`)
	}
	n := after["after"]
	if n == nil || *n < 0 || *n > maxAfter {
		return Fieldf(Invalid, "place", "after must be from 0 to %d", maxAfter)
	}
	*p = Place{After: n}
	return nil
}

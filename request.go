package dengxu

import (
	"encoding/json"
	"time"
)

// JoinRequest is what a join may say. Everything is optional.
type JoinRequest struct {
	BusinessID    string          `json:"business_id,omitempty" maxLength:"128" doc:"who it is in the caller's system; for uniqueness and history"`
	PriorityGroup string          `json:"priority_group,omitempty" maxLength:"64"`
	Class         string          `json:"class,omitempty" maxLength:"64"`
	Name          string          `json:"name,omitempty" maxLength:"256"`
	Phone         string          `json:"phone,omitempty" maxLength:"32"`
	Note          string          `json:"note,omitempty" maxLength:"1024"`
	PartySize     int             `json:"party_size,omitempty" minimum:"0" maximum:"1000"`
	ExtAttrs      json.RawMessage `json:"ext_attrs,omitempty" doc:"an object of numbers, strings and booleans; at most 8 KB"`
	Channel       string          `json:"channel,omitempty" enum:"kiosk,web,staff,api" doc:"default api; web for holders"`
	DelaySeconds  float64         `json:"delay_seconds,omitempty" minimum:"0" doc:"not callable before"`
	RunAt         time.Time       `json:"run_at,omitzero" doc:"not callable before"`
	AppointmentAt time.Time       `json:"appointment_at,omitzero" doc:"the booked time; the queue's appointments say when it can be called and where it stands"`
}

// SiteJoinRequest joins several queues of one site in one commit: all or none.
type SiteJoinRequest struct {
	JoinRequest
	Queues []QueueID `json:"queues" minItems:"1" maxItems:"16"`
}

// CallRequest is the body of call_next.
type CallRequest struct {
	Version         uint64  `json:"version,omitempty" doc:"of the current token; 0 = do not check"`
	Current         string  `json:"current,omitempty" enum:"complete,miss,requeue" doc:"what happens to the token that the counter has"`
	CurrentTokenID  TokenID `json:"current_token_id,omitempty" doc:"needed when the counter has several"`
	CompleteCurrent bool    `json:"complete_current,omitempty" doc:"the same as current complete"`
	Class           string  `json:"class,omitempty" doc:"only tokens of this class"`
}

// VerbRequest is the body of every verb on one token. Verbs read the fields
// that concern them; a field that means nothing to a verb is refused.
type VerbRequest struct {
	Version   uint64    `json:"version,omitempty" doc:"0 = do not check"`
	CounterID CounterID `json:"counter_id,omitempty" doc:"the counter that acts; refused when another has the token"`
	Reason    string    `json:"reason,omitempty" maxLength:"256"`
	QueueID   QueueID   `json:"queue_id,omitempty" doc:"transfer: where to"`
	Class     string    `json:"class,omitempty" doc:"transfer: the class there"`
	Place     *Place    `json:"place,omitempty" doc:"transfer, reinstate, move"`
	Stars     int       `json:"stars,omitempty" minimum:"0" maximum:"5" doc:"rate"`
}

// TokenEdit changes what a token says of its holder. Absent fields stay.
type TokenEdit struct {
	Version   uint64  `json:"version,omitempty" doc:"0 = do not check"`
	Name      *string `json:"name,omitempty" maxLength:"256"`
	Phone     *string `json:"phone,omitempty" maxLength:"32"`
	Note      *string `json:"note,omitempty" maxLength:"1024"`
	Class     *string `json:"class,omitempty" maxLength:"64"`
	PartySize *int    `json:"party_size,omitempty" minimum:"0" maximum:"1000"`
}

// DoorRequest changes a queue's door or a counter's state by hand.
type DoorRequest struct {
	Now     bool   `json:"now,omitempty" doc:"queue close: at once instead of when empty"`
	Reason  string `json:"reason,omitempty" maxLength:"256"`
	Current string `json:"current,omitempty" enum:"complete,miss,requeue,hold" doc:"counter close: what happens to its tokens"`
}

// ModelRequest loads what a queue's estimates are to go by.
type ModelRequest struct {
	Model json.RawMessage `json:"model" doc:"as the answer with full=true has it, of this or another queue"`
}

// TokenFilter selects tokens of a site or a queue for lists.
type TokenFilter struct {
	States    []State
	Number    string // printed label, exact
	CounterID CounterID
	Text      string // part of name, phone, business id or number
	Cursor    string // of the page before
	Limit     int    // 0 = 50; at most 200
}

// TokenPage is one page of a list of tokens.
type TokenPage struct {
	Items      []Token   `json:"items"`
	NextCursor string    `json:"next_cursor,omitempty"`
	AsOf       time.Time `json:"as_of"`
}

package dengxu

import "time"

// ClassAhead is how many tokens of one class are ahead.
type ClassAhead struct {
	Class string `json:"class,omitempty"`
	Ahead int    `json:"ahead"`
}

// LaneHead is the head of a lane as it was when a call compared it.
type LaneHead struct {
	Number        string    `json:"number,omitempty" doc:"of the head; absent when its record is not live any more"`
	QueueID       QueueID   `json:"queue_id,omitempty" doc:"when it stood in another queue of the counter"`
	Class         string    `json:"class,omitempty"`
	Group         string    `json:"group,omitempty"`
	Factor        float64   `json:"factor,omitempty"`
	Place         time.Time `json:"place"`
	AgeSeconds    float64   `json:"age_seconds" doc:"from its place to the call: its wait and head start"`
	CountsSeconds float64   `json:"counts_seconds" doc:"what that counted: aging divides it by the factor"`
	Overdue       bool      `json:"overdue,omitempty" doc:"strict: it had reached escalate_after_seconds"`
	Called        bool      `json:"called,omitempty" doc:"it is the one that was called"`
}

// Lane is where a token stands: inside a lane only places and arrival decide.
type Lane struct {
	Class     string    `json:"class,omitempty"`
	Group     string    `json:"group,omitempty" doc:"strict, ratio"`
	Factor    float64   `json:"factor,omitempty" doc:"aging"`
	CounterID CounterID `json:"counter_id,omitempty" doc:"the only counter that may call it"`
}

// Rival is another token in an explanation. It has no credential of its holder.
type Rival struct {
	Number           string            `json:"number"`
	Class            string            `json:"class,omitempty"`
	PriorityGroup    string            `json:"priority_group"`
	Factor           float64           `json:"factor"`
	HeadStartSeconds float64           `json:"head_start_seconds,omitempty"`
	JoinedAt         time.Time         `json:"joined_at"`
	AppointmentAt    time.Time         `json:"appointment_at,omitzero"`
	Place            time.Time         `json:"place"`
	AgeSeconds       float64           `json:"age_seconds" doc:"from its place to the moment that is judged: its wait and head start"`
	CountsSeconds    float64           `json:"counts_seconds" doc:"what that counts: aging divides it by the factor"`
	OwnAgeSeconds    float64           `json:"own_age_seconds" doc:"the same of the token that is explained"`
	OwnCountsSeconds float64           `json:"own_counts_seconds"`
	Why              string            `json:"why" enum:"earlier,factor,head_start,appointment,overdue,rank,share,day,future,placed,by_hand,class,unknown" doc:"why it is, or was, ahead"`
	Text             map[string]string `json:"text" doc:"the same in words, by language: en, zh-CN"`
}

// Passing is a call of somebody who came later, while the token waited.
type Passing struct {
	Rival
	CalledAt  time.Time `json:"called_at"`
	CounterID CounterID `json:"counter_id,omitempty"`
}

// Bound says who can pass a token.
type Bound struct {
	// Share is the part of the wait, from its beginning, in which those have to
	// join that can pass.
	Share float64 `json:"share,omitempty" doc:"aging: only those can pass who join in this part of the wait, from its beginning"`
	// Before is when those joined that can have passed by now, or by the call.
	Before time.Time         `json:"before,omitzero" doc:"who joined at this time or later has not passed it until now, or its call"`
	Firm   time.Time         `json:"firm,omitzero" doc:"strict: from this time on nobody with a later place passes it"`
	Text   map[string]string `json:"text"`
}

// Explanation says why a token stands where it stands, or why it was called.
// Other tokens appear by number only.
type Explanation struct {
	TokenID          TokenID   `json:"token_id"`
	Number           string    `json:"number"`
	State            State     `json:"state"`
	Ordering         string    `json:"ordering"`
	Formula          string    `json:"formula"`
	Class            string    `json:"class,omitempty"`
	PriorityGroup    string    `json:"priority_group"`
	Factor           float64   `json:"factor"`
	Clipped          bool      `json:"clipped" doc:"the factor was clipped by min_factor or max_overtake, or took the nearest lane"`
	HeadStartSeconds float64   `json:"head_start_seconds"`
	Rules            []string  `json:"rules,omitempty" doc:"the rules that matched, in their order"`
	Lane             Lane      `json:"lane"`
	JoinedAt         time.Time `json:"joined_at"`
	AppointmentAt    time.Time `json:"appointment_at,omitzero"`
	Place            time.Time `json:"place"`
	CalledAt         time.Time `json:"called_at,omitzero" doc:"the call that is explained, without recalls"`
	CounterID        CounterID `json:"counter_id,omitempty" doc:"that called it"`
	ByHand           bool      `json:"by_hand,omitempty" doc:"an operator called it, out of turn"`

	Rank       *int         `json:"rank"`
	Ahead      []ClassAhead `json:"ahead,omitempty" doc:"waiting: how many are ahead, by class"`
	AheadNext  []Rival      `json:"ahead_next,omitempty" doc:"waiting: the first of those ahead, in the order of calls, at most 20"`
	AheadWhole bool         `json:"ahead_whole,omitempty" doc:"waiting: ahead_next has all that are ahead"`

	Passed        int        `json:"passed" doc:"called: how many with an earlier place it passed; waiting: how many at least passed it"`
	PassedBy      []Passing  `json:"passed_by,omitempty" doc:"who came later and was called while it waited, at most 20, the latest first"`
	PassedByWhole bool       `json:"passed_by_whole" doc:"passed_by has all of them that are still live; false when there are more, or more came later than were looked at"`
	Compared      []LaneHead `json:"compared,omitempty" doc:"called: the lane heads that were judged, the own first, at most 8"`

	Bound *Bound            `json:"bound,omitempty" doc:"who can pass it at all"`
	Text  map[string]string `json:"text" doc:"sentences by language: en, zh-CN; one line a thought"`
	AsOf  time.Time         `json:"as_of"`
}

package dengxu

import "time"

// SiteView is a site's settings in force and its running state.
type SiteView struct {
	ID      SiteID `json:"id"`
	Version uint64 `json:"version" doc:"of the settings; also the ETag"`
	Site
	Day       string      `json:"day" doc:"business day, YYYY-MM-DD"`
	DayEndsAt time.Time   `json:"day_ends_at"`
	Queues    []QueueID   `json:"queue_ids"`
	Counters  []CounterID `json:"counter_ids"`
	Warnings  []string    `json:"warnings,omitempty" doc:"what the settings could do that was perhaps not meant"`
}

// QueueView is a queue's settings in force and its running state.
type QueueView struct {
	ID      QueueID `json:"id"`
	Version uint64  `json:"version" doc:"of the settings; also the ETag"`
	Queue
	Door       Door          `json:"door"`
	DoorReason string        `json:"door_reason,omitempty"`
	DoorUntil  time.Time     `json:"door_until,omitzero" doc:"when opening hours move the door next: of a closed one, when it opens"`
	Counts     map[State]int `json:"counts" doc:"tokens by state; ends as long as they are retained"`
	JoinsToday int64         `json:"joins_today"`
	LastCalled *Called       `json:"last_called,omitempty"`
	AsOf       time.Time     `json:"as_of"`
	Fairness   []string      `json:"fairness,omitempty" doc:"how far one group may pass another"`
	Warnings   []string      `json:"warnings,omitempty" doc:"what the settings could do that was perhaps not meant"`
}

// CounterView is a counter's settings in force, its state and its tokens.
type CounterView struct {
	ID      CounterID `json:"id"`
	Version uint64    `json:"version" doc:"of the settings; also the ETag"`
	Counter
	State       CounterState `json:"state"`
	StateReason string       `json:"state_reason,omitempty"`
	Tokens      []Token      `json:"tokens" doc:"calling, serving and held here, in call order"`
	AsOf        time.Time    `json:"as_of"`
	Warnings    []string     `json:"warnings,omitempty"`
}

// Role is what an API key may do at all.
type Role string

// The roles.
const (
	RoleAdmin    Role = "admin"    // everything
	RoleOperator Role = "operator" // join, read, call, serve, doors and counters
	RoleKiosk    Role = "kiosk"    // join, estimate, read sites and queues
	RoleWorker   Role = "worker"   // tasks
	RoleDisplay  Role = "display"  // boards and events without credentials
)

// Key is the settings of an API key.
type Key struct {
	Name      string    `json:"name,omitempty" maxLength:"128"`
	Role      Role      `json:"role" enum:"admin,operator,kiosk,worker,display"`
	Sites     []SiteID  `json:"sites,omitempty" doc:"scope; none = all sites"`
	Queues    []QueueID `json:"queues,omitempty" doc:"narrower scope inside the sites; none = all queues"`
	Rights    []string  `json:"rights,omitempty" enum:"pick,move" doc:"operator extras"`
	ExpiresAt time.Time `json:"expires_at,omitzero"`
}

// KeyView is a key as stored. Secret is shown once, when it was made.
type KeyView struct {
	ID      KeyID  `json:"id"`
	Version uint64 `json:"version"`
	Key
	Secret   string   `json:"secret,omitempty" doc:"only in the answer that made it"`
	Warnings []string `json:"warnings,omitempty"`
}

// List is one page of anything.
type List[T any] struct {
	Items      []T    `json:"items"`
	NextCursor string `json:"next_cursor,omitempty"`
}

// History is every interval that a token has been through that its record keeps.
type History struct {
	TokenID TokenID `json:"token_id"`
	Number  string  `json:"number"`
	Spans   []Span  `json:"spans" doc:"oldest first, at most 16 closed ones and the present"`
	// WaitSeconds and the rest are derived from the spans.
	WaitSeconds    float64 `json:"wait_seconds"`
	WalkSeconds    float64 `json:"walk_seconds" doc:"calling, until confirmed service began"`
	ServiceSeconds float64 `json:"service_seconds"`
	HoldSeconds    float64 `json:"hold_seconds"`
}

// EstimateAnswer is "if I joined now".
type EstimateAnswer struct {
	QueueID              QueueID   `json:"queue_id"`
	Class                string    `json:"class,omitempty"`
	Rank                 int       `json:"rank" doc:"tokens that would be ahead"`
	Door                 Door      `json:"door"`
	Estimate             Estimate  `json:"estimate"`
	EstimatedWaitSeconds *int      `json:"estimated_wait_seconds"`
	AsOf                 time.Time `json:"as_of"`
}

// StatsBucket is what happened to a queue's tokens in one interval of time.
type StatsBucket struct {
	From               time.Time `json:"from"`
	To                 time.Time `json:"to"`
	Joined             int       `json:"joined"`
	Called             int       `json:"called"`
	Completed          int       `json:"completed"`
	Missed             int       `json:"missed"`
	Cancelled          int       `json:"cancelled"`
	Abandoned          int       `json:"abandoned"`
	MeanWaitSeconds    *float64  `json:"mean_wait_seconds" doc:"of those first called in the interval"`
	MaxWaitSeconds     *float64  `json:"max_wait_seconds"`
	MeanServiceSeconds *float64  `json:"mean_service_seconds" doc:"of those completed in the interval; implicit service left out"`
}

// Stats is a queue's recent past, as far as records are retained.
type Stats struct {
	QueueID QueueID       `json:"queue_id"`
	Buckets []StatsBucket `json:"buckets"`
	AsOf    time.Time     `json:"as_of"`
}

// CallOutcome is what call_next did. Token is nil when there was nobody to
// call; Reason then says why.
type CallOutcome struct {
	Token  *Token `json:"token"`
	Reason string `json:"reason,omitempty" enum:"other_classes_waiting,queue_paused,queue_closed,rate_limited,only_absent,none_waiting"`
}

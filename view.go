package dengxu

import (
	"encoding/json"
	"time"
)

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
	QueueID   QueueID        `json:"queue_id"`
	Buckets   []StatsBucket  `json:"buckets"`
	Estimates *EstimateStats `json:"estimates,omitempty" doc:"what holders were told on the days of the stats and what it came to; absent when nobody was"`
	AsOf      time.Time      `json:"as_of"`
}

// EstimateStats is what holders were told about their wait, and what it came
// to. What was told is scored at the first call; of one holder, the first
// estimate at each bucket of positions.
type EstimateStats struct {
	EstimateScore
	ByPosition []EstimateScore `json:"by_position" doc:"by who was ahead: the nearer the front, the less anybody can know"`
	ByHour     []EstimateScore `json:"by_hour" doc:"by the hour of the site's day in which it was told"`
	Free       int             `json:"free" doc:"who found a counter free and was told that there is no wait; not among the others"`
	FreeWait   float64         `json:"free_wait_seconds" doc:"how long these waited for the call all the same, in the mean"`
}

// EstimateScore sums up estimates whose wait is known. Its zero value has none.
type EstimateScore struct {
	Ahead string `json:"ahead,omitempty" doc:"bucket of positions: 0, 1, 2, 3-4, 5-9, 10-19, 20+"`
	Hour  *int   `json:"hour,omitempty"`
	N     int    `json:"n"`
	// Coverage is the share of waits that were at most low, recommended, high:
	// 0.1, 0.5 and 0.9 are promised.
	Coverage    [3]float64 `json:"coverage" doc:"shares of the waits up to low, recommended and high; 0.1, 0.5 and 0.9 are promised"`
	MeanWait    float64    `json:"mean_wait_seconds"`
	BiasSeconds float64    `json:"bias_seconds" doc:"by how much the recommended waits were too long in the mean"`
	WAPE        float64    `json:"wape" doc:"deviation of the recommended waits as a share of the waits"`
	FloorWAPE   float64    `json:"floor_wape,omitempty" doc:"by_position: the least that anybody could reach if services are exponential"`
}

// Model is what a queue's estimates have learned.
type Model struct {
	QueueID   QueueID        `json:"queue_id"`
	Version   uint64         `json:"version" doc:"rises by one at each training or load; 0 = nothing was learned yet"`
	Method    string         `json:"method" enum:"erlang,linear,trees,blend" doc:"erlang: nothing beat position and rate"`
	TrainedAt time.Time      `json:"trained_at,omitzero"`
	Lessons   int            `json:"lessons" doc:"resolved tokens that there are to learn from"`
	Rows      int            `json:"rows" doc:"of them, those that the model learned from"`
	From      time.Time      `json:"from,omitzero" doc:"when the first of the rows joined"`
	To        time.Time      `json:"to,omitzero"`
	Verdicts  []ModelVerdict `json:"verdicts,omitempty" doc:"how each method did on the newest fifth, which it had not seen"`
	// Model is what can be loaded again; only where it was asked for.
	Model json.RawMessage `json:"model,omitempty" doc:"what can be loaded again, where it was asked for"`
}

// ModelVerdict is how one method did on waits that it had not seen.
type ModelVerdict struct {
	Method  string     `json:"method"`
	N       int        `json:"n"`
	Pinball [3]float64 `json:"pinball" doc:"mean pinball loss of the quantiles 0.1, 0.5 and 0.9, in seconds; less is better"`
	// Coverage is before calibration.
	Coverage [3]float64 `json:"coverage" doc:"shares of the waits up to low, recommended and high, before calibration"`
	Kept     bool       `json:"kept,omitempty" doc:"the one that estimates go by"`
}

// Lesson is a token whose wait is known, as a queue learns from it: what its
// estimate at the join was made from, and the wait. It names nobody.
type Lesson struct {
	At        int64   `json:"at" doc:"when it joined, ms since 1970"`
	Position  float64 `json:"position"`
	PerSecond float64 `json:"per_second" doc:"services a second of the counters that serve it"`
	Class     string  `json:"class,omitempty"`
	Group     string  `json:"group,omitempty"`
	// Features are the numbers that a model learns from; nil is not known.
	Features   []*float64         `json:"features"`
	Covariates map[string]float64 `json:"covariates,omitempty"`
	Wait       float64            `json:"wait" doc:"seconds until the first call, less those in which nobody served"`
}

// CallOutcome is what call_next did. Token is nil when there was nobody to
// call; Reason then says why.
type CallOutcome struct {
	Token  *Token `json:"token"`
	Reason string `json:"reason,omitempty" enum:"other_classes_waiting,queue_paused,queue_closed,rate_limited,only_absent,none_waiting"`
}

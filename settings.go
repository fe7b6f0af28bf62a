package dengxu

// Site is the settings of a site, as given. Absent fields take the defaults of
// WithDefaults; the zero value is a valid site.
type Site struct {
	Name         string            `json:"name,omitempty" maxLength:"128"`
	Labels       map[string]string `json:"labels,omitempty" doc:"name by language"`
	TimeZone     string            `json:"time_zone,omitempty" doc:"IANA name; the machine's when absent at creation"`
	DayStart     string            `json:"day_start,omitempty" doc:"HH:MM, when the business day begins" default:"00:00"`
	Languages    []string          `json:"languages,omitempty"`
	OpeningHours *OpeningHours     `json:"opening_hours,omitempty" doc:"absent = always open"`
	OtherTokens  string            `json:"other_tokens,omitempty" enum:"keep,hold,cancel" doc:"what happens to a holder's other tokens when one is called"`
	// Covariates are numbers that wait estimates learn from beside the line:
	// holiday, rain, seats taken. Whoever knows them sets them when they change.
	Covariates map[string]float64 `json:"covariates,omitempty" doc:"numbers, by name, that wait estimates learn from: holiday, rain, seats taken; set when they change"`
}

// OpeningHours moves the doors of a site's queues. Its JSON is flat: keys are
// days ("mon", "mon-fri"), values lists of "HH:MM-HH:MM" (an end before its
// start is past midnight); "dates" maps a date to "closed" or such a list;
// "last_ticket_before_seconds" ends joining that long before each closing.
type OpeningHours struct {
	Days                    map[string][]string
	Dates                   map[string][]string // empty list = closed
	LastTicketBeforeSeconds float64
}

// Queue is the settings of a queue, as given. Pointers stand where zero is a
// meaning of its own that differs from the default.
type Queue struct {
	Site                   SiteID            `json:"site,omitempty" doc:"immutable once set; default: the site default"`
	Kind                   Kind              `json:"kind,omitempty" enum:"people,task"`
	Name                   string            `json:"name,omitempty" maxLength:"128"`
	Labels                 map[string]string `json:"labels,omitempty"`
	Prefix                 *string           `json:"prefix,omitempty" maxLength:"8" doc:"default A"`
	NumberWidth            *int              `json:"number_width,omitempty" minimum:"1" maximum:"9" doc:"default 3; only pads"`
	FirstNumber            *int64            `json:"first_number,omitempty" minimum:"0" maximum:"999999999" doc:"default 1"`
	LastNumber             *int64            `json:"last_number,omitempty" minimum:"1" maximum:"999999999" doc:"absent = no last number"`
	OnLastNumber           string            `json:"on_last_number,omitempty" enum:"widen,refuse,wrap" doc:"default widen"`
	Series                 string            `json:"series,omitempty" maxLength:"64" doc:"numbers are unique per site, day and series; default the prefix"`
	Ordering               string            `json:"ordering,omitempty" enum:"aging,strict,ratio,epoch" doc:"default aging; changing it needs an empty line"`
	EscalateAfterSeconds   *float64          `json:"escalate_after_seconds,omitempty" minimum:"1" doc:"strict: who has waited as long goes before every rank; 3600 when absent"`
	Groups                 map[string]Group  `json:"groups,omitempty" doc:"ordinary always exists"`
	MinFactor              *float64          `json:"min_factor,omitempty" minimum:"0.05" maximum:"10" doc:"default 0.25"`
	MaxOvertake            float64           `json:"max_overtake,omitempty" minimum:"0" doc:"0 = off; clamps factors to [F/m, F]"`
	Classes                map[string]Class  `json:"classes,omitempty"`
	DefaultClass           string            `json:"default_class,omitempty"`
	QueueRules             []Rule            `json:"queue_rules,omitempty" maxItems:"64" doc:"conditions on who joins, and what follows"`
	Fields                 []Field           `json:"fields,omitempty" maxItems:"32"`
	MaxLength              int               `json:"max_length,omitempty" minimum:"0" doc:"waiting + scheduled; 0 = off"`
	DailyQuota             int               `json:"daily_quota,omitempty" minimum:"0" doc:"joins of the day, cancelled ones too; 0 = off"`
	Unique                 *bool             `json:"unique,omitempty" doc:"default true: one active token per business id"`
	RejoinAfterSeconds     float64           `json:"rejoin_after_seconds,omitempty" minimum:"0"`
	ExpectedServiceSeconds float64           `json:"expected_service_seconds,omitempty" minimum:"0"`
	CallTimeoutSeconds     *float64          `json:"call_timeout_seconds,omitempty" minimum:"1" doc:"default 300"`
	OnCallTimeout          string            `json:"on_call_timeout,omitempty" enum:"miss,ask,start" doc:"default miss"`
	ArriveSeconds          *float64          `json:"arrive_seconds,omitempty" minimum:"1" doc:"default 300"`
	MaxCalls               *int              `json:"max_calls,omitempty" minimum:"1" maximum:"100" doc:"default 3"`
	RecallGapSeconds       *float64          `json:"recall_gap_seconds,omitempty" minimum:"0" doc:"default 30"`
	Missed                 *Missed           `json:"missed,omitempty"`
	Defer                  *Defer            `json:"defer,omitempty"`
	CheckIn                *CheckIn          `json:"check_in,omitempty"`
	Ask                    *Ask              `json:"ask,omitempty"`
	Appointments           *Appointments     `json:"appointments,omitempty" doc:"absent = the queue takes no appointments"`
	ExpireWaitingSeconds   float64           `json:"expire_waiting_seconds,omitempty" minimum:"0" doc:"0 = off"`
	PublicJoin             *PublicJoin       `json:"public_join,omitempty" doc:"false, \"loopback\" or {fields, classes}; default false"`
	DayEnd                 string            `json:"day_end,omitempty" enum:"keep,expire" doc:"default expire for people, keep for tasks"`
	RetainSeconds          *float64          `json:"retain_seconds,omitempty" minimum:"0" doc:"default 172800: how long ended tokens stay live"`
	Estimates              *Estimates        `json:"estimates,omitempty" doc:"how waits are estimated"`
}

// Estimates says how a queue's waits are estimated.
type Estimates struct {
	Method string `json:"method,omitempty" enum:"auto,erlang,window" doc:"default auto: what was learned, once there is enough; erlang: position and rate alone; window: (ahead + in service) × mean service / open counters, biased high"`
}

// The methods that a setting may ask for.
const (
	EstimatesAuto   = "auto"
	EstimatesErlang = "erlang"
	EstimatesWindow = "window"
)

// Group is who a token is, for order only.
type Group struct {
	Factor           *float64 `json:"factor,omitempty" minimum:"0.05" maximum:"10" doc:"default 1; smaller is earlier"`
	HeadStartSeconds float64  `json:"head_start_seconds,omitempty" minimum:"-2592000" maximum:"2592000"`
	Rank             *int     `json:"rank,omitempty" minimum:"0" maximum:"1000" doc:"strict: less is called earlier, equal ranks are one tier; 0 when absent, ordinary behind all others"`
	Share            *int     `json:"share,omitempty" minimum:"1" maximum:"20" doc:"ratio: calls in a round beside the other groups'; 1 when absent"`
}

// Class is what service a token needs, for routing only.
type Class struct {
	Name                   string            `json:"name,omitempty" maxLength:"128"`
	Labels                 map[string]string `json:"labels,omitempty"`
	Prefix                 *string           `json:"prefix,omitempty" maxLength:"8" doc:"default the queue's"`
	ExpectedServiceSeconds float64           `json:"expected_service_seconds,omitempty" minimum:"0"`
}

// Field is one thing that a join may tell about its holder.
type Field struct {
	Name     string            `json:"name"`
	Type     string            `json:"type,omitempty" enum:"text,phone,number,bool" doc:"default text"`
	Required bool              `json:"required,omitempty"`
	Max      int               `json:"max,omitempty" minimum:"0" doc:"characters"`
	Labels   map[string]string `json:"labels,omitempty"`
}

// Missed is what happens to a person who does not come.
type Missed struct {
	Policy         string   `json:"policy,omitempty" enum:"requeue,keep,remove" doc:"default requeue"`
	PenaltySeconds *float64 `json:"penalty_seconds,omitempty" minimum:"0" doc:"default 300"`
	MaxMisses      *int     `json:"max_misses,omitempty" minimum:"1" doc:"default 2"`
	KeepSeconds    *float64 `json:"keep_seconds,omitempty" minimum:"0" doc:"default 3600: policy keep"`
}

// Defer is how often and how long a person may step back.
type Defer struct {
	Seconds *float64 `json:"seconds,omitempty" minimum:"1" doc:"default 300"`
	Max     *int     `json:"max,omitempty" minimum:"0" doc:"default 2"`
}

// CheckIn says who must report before being callable.
type CheckIn struct {
	Required      string  `json:"required,omitempty" enum:"none,remote,all" doc:"default none; remote = channel web"`
	WithinSeconds float64 `json:"within_seconds,omitempty" minimum:"0" doc:"0 = no limit; later = abandoned"`
}

// Ask is when a waiting person is asked "still coming?".
type Ask struct {
	AfterSeconds float64  `json:"after_seconds,omitempty" minimum:"0" doc:"0 = never by time"`
	GraceSeconds *float64 `json:"grace_seconds,omitempty" minimum:"1" doc:"default 120"`
	OnSilence    string   `json:"on_silence,omitempty" enum:"abandon,defer" doc:"default abandon"`
}

// Counter is the settings of a counter, as given.
type Counter struct {
	Site       SiteID            `json:"site,omitempty" doc:"immutable once set; default: the site default"`
	Name       string            `json:"name,omitempty" maxLength:"128"`
	Labels     map[string]string `json:"labels,omitempty"`
	Queues     []CounterQueue    `json:"queues,omitempty" maxItems:"64" doc:"ids, or {id, classes}"`
	Pick       string            `json:"pick,omitempty" enum:"oldest,listed" doc:"default oldest"`
	MaxServing *int              `json:"max_serving,omitempty" minimum:"1" maximum:"1000" doc:"default 1"`
	Seats      *Seats            `json:"seats,omitempty"`
}

// CounterQueue is a queue that a counter serves, with the classes it can serve
// there; no classes means all. Its JSON is the id alone when there are none.
type CounterQueue struct {
	ID      QueueID
	Classes []string
}

// Seats is how many people a counter fits, for parties.
type Seats struct {
	Min int `json:"min,omitempty" minimum:"0"`
	Max int `json:"max,omitempty" minimum:"0"`
}

// PublicJoin is what people without a key may join with. Its JSON is false,
// "loopback" (anything, while the server listens on loopback only), or an
// object.
type PublicJoin struct {
	Loopback bool
	Allowed  bool     // an object was given
	Fields   []string // of the declared fields and name, phone, party_size
	Classes  []string // empty = the default class only
}

// Rule is a condition on what is known of a holder at a join, and what follows
// when it holds: a change of the factor, a class, a head start, or a refusal.
// A rule does at least one of them, and one that refuses does nothing else.
type Rule struct {
	Name             string   `json:"name" maxLength:"64" doc:"unique in the queue"`
	Condition        string   `json:"condition" maxLength:"4096" doc:"see docs/rules.md"`
	Action           string   `json:"action,omitempty" doc:"added to the factor, such as -0.3 or +0.5"`
	Reject           string   `json:"reject,omitempty" maxLength:"64" doc:"refuses the join with this reason"`
	Class            string   `json:"class,omitempty" doc:"a declared class"`
	HeadStartSeconds *float64 `json:"head_start_seconds,omitempty" minimum:"-2592000" maximum:"2592000" doc:"in place of the group's"`
}

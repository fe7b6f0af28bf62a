package dengxu

import (
	"encoding/json"
	"time"
)

// RulesTest is a table of example holders to be held against the rules of a
// queue. Nobody joins.
type RulesTest struct {
	Holders    []RuleHolder `json:"holders" minItems:"1" maxItems:"200"`
	QueueRules []Rule       `json:"queue_rules,omitempty" maxItems:"64" doc:"tried instead of the queue's own"`
}

// RuleHolder is somebody who might join: what the join would say, and what
// rules may ask beside it.
type RuleHolder struct {
	BusinessID       string          `json:"business_id,omitempty" maxLength:"128"`
	PriorityGroup    string          `json:"priority_group,omitempty"`
	ExtAttrs         json.RawMessage `json:"ext_attrs,omitempty" doc:"an object of numbers, strings and booleans"`
	Class            string          `json:"class,omitempty"`
	PartySize        int             `json:"party_size,omitempty" minimum:"0" maximum:"1000"`
	Channel          string          `json:"channel,omitempty"`
	Now              time.Time       `json:"now,omitzero" doc:"when the join is; absent = now"`
	Waiting          *int            `json:"waiting,omitempty" minimum:"0" doc:"how many wait; absent = as many as do"`
	MissedAgoSeconds *float64        `json:"missed_ago_seconds,omitempty" minimum:"0" doc:"absent = never"`
	JoinedAgoSeconds *float64        `json:"joined_ago_seconds,omitempty" minimum:"0" doc:"absent = never"`
	ServedAgoSeconds *float64        `json:"served_ago_seconds,omitempty" minimum:"0" doc:"absent = never"`
}

// RulesTested is what became of the table, holder by holder.
type RulesTested struct {
	Items    []RuleVerdict `json:"items"`
	Warnings []string      `json:"warnings,omitempty"`
}

// RuleVerdict is what rules make of one holder.
type RuleVerdict struct {
	Matched          []string     `json:"matched" doc:"names of the rules that matched, in their order"`
	Factor           float64      `json:"factor" doc:"smaller is faster"`
	Clipped          bool         `json:"clipped" doc:"the factor was limited by min_factor or max_overtake"`
	Class            string       `json:"class,omitempty"`
	HeadStartSeconds float64      `json:"head_start_seconds"`
	Reject           *RuleRefusal `json:"reject,omitempty" doc:"the join would be refused"`
}

// RuleRefusal is why a rule refuses a join.
type RuleRefusal struct {
	Rule              string  `json:"rule"`
	Reason            string  `json:"reason"`
	RetryAfterSeconds float64 `json:"retry_after_seconds,omitempty" doc:"when the same join would be let in; absent = time does not cure it"`
}

// RulesReapplied is how many of those in line were judged anew.
type RulesReapplied struct {
	Checked int `json:"checked" doc:"waiting and scheduled tokens"`
	Changed int `json:"changed" doc:"of them, with another factor, class or lane now"`
}

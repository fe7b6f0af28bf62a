package dengxu

import "slices"

// Verb is what happens to a token.
type Verb string

// The verbs. Due, Ask and Expire are done by the engine's timers alone, the
// others are asked for.
const (
	VerbJoin      Verb = "join"
	VerbDue       Verb = "due"
	VerbCheckIn   Verb = "check_in"
	VerbCall      Verb = "call"
	VerbRecall    Verb = "recall"
	VerbConfirm   Verb = "confirm"
	VerbStart     Verb = "start"
	VerbComplete  Verb = "complete"
	VerbMiss      Verb = "miss"
	VerbReinstate Verb = "reinstate"
	VerbRequeue   Verb = "requeue"
	VerbDefer     Verb = "defer"
	VerbHold      Verb = "hold"
	VerbResume    Verb = "resume"
	VerbTransfer  Verb = "transfer"
	VerbMove      Verb = "move"
	VerbEdit      Verb = "edit"
	VerbCancel    Verb = "cancel"
	VerbAbandon   Verb = "abandon"
	VerbExpire    Verb = "expire"
	VerbUndo      Verb = "undo"
	VerbAsk       Verb = "ask"
	VerbRate      Verb = "rate"
	VerbFail      Verb = "fail"
	VerbRelease   Verb = "release"
)

// Kind is what a queue's tokens stand for.
type Kind string

// The kinds of queue.
const (
	KindPeople Kind = "people"
	KindTask   Kind = "task"
)

// Transition is one row of the table: from any of From, Verb leads to one of
// To. An empty From is a join.
type Transition struct {
	Verb  Verb
	From  []State
	To    []State
	Kinds []Kind // which queues know it
	By    string // who may ask: holder, operator, timer
	Note  string
}

var (
	people = []Kind{KindPeople}
	tasks  = []Kind{KindTask}
	both   = []Kind{KindPeople, KindTask}
)

// transitions is THE table. The engine, the documentation and the tests read
// it; nothing else says which verb a state knows.
var transitions = []Transition{
	{VerbJoin, nil, []State{StateWaiting, StateScheduled}, both, "holder, operator", "scheduled with delay, run_at, appointment, or when check-in is required"},
	{VerbDue, []State{StateScheduled}, []State{StateWaiting}, both, "timer", "place kept; a task's place starts at its due time"},
	{VerbCheckIn, []State{StateScheduled}, []State{StateWaiting, StateScheduled}, people, "holder, operator", "place kept; scheduled before the early window of an appointment; after its late window place = now"},
	{VerbCall, []State{StateWaiting}, []State{StateCalling}, people, "operator", "call number and deadline; a given token needs the right pick and a reason"},
	{VerbCall, []State{StateScheduled, StateMissed}, []State{StateCalling}, people, "operator", "only by hand, with the right pick and a reason"},
	{VerbCall, []State{StateWaiting}, []State{StateServing}, tasks, "worker", "a lease starts"},
	{VerbRecall, []State{StateCalling}, []State{StateCalling}, people, "operator", "announced again, deadline restarts; at most max_calls, recall_gap_seconds apart"},
	{VerbConfirm, []State{StateCalling}, []State{StateCalling}, people, "holder, operator", "deadline = now + arrive_seconds, once"},
	{VerbConfirm, []State{StateWaiting}, []State{StateWaiting}, people, "holder, operator", "answers an ask: still coming"},
	{VerbStart, []State{StateCalling}, []State{StateServing}, people, "operator, timer", "by the timer with on_call_timeout start"},
	{VerbComplete, []State{StateCalling, StateServing}, []State{StateCompleted}, people, "operator", "from calling: start and complete in one commit, the serving span marked implicit"},
	{VerbComplete, []State{StateServing}, []State{StateCompleted}, tasks, "worker", "the lease must be valid"},
	{VerbMiss, []State{StateCalling}, []State{StateScheduled, StateMissed, StateAbandoned}, people, "operator, timer", "by the missed policy: requeue, keep, remove; abandoned after max_misses"},
	{VerbReinstate, []State{StateMissed, StateScheduled}, []State{StateWaiting}, people, "operator", "scheduled only after a miss; place original, tail or after N"},
	{VerbRequeue, []State{StateCalling, StateServing}, []State{StateWaiting}, people, "operator", "put back: place kept, no miss counted"},
	{VerbDefer, []State{StateWaiting, StateCalling}, []State{StateScheduled}, people, "holder, operator", "frees the counter, place kept; defer.seconds, at most defer.max"},
	{VerbHold, []State{StateCalling, StateServing}, []State{StateHeld}, people, "operator", "never comes back by itself"},
	{VerbResume, []State{StateHeld}, []State{StateServing}, people, "operator", "needs room at the counter"},
	{VerbTransfer, []State{StateWaiting, StateCalling, StateServing, StateHeld, StateMissed}, []State{StateWaiting}, people, "operator", "same token, number, joined_at and history in another queue of the site; refused there = stays here"},
	{VerbMove, []State{StateWaiting}, []State{StateWaiting}, people, "operator", "a new place by hand, with the right move and a reason"},
	{VerbEdit, []State{StateScheduled, StateWaiting, StateCalling, StateServing, StateHeld, StateMissed}, []State{StateScheduled, StateWaiting, StateCalling, StateServing, StateHeld, StateMissed}, people, "operator", "name, phone, note, class, party size; place and state kept"},
	{VerbCancel, []State{StateScheduled, StateWaiting, StateCalling, StateHeld, StateMissed}, []State{StateCancelled}, both, "holder, operator", ""},
	{VerbCancel, []State{StateServing}, []State{StateCancelled}, both, "operator", "serving only by the operator"},
	{VerbAbandon, []State{StateScheduled, StateWaiting, StateCalling, StateServing, StateHeld, StateMissed}, []State{StateAbandoned}, people, "operator", ""},
	{VerbAsk, []State{StateWaiting}, []State{StateWaiting, StateScheduled, StateAbandoned}, people, "timer", "still coming? silence after the grace ends by the ask setting"},
	{VerbExpire, []State{StateScheduled, StateWaiting, StateMissed, StateHeld}, []State{StateAbandoned}, both, "timer", "expire_waiting_seconds, missed.keep_seconds, day end"},
	{VerbUndo, []State{StateScheduled, StateWaiting, StateMissed, StateCompleted, StateCancelled, StateAbandoned}, []State{StateScheduled, StateWaiting, StateCalling, StateServing, StateHeld, StateMissed}, people, "operator", "complete, miss, cancel, transfer; same actor, 60 s, version unchanged, place still free"},
	{VerbRate, []State{StateCompleted}, []State{StateCompleted}, people, "holder", "once"},
	{VerbFail, []State{StateServing}, []State{StateScheduled, StateFailed}, tasks, "worker, timer", "backoff, or dead letter after max_attempts; a lost lease is the same"},
	{VerbRelease, []State{StateServing}, []State{StateWaiting}, tasks, "worker", "no attempt used"},
}

// Transitions returns a copy of the table, row by row in the order of a
// token's life.
func Transitions() []Transition {
	rows := slices.Clone(transitions)
	for i := range rows {
		rows[i].From = slices.Clone(rows[i].From)
		rows[i].To = slices.Clone(rows[i].To)
		rows[i].Kinds = slices.Clone(rows[i].Kinds)
	}
	return rows
}

// Leads reports whether the table lets verb take a token of a queue of this
// kind from one state to the other.
func Leads(kind Kind, from State, verb Verb, to State) bool {
	for _, t := range transitions {
		if t.Verb == verb && slices.Contains(t.Kinds, kind) &&
			slices.Contains(t.From, from) && slices.Contains(t.To, to) {
			return true
		}
	}
	return false
}

// Allowed reports whether a state knows a verb at all, in a queue of this kind.
func Allowed(kind Kind, from State, verb Verb) bool {
	for _, t := range transitions {
		if t.Verb == verb && slices.Contains(t.Kinds, kind) && slices.Contains(t.From, from) {
			return true
		}
	}
	return false
}

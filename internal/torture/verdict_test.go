package torture

import (
	"cmp"
	"slices"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/store"
)

// verdict is how an operation has to end: code "" is success.
type verdict struct {
	code   dengxu.Code
	reason string
}

var granted = verdict{}

func refusal(code dengxu.Code, reason string) verdict { return verdict{code, reason} }

// shut is why a queue takes nobody.
func (p *picture) shut(q dengxu.QueueID) string {
	if door := p.door[q].Door; door != dengxu.DoorOpen {
		return string(door)
	}
	return ""
}

// onJoin judges a join: exists, closed, too_many, full, in this order.
func (p *picture) onJoin(q dengxu.QueueID, req dengxu.JoinRequest) verdict {
	r := walkRules[q]
	_, known := r.class(req.Class)
	if _, ok := r.groups[groupOr(req.PriorityGroup)]; !ok || !known {
		return refusal(dengxu.Invalid, "")
	}
	switch {
	case p.holder(q, p.gen(q), req.BusinessID) != nil:
		return refusal(dengxu.Exists, "already_in_line")
	case p.shut(q) != "":
		return refusal(dengxu.Closed, p.shut(q))
	case r.rejoin > 0 && req.BusinessID != "" && p.now < p.lastEnd(q, req.BusinessID)+r.rejoin:
		return refusal(dengxu.TooMany, "rejoin_after")
	case r.maxLength > 0 && p.count(q, dengxu.StateWaiting, dengxu.StateScheduled) >= r.maxLength:
		return refusal(dengxu.Full, "max_length")
	case r.quota > 0 && p.joins[q] >= int64(r.quota):
		return refusal(dengxu.Full, "daily_quota")
	}
	return granted
}

func groupOr(name string) string {
	if name == "" {
		return dengxu.GroupOrdinary
	}
	return name
}

// lastEnd is when the last visit of a business id to the queue ended otherwise
// than by cancelling. An undo does not make that forgotten.
func (p *picture) lastEnd(q dengxu.QueueID, business string) int64 {
	return p.marks[store.MarkKey{Queue: q, Business: business}]
}

// onVerb judges a verb on a token by an operator.
func (p *picture) onVerb(t *store.Token, verb dengxu.Verb, req dengxu.VerbRequest, actor string) verdict {
	r := walkRules[t.Queue]
	atDesk := t.State.AtCounter() || t.State == dengxu.StateHeld
	switch {
	case verb == dengxu.VerbTransfer && (req.QueueID == "" || req.Place != nil && req.Place.After != nil && p.misplaced(t, req)):
		return refusal(dengxu.Invalid, "") // a place behind another is looked for first
	case req.Version != 0 && req.Version != t.Version:
		return refusal(dengxu.Conflict, "stale_version")
	case !dengxu.Allowed(dengxu.KindPeople, t.State, verb):
		return refusal(dengxu.Conflict, "state")
	case req.CounterID != "" && verb != dengxu.VerbTransfer && verb != dengxu.VerbResume && atDesk && req.CounterID != t.Counter:
		return refusal(dengxu.Conflict, "other_counter")
	}
	switch verb { //nolint:exhaustive // the others are always granted
	case dengxu.VerbRecall:
		switch {
		case t.CallCount >= r.maxCalls:
			return refusal(dengxu.Conflict, "max_calls")
		case p.now < t.CalledAt+r.recallGap:
			return refusal(dengxu.TooMany, "too_early")
		}
	case dengxu.VerbConfirm:
		switch {
		case t.State == dengxu.StateWaiting && !t.Asked:
			return refusal(dengxu.Conflict, "state")
		case t.State == dengxu.StateCalling && t.Confirmed:
			return refusal(dengxu.Conflict, "confirmed_already")
		}
	case dengxu.VerbCheckIn:
		if t.Why != "check_in" && t.Why != "deferred" {
			return refusal(dengxu.Conflict, "state")
		}
	case dengxu.VerbReinstate:
		if t.State == dengxu.StateScheduled && t.Why != "missed" {
			return refusal(dengxu.Conflict, "state")
		}
	case dengxu.VerbRequeue:
		if p.over(t) {
			return refusal(dengxu.Conflict, "state")
		}
	case dengxu.VerbDefer:
		if t.Defers >= r.maxDefers {
			return refusal(dengxu.Conflict, "defer_max")
		}
		if t.State.AtCounter() && p.over(t) {
			return refusal(dengxu.Conflict, "state")
		}
	case dengxu.VerbResume:
		return p.room(t, req.CounterID)
	case dengxu.VerbTransfer:
		return p.onTransfer(t, req)
	case dengxu.VerbMove:
		if req.Reason == "" || req.Place == nil {
			return refusal(dengxu.Invalid, "")
		}
	case dengxu.VerbRate:
		switch {
		case req.Stars < 1 || req.Stars > 5:
			return refusal(dengxu.Invalid, "")
		case t.Stars != 0:
			return refusal(dengxu.Conflict, "rated_already")
		}
	case dengxu.VerbUndo:
		if v := p.onUndo(t, actor); v != granted {
			return v
		}
	}
	if p.closed[t.ID] {
		return refusal(dengxu.Conflict, "state")
	}
	return granted
}

// room judges whether a token may be served again at its counter or another.
func (p *picture) room(t *store.Token, at dengxu.CounterID) verdict {
	if at == "" {
		at = t.Counter
	}
	d, ok := walkDesks[at]
	switch {
	case !ok:
		return refusal(dengxu.Invalid, "")
	case len(p.at(at)) >= d.room:
		return refusal(dengxu.Conflict, "no_room")
	}
	return granted
}

func (p *picture) onTransfer(t *store.Token, req dengxu.VerbRequest) verdict {
	r, ok := walkRules[req.QueueID]
	if !ok {
		return refusal(dengxu.Invalid, "")
	}
	if reason := p.shut(req.QueueID); reason != "" && req.QueueID != t.Queue {
		return refusal(dengxu.Closed, reason)
	}
	if p.misplaced(t, req) || p.stays(t, req) {
		return refusal(dengxu.Invalid, "")
	}
	if other := p.holder(req.QueueID, p.gen(req.QueueID), t.Business); other != nil && other.ID != t.ID {
		return refusal(dengxu.Exists, "already_in_line")
	}
	if r.maxLength > 0 && req.QueueID != t.Queue && p.count(req.QueueID, dengxu.StateWaiting, dengxu.StateScheduled) >= r.maxLength {
		return refusal(dengxu.Full, "max_length")
	}
	return granted
}

// misplaced reports whether a transfer names a counter that does not serve the
// other queue, or leaves the token without a class of it.
func (p *picture) misplaced(t *store.Token, req dengxu.VerbRequest) bool {
	r, known := walkRules[req.QueueID]
	switch {
	case !known:
		return false
	case req.CounterID != "":
		return !slices.Contains(walkDesks[req.CounterID].queues, string(req.QueueID))
	}
	class := req.Class
	if class == "" && len(r.classes) > 0 {
		class = t.Class // undeclared there and no new one given: refused
	}
	_, ok := r.class(class)
	return !ok
}

// stays reports whether a transfer leads to where the token stands.
func (p *picture) stays(t *store.Token, req dengxu.VerbRequest) bool {
	class, _ := walkRules[t.Queue].class(cmp.Or(req.Class, t.Class))
	return req.QueueID == t.Queue && class == t.Class && req.CounterID == "" && !t.Lane.Bound() && t.Gen == p.gen(t.Queue)
}

func (p *picture) onUndo(t *store.Token, actor string) verdict {
	u := t.Undo
	switch {
	case u == nil:
		return refusal(dengxu.Conflict, "nothing_to_undo")
	case u.Actor != actor:
		return refusal(dengxu.Conflict, "other_actor")
	case u.Before.Gen != p.gen(u.Before.Queue) && !u.Before.State.AtCounter():
		return refusal(dengxu.Conflict, "undo_too_late")
	case p.now >= u.Until:
		return refusal(dengxu.Conflict, "undo_too_late")
	}
	if other := p.holder(u.Before.Queue, u.Before.Gen, t.Business); other != nil && other.ID != t.ID {
		return refusal(dengxu.Exists, "already_in_line")
	}
	if u.Before.State.AtCounter() && len(p.at(u.Before.Counter)) >= walkDesks[u.Before.Counter].room {
		return refusal(dengxu.Conflict, "no_room")
	}
	return granted
}

// onCallToken judges a call by hand.
func (p *picture) onCallToken(id dengxu.CounterID, t *store.Token, req dengxu.VerbRequest) verdict {
	d := walkDesks[id]
	door := p.door[t.Queue].Door
	switch {
	case req.Reason == "":
		return refusal(dengxu.Invalid, "")
	case req.Version != 0 && req.Version != t.Version:
		return refusal(dengxu.Conflict, "stale_version")
	case !dengxu.Allowed(dengxu.KindPeople, t.State, dengxu.VerbCall):
		return refusal(dengxu.Conflict, "state")
	case !d.sees(id, t):
		return refusal(dengxu.Conflict, "not_served")
	case p.desk[id].State == dengxu.CounterPaused:
		return refusal(dengxu.Conflict, "counter_paused")
	case door == dengxu.DoorPaused || door == dengxu.DoorClosed:
		return refusal(dengxu.Closed, string(door))
	case p.over(t):
		return refusal(dengxu.Conflict, "state")
	case len(p.at(id)) >= d.room:
		return refusal(dengxu.Conflict, "counter_busy")
	}
	return granted
}

// onCall judges a call_next, and finds the token that its current means.
func (p *picture) onCall(id dengxu.CounterID, queue dengxu.QueueID, req dengxu.CallRequest) (current *store.Token, v verdict) {
	d, at := walkDesks[id], p.at(id)
	switch {
	case p.desk[id].State == dengxu.CounterPaused:
		return nil, refusal(dengxu.Conflict, "counter_paused")
	case queue != "" && !slices.Contains(d.queues, string(queue)):
		return nil, refusal(dengxu.Invalid, "not_served")
	case req.Class != "" && !slices.ContainsFunc(d.queues, func(q string) bool {
		fits := slices.Contains(walkRules[dengxu.QueueID(q)].classes, req.Class)
		return fits && d.serves(dengxu.QueueID(q), req.Class) && (queue == "" || queue == dengxu.QueueID(q))
	}):
		return nil, refusal(dengxu.Invalid, "")
	case req.Current == "" && len(at) >= d.room:
		return nil, refusal(dengxu.Conflict, "counter_busy")
	case req.Current == "":
		return nil, granted
	}
	if req.CurrentTokenID != "" {
		at = slices.DeleteFunc(at, func(t *store.Token) bool { return t.ID != req.CurrentTokenID })
	}
	switch {
	case len(at) == 0 && req.CurrentTokenID != "":
		return nil, refusal(dengxu.Conflict, "state")
	case len(at) == 0:
		return nil, granted
	case len(at) > 1:
		return nil, refusal(dengxu.Invalid, "")
	}
	current = at[0]
	return current, p.onVerb(current, dengxu.Verb(req.Current), dengxu.VerbRequest{Version: req.Version}, "")
}

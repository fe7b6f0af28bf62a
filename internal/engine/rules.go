package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/rule"
	"github.com/dengxu/dengxu/internal/store"
)

// verdict is what a queue's rules make of somebody who joins; the zero value is
// that of a queue without rules.
type verdict struct {
	rule.Outcome
	judged *store.Judged
	expect []store.Expectation // that the history is the one that was looked at
}

// judge holds a join against the rules of a queue. It reads what they ask, and
// nothing when they ask nothing that the join does not say.
func (e *Engine) judge(ctx context.Context, q *queue, by By, req dengxu.JoinRequest) (verdict, error) {
	if q.rules == nil {
		return verdict{}, nil
	}
	if err := q.checkJoin(by, &req); err != nil {
		return verdict{}, err
	}
	if req.Class != "" { // a rule may give another, and nobody would notice
		if _, err := q.classOf(req.Class); err != nil {
			return verdict{}, err
		}
	}
	attrs, err := parseAttrs(req.ExtAttrs)
	if err != nil {
		return verdict{}, err
	}
	v := verdict{judged: &store.Judged{Queue: q.id, Class: req.Class}}
	now, err := e.recollect(ctx, q, req.BusinessID, &v)
	if err != nil {
		return verdict{}, err
	}
	in := q.inputs(v.judged, now)
	in.Attrs, in.Group = attrs, cmp.Or(req.PriorityGroup, dengxu.GroupOrdinary)
	in.Party, in.Channel, in.Business = req.PartySize, req.Channel, req.BusinessID
	v.Outcome = q.rules.Evaluate(in)
	if _, declared := q.set.Classes[v.Class]; !declared {
		v.Class = "" // of a rule that could not be saved today
	}
	return v, nil
}

// inputs begins the input of the queue's rules with what they looked at beside
// the join itself.
func (q *queue) inputs(j *store.Judged, now int64) rule.Input {
	return rule.Input{
		Class: j.Class, Now: time.UnixMilli(now).In(q.site.zone), Waiting: j.Waiting,
		History: rule.History{Missed: at(j.Missed), Joined: at(j.Joined), Served: at(j.Served)},
	}
}

// rejudge holds a token that is in line against the present rules of a queue,
// with the inputs of its join. What the rules of its join did not look at is
// not known: nobody waited, and nothing had happened, as far as rules can see.
func (q *queue) rejudge(t *store.Token, j *store.Judged) rule.Outcome {
	if q.rules == nil {
		return rule.Outcome{}
	}
	in := q.inputs(j, t.JoinedAt)
	// What a record holds was checked when it was written.
	_ = json.Unmarshal(t.Attrs, &in.Attrs)
	in.Group, in.Party, in.Channel, in.Business = t.Group, t.Party, t.Channel, t.Business
	return q.rules.Evaluate(in)
}

// foresee gives a token that might join what a join that says no more would
// give it: class, factor, place and lane. Refusals are not foreseen.
func (q *queue) foresee(t *store.Token, waiting int) error {
	if t.Class != "" {
		if _, err := q.classOf(t.Class); err != nil {
			return err
		}
	}
	out := q.rejudge(t, &store.Judged{Class: t.Class, Waiting: &waiting})
	if _, declared := q.set.Classes[out.Class]; declared {
		t.Class = out.Class
	}
	class, g, err := q.standing(t.Class, t.Group)
	if err != nil {
		return err
	}
	t.Class, t.HeadStart = class, g.headStart
	if out.HeadStart != nil {
		t.HeadStart = out.HeadStart.Milliseconds()
	}
	t.Factor, t.Clipped = q.factor(t.Group, out.Delta)
	t.Lane, t.Place = q.lane(class, t.Group, t.Factor), t.JoinedAt-t.HeadStart
	return nil
}

// judgedIn is what the rules of q looked at when the token joined. Of a token
// that joined another queue, or before there were rules, only its class is
// known.
func (q *queue) judgedIn(t *store.Token) *store.Judged {
	if t.Judged != nil && t.Judged.Queue == q.id {
		return t.Judged
	}
	return &store.Judged{Queue: q.id, Class: t.Class}
}

// apply gives a joining token what the rules say.
func (v *verdict) apply(q *queue, t *store.Token) {
	if v.judged == nil {
		return
	}
	t.Judged, t.Rules = v.judged, v.Matched
	t.Factor, t.Clipped = q.factor(t.Group, v.Delta)
	t.Lane = q.lane(t.Class, t.Group, t.Factor)
	if v.HeadStart != nil {
		t.HeadStart = v.HeadStart.Milliseconds()
		t.Place = store.Now - t.HeadStart
	}
}

// factor is the factor in force, in thousandths, of a group whose members the
// rules change by delta.
func (q *queue) factor(name string, delta int32) (factor int32, clipped bool) {
	g := q.groups[name]
	if delta == 0 {
		return g.factor, g.clipped
	}
	return q.clamp(g.asked + delta)
}

// standsAs is the group and factor of a token in a queue, and how these came
// about.
type standsAs struct {
	group   string
	factor  int32
	clipped bool
	rules   []string
}

// judgeThere is how a transferred token stands in its target. The target's rules change the factor, without a history, which is of the queue
// that was joined; they neither refuse nor give another class, since somebody
// has sent the token there.
func (c *command) judgeThere(class string) standsAs {
	q, t := c.to, *c.t
	t.Group, _ = q.groupOf(c.t.Group)
	out := q.rejudge(&t, &store.Judged{Queue: q.id, Class: class})
	s := standsAs{group: t.Group, rules: out.Matched}
	s.factor, s.clipped = q.factor(t.Group, out.Delta)
	return s
}

func errRejected(r *rule.Rejection) error {
	err := dengxu.Errorf(dengxu.TooMany, "rule %s of the queue does not let this join in", r.Rule).Because(r.Reason)
	err.RetryAfter = r.RetryAfter
	return err
}

// checkRules holds rules that are to be saved against the language of
// conditions and the queue's classes.
func checkRules(set *dengxu.Queue) error {
	if _, err := rule.Compile(set.QueueRules); err != nil {
		return err
	}
	for i, r := range set.QueueRules {
		if _, declared := set.Classes[r.Class]; r.Class != "" && !declared {
			return dengxu.Fieldf(dengxu.Invalid, fmt.Sprintf("queue_rules[%d].class", i), "class %q is not declared", r.Class)
		}
	}
	return nil
}

package engine

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/rule"
	"github.com/dengxu/dengxu/internal/store"
)

// maxHolders bounds a table of example holders.
const maxHolders = 200

// TestRules says what the rules of a queue, or the rules given instead, make of
// example holders. Nobody joins and nothing is written. Codes: not_found,
// invalid with the field, such as holders[3].class or queue_rules[0].condition.
func (e *Engine) TestRules(ctx context.Context, by By, id dengxu.QueueID, req dengxu.RulesTest) (dengxu.RulesTested, error) {
	q, err := e.queue(ctx, id)
	if err != nil {
		return dengxu.RulesTested{}, err
	}
	if n := len(req.Holders); n == 0 || n > maxHolders {
		return dengxu.RulesTested{}, dengxu.Fieldf(dengxu.Invalid, "holders", "give 1 to %d holders", maxHolders)
	}
	if len(req.QueueRules) > 0 {
		if q, err = q.withRules(req.QueueRules); err != nil {
			return dengxu.RulesTested{}, err
		}
	}
	v, err := e.view(ctx, store.Ask{Partition: q.site.partition, Lines: []store.LineKey{q.line()}})
	if err != nil {
		return dengxu.RulesTested{}, err
	}
	t := ruleTest{q: q, by: by, now: v.Now, waiting: v.Lines[0].Counts[dengxu.StateWaiting]}
	out := dengxu.RulesTested{Items: make([]dengxu.RuleVerdict, len(req.Holders)), Warnings: q.ruleWarnings()}
	for i := range req.Holders {
		if out.Items[i], err = t.judge(&req.Holders[i]); err != nil {
			return dengxu.RulesTested{}, inField(fmt.Sprintf("holders[%d]", i), err)
		}
	}
	return out, nil
}

// withRules is the queue as it would be with other rules.
func (q *queue) withRules(rules []dengxu.Rule) (*queue, error) {
	set := q.set
	set.QueueRules = rules
	if err := checkRules(&set); err != nil {
		return nil, err
	}
	tried := *q
	tried.compile(set)
	return &tried, nil
}

// ruleTest is one table of holders being judged.
type ruleTest struct {
	q       *queue
	by      By
	now     int64
	waiting int
}

func (r *ruleTest) judge(h *dengxu.RuleHolder) (dengxu.RuleVerdict, error) {
	req := dengxu.JoinRequest{
		BusinessID: h.BusinessID, PriorityGroup: h.PriorityGroup, ExtAttrs: h.ExtAttrs, Class: h.Class,
		PartySize: h.PartySize, Channel: h.Channel,
	}
	if err := r.q.checkAsHolder(r.by, &req); err != nil {
		return dengxu.RuleVerdict{}, err
	}
	in, err := r.input(h, &req)
	if err != nil {
		return dengxu.RuleVerdict{}, err
	}
	out := r.q.rules.Evaluate(in)
	class, g, err := r.q.standing(cmp.Or(out.Class, req.Class), req.PriorityGroup)
	if err != nil {
		return dengxu.RuleVerdict{}, err
	}
	factor, clipped := r.q.factor(in.Group, out.Delta)
	v := dengxu.RuleVerdict{
		Matched: append([]string{}, out.Matched...), Factor: decimal(factor), Clipped: clipped, Class: class,
		HeadStartSeconds: seconds(g.headStart),
	}
	if out.HeadStart != nil {
		v.HeadStartSeconds = out.HeadStart.Seconds()
	}
	if out.Reject != nil {
		v.Reject = &dengxu.RuleRefusal{
			Rule: out.Reject.Rule, Reason: out.Reject.Reason, RetryAfterSeconds: out.Reject.RetryAfter.Seconds(),
		}
	}
	return v, nil
}

// checkAsHolder checks what a join would say of its holder, but not that all
// required fields are there: an example names what rules look at.
func (q *queue) checkAsHolder(by By, req *dengxu.JoinRequest) error {
	lenient := *q
	lenient.set.Fields = nil
	if err := lenient.checkJoin(by, req); err != nil {
		return err
	}
	if req.Class == "" {
		return nil
	}
	_, err := q.classOf(req.Class)
	return err
}

// input is what the rules look at: the holder as described, at the described
// time or now.
func (r *ruleTest) input(h *dengxu.RuleHolder, req *dengxu.JoinRequest) (rule.Input, error) {
	attrs, err := parseAttrs(req.ExtAttrs)
	if err != nil {
		return rule.Input{}, err
	}
	now := time.UnixMilli(r.now)
	if !h.Now.IsZero() {
		if now = h.Now; !plausible(now) {
			return rule.Input{}, dengxu.Fieldf(dengxu.Invalid, "now", "that is too far away")
		}
	}
	if h.Waiting != nil && *h.Waiting < 0 {
		return rule.Input{}, dengxu.Fieldf(dengxu.Invalid, "waiting", "so many cannot wait")
	}
	in := rule.Input{
		Attrs: attrs, Group: cmp.Or(req.PriorityGroup, dengxu.GroupOrdinary), Class: req.Class, Party: req.PartySize,
		Channel: req.Channel, Business: req.BusinessID, Now: now.In(r.q.site.zone), Waiting: cmp.Or(h.Waiting, &r.waiting),
	}
	err = firstError(
		pastOf(&in.History.Missed, now, "missed_ago_seconds", h.MissedAgoSeconds),
		pastOf(&in.History.Joined, now, "joined_ago_seconds", h.JoinedAgoSeconds),
		pastOf(&in.History.Served, now, "served_ago_seconds", h.ServedAgoSeconds),
	)
	return in, err
}

// pastOf sets a time so many seconds before now; nil is never.
func pastOf(t *time.Time, now time.Time, field string, ago *float64) error {
	if ago == nil {
		return nil
	}
	if err := checkSeconds(field, ago); err != nil {
		return err
	}
	*t = now.Add(-time.Duration(ms(*ago)) * time.Millisecond)
	return nil
}

// inField puts the path of what holds it before the field that an error blames.
func inField(path string, err error) error {
	coded, ok := err.(*dengxu.Error) //nolint:errorlint // errors of checks are not wrapped
	if !ok {
		return err
	}
	inner := *coded
	if inner.Field == "" {
		inner.Field = path
	} else {
		inner.Field = path + "." + inner.Field
	}
	return &inner
}

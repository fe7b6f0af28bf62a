package engine

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/order"
	"github.com/dengxu/dengxu/internal/store"
)

// formulas are the orderings in one line each.
var formulas = map[order.Discipline]string{
	order.Aging:  "(now − place) / factor, the largest is called; ties by arrival",
	order.Strict: "who has waited escalate_after_seconds goes first, the oldest first; then groups by rank, in a rank the earliest place; ties by arrival",
	order.Ratio:  "the group that owes fewest calls by its share, in it the earliest place; equal debts: the earliest place of all; ties by arrival",
	order.Epoch:  "place = day start + (joined_at − day start) × factor, the first is called; ties by arrival",
}

// Explain says why a token stands where it stands, or why it was called when
// it was. It returns NotFound for an unknown id.
func (e *Engine) Explain(ctx context.Context, id dengxu.TokenID) (dengxu.Explanation, error) {
	t, now, err := e.read(ctx, id)
	if err != nil {
		return dengxu.Explanation{}, err
	}
	out := dengxu.Explanation{
		TokenID: t.ID, Number: t.Label(), State: t.State, Class: t.Class, PriorityGroup: t.Group,
		Factor: decimal(t.Factor), Clipped: t.Clipped, HeadStartSeconds: seconds(t.HeadStart),
		JoinedAt: at(t.JoinedAt), Place: at(t.Place), Passed: t.Passed, AsOf: at(now),
	}
	q, err := e.queue(ctx, t.Queue)
	if err != nil {
		if dengxu.CodeOf(err) == dengxu.NotFound {
			err = nil // it was deleted; what the record says is still true
		}
		return out, err
	}
	out.Ordering, out.Formula = q.set.Ordering, formulas[q.rule.Discipline]
	if t.State == dengxu.StateWaiting {
		if err := e.explainAhead(ctx, q, &t, &out); err != nil {
			return out, err
		}
	}
	for _, m := range t.Compared {
		out.Compared = append(out.Compared, dengxu.LaneHead{
			Class: m.Lane.Class, Group: m.Lane.Group, Factor: factorOf(m.Lane), Place: at(m.Key.Place),
		})
	}
	out.Text = map[string]string{"en": explainEnglish(&t, &out, q.site.zone), "zh-CN": explainChinese(&t, &out, q.site.zone)}
	return out, nil
}

func factorOf(l order.Lane) float64 { return decimal(order.FactorOf(l.K)) }

// explainAhead counts who is ahead, class by class, and how many of them came
// later, in one snapshot.
func (e *Engine) explainAhead(ctx context.Context, q *queue, t *store.Token, out *dengxu.Explanation) error {
	whole := q.rankAsk(t)
	v, err := e.view(ctx, store.Ask{Partition: q.site.partition, Lines: []store.LineKey{whole.Line}})
	if err != nil {
		return err
	}
	byPlace, own := whole, whole
	byPlace.Ordering = store.Ordering{Rule: order.Rule{Discipline: order.Epoch}}
	own.Classes = []string{t.Lane.Class}
	ask := store.Ask{Partition: q.site.partition, Ranks: []store.RankAsk{whole, byPlace, own}}
	classes := []string{t.Lane.Class}
	for _, l := range v.Lines[0].Lanes {
		class := l.Lane.Class
		foreign := whole.Classes != nil && !slices.Contains(whole.Classes, class)
		if slices.Contains(classes, class) || foreign || store.BoundClass(l.Lane) != "" {
			continue
		}
		classes = append(classes, class)
		one := whole
		one.Classes = []string{class}
		ask.Ranks = append(ask.Ranks, one)
	}
	if v, err = e.view(ctx, ask); err != nil {
		return err
	}
	out.Rank, out.AsOf = &v.Ranks[0], at(v.Now)
	out.Passed = max(0, v.Ranks[0]-v.Ranks[1])
	for i, class := range classes {
		n := v.Ranks[i+2]
		if i > 0 {
			n -= v.Ranks[2] // a rank counts the own class always
		}
		if n > 0 {
			out.Ahead = append(out.Ahead, dengxu.LaneAhead{Class: class, Ahead: n})
		}
	}
	return nil
}

func explainEnglish(t *store.Token, x *dengxu.Explanation, zone *time.Location) string {
	s := fmt.Sprintf("%s joined at %s as %s", x.Number, x.JoinedAt.In(zone).Format("15:04:05"), x.PriorityGroup)
	if x.Factor != 1 {
		s += fmt.Sprintf("; its wait counts %.4g times", 1/x.Factor)
	}
	if x.HeadStartSeconds != 0 {
		s += fmt.Sprintf("; head start %g s", x.HeadStartSeconds)
	}
	if x.Clipped {
		s += "; the factor was limited by the queue's settings"
	}
	switch {
	case x.Rank != nil && *x.Rank == 0:
		s += "; it is next"
	case x.Rank != nil:
		s += fmt.Sprintf("; %d ahead", *x.Rank)
		if x.Passed > 0 {
			s += fmt.Sprintf(", of whom at least %d came later: their wait counts for more", x.Passed)
		}
	case t.FirstCalled != 0 && x.Passed == 0:
		s += "; when it was called nobody had an earlier place"
	case t.FirstCalled != 0:
		s += fmt.Sprintf("; when it was called it passed %d with an earlier place, because its wait counted for more", x.Passed)
	}
	return s + "."
}

func explainChinese(t *store.Token, x *dengxu.Explanation, zone *time.Location) string {
	s := fmt.Sprintf("%s 于 %s 取号，优先组 %s", x.Number, x.JoinedAt.In(zone).Format("15:04:05"), x.PriorityGroup)
	if x.Factor != 1 {
		s += fmt.Sprintf("，等待时间按 %.4g 倍计算", 1/x.Factor)
	}
	if x.HeadStartSeconds != 0 {
		s += fmt.Sprintf("，提前量 %g 秒", x.HeadStartSeconds)
	}
	if x.Clipped {
		s += "，系数受队列设置限制"
	}
	switch {
	case x.Rank != nil && *x.Rank == 0:
		s += "，下一位就是"
	case x.Rank != nil:
		s += fmt.Sprintf("，前面还有 %d 位", *x.Rank)
		if x.Passed > 0 {
			s += fmt.Sprintf("，其中至少 %d 位来得更晚，但等待计得更快", x.Passed)
		}
	case t.FirstCalled != 0 && x.Passed == 0:
		s += "，叫号时没有更早的号"
	case t.FirstCalled != 0:
		s += fmt.Sprintf("，叫号时先于 %d 个更早的号，因为其等待计得更快", x.Passed)
	}
	return s + "。"
}

// History is the token's intervals in its states, and the times that follow
// from them. It returns NotFound for an unknown id.
func (e *Engine) History(ctx context.Context, id dengxu.TokenID) (dengxu.History, error) {
	t, now, err := e.read(ctx, id)
	if err != nil {
		return dengxu.History{}, err
	}
	out := dengxu.History{TokenID: t.ID, Number: t.Label(), WaitSeconds: seconds(waited(&t, now))}
	spans := slices.Clone(t.Spans)
	present := store.Span{State: t.State, From: t.Since, Queue: t.Queue, Counter: t.Counter}
	if t.State == dengxu.StateWaiting || t.State == dengxu.StateScheduled {
		present.Counter = ""
	}
	spans = append(spans, present)
	for _, s := range spans {
		out.Spans = append(out.Spans, dengxu.Span{
			State: s.State, From: at(s.From), To: at(s.To), QueueID: s.Queue, CounterID: s.Counter,
			Actor: s.Actor, Verb: s.Verb, Reason: s.Reason, Implicit: s.Implicit,
		})
		until := s.To
		if until == 0 {
			until = now
		}
		switch s.State { //nolint:exhaustive // only these have a time of their own
		case dengxu.StateCalling:
			out.WalkSeconds += seconds(until - s.From)
		case dengxu.StateServing:
			out.ServiceSeconds += seconds(until - s.From)
		case dengxu.StateHeld:
			out.HoldSeconds += seconds(until - s.From)
		}
	}
	return out, nil
}

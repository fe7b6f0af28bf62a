package ctl

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/client"
)

// foresee asks the server about the rules that a plan would write and notes why
// it would refuse them. Rules of a new queue are tried at another queue of the
// site, for what a condition means is the same in all; without any they are not
// tried.
func foresee(ctx context.Context, c *client.Client, plan []step, now state) error {
	for i := range plan {
		s := &plan[i]
		set, isQueue := s.set.(dengxu.Queue)
		if !isQueue || s.idle() || s.Hindrance != "" || len(set.QueueRules) == 0 {
			continue
		}
		rules, refused := withoutClasses(set)
		if refused != nil {
			s.Hindrance = hindranceOf(refused)
			continue
		}
		at, some := triedAt(dengxu.QueueID(s.ID), now.queues)
		if !some {
			continue
		}
		_, err := c.TestRules(ctx, at, dengxu.RulesTest{Holders: []dengxu.RuleHolder{{}}, QueueRules: rules})
		if e, coded := errors.AsType[*dengxu.Error](err); coded && e.Code == dengxu.Invalid {
			if strings.HasPrefix(e.Field, "queue_rules") { // else it is about the example
				s.Hindrance = hindranceOf(e)
			}
		} else if err != nil {
			return err
		}
	}
	return nil
}

func hindranceOf(e *dengxu.Error) string {
	return "it is refused: " + strings.TrimPrefix(e.Error(), string(e.Code)+": ")
}

// triedAt is the queue at which rules are tried: their own or, when that is new,
// any other of people.
func triedAt(own dengxu.QueueID, queues []dengxu.QueueView) (at dengxu.QueueID, some bool) {
	for _, q := range queues {
		if q.ID == own {
			return own, true
		}
		if !some && q.Kind != dengxu.KindTask {
			at, some = q.ID, true
		}
	}
	return at, some
}

// withoutClasses is the rules of settings as they can be tried at a queue that
// does not have its new classes yet. A class that these settings do not declare
// is refused here.
func withoutClasses(set dengxu.Queue) ([]dengxu.Rule, *dengxu.Error) {
	rules := slices.Clone(set.QueueRules)
	for i := range rules {
		r := &rules[i]
		if r.Class == "" {
			continue
		}
		if _, declared := set.Classes[r.Class]; !declared {
			return nil, dengxu.Fieldf(dengxu.Invalid, fmt.Sprintf("queue_rules[%d].class", i), "class %q is not declared", r.Class)
		}
		if r.Reject == "" { // which does not go with a class
			r.Class = ""
			if r.Action == "" && r.HeadStartSeconds == nil {
				r.HeadStartSeconds = new(0.0) // a rule must do something
			}
		}
	}
	return rules, nil
}

// orderInUse says why a queue cannot get another ordering or day's end now.
func orderInUse(have, want dengxu.Queue, now dengxu.QueueView) string {
	if in := queueInUse(now); in != "" && (have.Ordering != want.Ordering || have.DayEnd != want.DayEnd) {
		return "ordering and day_end change only while nobody is in line, and " + in
	}
	return ""
}

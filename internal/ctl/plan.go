package ctl

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/dengxu/dengxu"
)

// state is a site as the server has it; site is nil when there is none.
type state struct {
	site     *dengxu.SiteView
	queues   []dengxu.QueueView
	counters []dengxu.CounterView
}

// Action is what a plan does to one thing.
type Action string

// The actions. Left means that the server has it, the file does not, and it
// stays, because pruning was not asked for.
const (
	Same   Action = "same"
	Create Action = "create"
	Change Action = "change"
	Delete Action = "delete"
	Left   Action = "left"
)

// step is what happens to one site, queue or counter.
type step struct {
	Kind        string       `json:"kind"`
	ID          string       `json:"id"`
	Action      Action       `json:"action"`
	Differences []difference `json:"differences,omitempty"`
	// Hindrance is why the server would refuse it now, as far as that is known.
	Hindrance string `json:"hindrance,omitempty"`
	Done      bool   `json:"done"`

	set     any    // dengxu.Site, Queue or Counter: what is written
	version uint64 // that it is written over
}

// idle reports whether a step changes nothing.
func (s *step) idle() bool { return s.Action == Same || s.Action == Left }

// difference is one setting in force that the file has otherwise.
type difference struct {
	Path string `json:"path"`
	From any    `json:"from"`
	To   any    `json:"to"`
}

// newPlan compares settings in force on both sides and says what makes the
// server like the file, in the order in which things depend on each other.
func newPlan(f *siteFile, now state, prune bool) ([]step, error) {
	if err := checkReferences(f, now, prune); err != nil {
		return nil, err
	}
	steps := []step{siteStep(f, now.site)}
	for _, q := range f.queues {
		steps = append(steps, queueStep(q, now.queues))
	}
	for _, c := range f.counters {
		steps = append(steps, counterStep(c, now.counters))
	}
	surplus := Left
	if prune {
		surplus = Delete
	}
	for _, c := range now.counters {
		if !slices.ContainsFunc(f.counters, func(in fileCounter) bool { return in.id == c.ID }) {
			steps = append(steps, step{Kind: "counter", ID: string(c.ID), Action: surplus, Hindrance: counterInUse(c), version: c.Version})
		}
	}
	for _, q := range now.queues {
		if !slices.ContainsFunc(f.queues, func(in fileQueue) bool { return in.id == q.ID }) {
			steps = append(steps, step{Kind: "queue", ID: string(q.ID), Action: surplus, Hindrance: queueInUse(q), version: q.Version})
		}
	}
	return steps, nil
}

// counterInUse says why a counter cannot be deleted now.
func counterInUse(c dengxu.CounterView) string {
	if len(c.Tokens) == 0 {
		return ""
	}
	numbers := make([]string, len(c.Tokens))
	for i, t := range c.Tokens {
		numbers[i] = t.Number
	}
	return "it still has " + strings.Join(numbers, ", ")
}

// queueInUse says why a queue cannot be deleted now.
func queueInUse(q dengxu.QueueView) string {
	active := 0
	for state, n := range q.Counts {
		if !state.Ended() {
			active += n
		}
	}
	if active == 0 {
		return ""
	}
	return fmt.Sprintf("%d are still in it", active)
}

// checkReferences refuses a counter that names a queue which will not be there.
func checkReferences(f *siteFile, now state, prune bool) error {
	known := make(map[dengxu.QueueID]bool)
	for _, q := range f.queues {
		known[q.id] = true
	}
	if !prune {
		for _, q := range now.queues {
			known[q.ID] = true
		}
	}
	for _, c := range f.counters {
		for _, q := range c.set.Queues {
			if !known[q.ID] {
				return c.at.Errorf("counter %s serves queue %s, which is not there", c.id, q.ID)
			}
		}
	}
	return nil
}

func siteStep(f *siteFile, now *dengxu.SiteView) step {
	s := step{Kind: "site", ID: string(f.id), Action: Create, set: f.site}
	if now == nil {
		return s
	}
	set := f.site
	set.TimeZone = cmp.Or(set.TimeZone, now.TimeZone) // the machine's was recorded
	s.set, s.version = set, now.Version
	have, want := now.Site.WithDefaults(), set.WithDefaults()
	have.Name, want.Name = cmp.Or(have.Name, s.ID), cmp.Or(want.Name, s.ID)
	return s.compare(have, want)
}

func queueStep(q fileQueue, now []dengxu.QueueView) step {
	s := step{Kind: "queue", ID: string(q.id), Action: Create, set: q.set}
	i := slices.IndexFunc(now, func(v dengxu.QueueView) bool { return v.ID == q.id })
	if i < 0 {
		return s
	}
	s.version = now[i].Version
	have, want := now[i].Queue.WithDefaults(), q.set.WithDefaults()
	s.Hindrance = orderInUse(have, want, now[i])
	have.Name, want.Name = cmp.Or(have.Name, s.ID), cmp.Or(want.Name, s.ID)
	return s.compare(have, want)
}

func counterStep(c fileCounter, now []dengxu.CounterView) step {
	s := step{Kind: "counter", ID: string(c.id), Action: Create, set: c.set}
	i := slices.IndexFunc(now, func(v dengxu.CounterView) bool { return v.ID == c.id })
	if i < 0 {
		return s
	}
	s.version = now[i].Version
	have, want := now[i].Counter.WithDefaults(), c.set.WithDefaults()
	have.Name, want.Name = cmp.Or(have.Name, s.ID), cmp.Or(want.Name, s.ID)
	return s.compare(have, want)
}

func (s step) compare(have, want any) step {
	s.Differences = differences("", tree(have), tree(want))
	s.Action = Same
	if len(s.Differences) > 0 {
		s.Action = Change
	}
	return s
}

// tree is v as JSON has it.
func tree(v any) any {
	text, err := json.Marshal(v)
	var t any
	if err == nil {
		err = json.Unmarshal(text, &t)
	}
	if err != nil {
		panic(fmt.Sprintf("settings that were read cannot be written: %v", err))
	}
	return t
}

// differences lists where two trees differ, by path, mapping by mapping.
func differences(path string, from, to any) []difference {
	if path == "queue_rules" {
		if all, named := ruleDifferences(path, from, to); named {
			return all
		}
	}
	a, okA := from.(map[string]any)
	b, okB := to.(map[string]any)
	if !okA || !okB {
		if reflect.DeepEqual(from, to) {
			return nil
		}
		return []difference{{path, from, to}}
	}
	keys := maps.Clone(a)
	maps.Copy(keys, b)
	var all []difference
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		below := key
		if path != "" {
			below = path + "." + key
		}
		all = append(all, differences(below, a[key], b[key])...)
	}
	return all
}

// ruleDifferences lists where two lists of rules differ, by the names of rules;
// their order is one difference, because of two rules the last or the first one
// may count. Rules without names of their own are not named.
func ruleDifferences(path string, from, to any) (all []difference, named bool) {
	a, namesA, okA := byName(from)
	b, namesB, okB := byName(to)
	if !okA || !okB {
		return nil, false
	}
	for _, name := range namesA {
		all = append(all, differences(path+"."+name, a[name], b[name])...)
	}
	gone := func(have map[string]any) func(string) bool {
		return func(name string) bool { _, is := have[name]; return !is }
	}
	for _, name := range namesB {
		if _, is := a[name]; !is {
			all = append(all, difference{path + "." + name, nil, b[name]})
		}
	}
	before, after := slices.DeleteFunc(slices.Clone(namesA), gone(b)), slices.DeleteFunc(slices.Clone(namesB), gone(a))
	if !slices.Equal(before, after) {
		all = append(all, difference{path + " in the order", before, after})
	}
	return all, true
}

// byName is a list of rules by name, with the names in their order.
func byName(list any) (rules map[string]any, names []string, ok bool) {
	items, isList := list.([]any)
	if list != nil && !isList {
		return nil, nil, false
	}
	rules = make(map[string]any, len(items))
	for _, item := range items {
		rule, _ := item.(map[string]any)
		name, _ := rule["name"].(string)
		if rules[name] != nil || name == "" {
			return nil, nil, false
		}
		rules[name] = rule
		names = append(names, name)
	}
	return rules, names, true
}

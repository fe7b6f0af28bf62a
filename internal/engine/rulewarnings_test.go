package engine

import (
	"slices"
	"strings"
	"testing"

	"github.com/dengxu/dengxu"
)

// warned wants one warning with all of the words.
func (r *rig) warned(id dengxu.QueueID, words ...string) {
	r.Helper()
	v, err := r.Queue(r.Context(), id)
	if err != nil {
		r.Fatal(err)
	}
	if !slices.ContainsFunc(v.Warnings, func(w string) bool {
		return !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(w, word) })
	}) {
		r.Errorf("no warning has %q: %q", words, v.Warnings)
	}
}

func TestRuleWarnings(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.site("hall", `{"time_zone":"Asia/Tokyo"}`)
	rule := func(effect string) string { return `"queue_rules":[{"name":"x","condition":"true",` + effect + `}]` }
	for set, words := range map[string][]string{
		`"min_factor":1,` + rule(`"action":"-0.3"`):                                          {"action of rule x changes nothing", "min_factor"},
		`"max_overtake":2,` + rule(`"action":"+0.5"`):                                        {"action of rule x changes nothing"},
		`"max_overtake":2,` + rule(`"head_start_seconds":60`):                                {"head start of rule x escapes max_overtake"},
		`"ordering":"strict",` + rule(`"action":"-0.3"`):                                     {"rule x changes nothing", "ordering strict"},
		`"ordering":"strict","escalate_after_seconds":60,` + rule(`"head_start_seconds":60`): {"head start of rule x", "overdue"},
		`"groups":{"VIP":{"factor":0.5}},` + rule(`"action":"-0.25"`):                        {"up to 4.0 times", "groups alone 2.0"},
	} {
		r.queue("main", `{"site":"hall",`+set+`}`)
		r.warned("main", words...)
		if _, err := r.PutQueue(t.Context(), staffer, "main", setting[dengxu.Queue](t, `{"site":"hall"}`), 0); err != nil {
			t.Fatal(err)
		}
	}
	if v, err := r.Queue(t.Context(), "main"); err != nil || len(v.Warnings) > 0 {
		t.Errorf("no rules, and warnings %q %v", v.Warnings, err)
	}
	r.queue("main", `{"site":"hall","queue_rules":[{"name":"x","condition":"true","reject":"no"}]}`)
	if v, err := r.Queue(t.Context(), "main"); err != nil || len(v.Warnings) > 0 {
		t.Errorf("a plain rule, and warnings %q %v", v.Warnings, err)
	}
}

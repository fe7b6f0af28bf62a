package httpapi

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dengxu/dengxu"
)

// TestRulesOverHTTP: a broken rule has its place, a refusal its time, and
// judging anew needs its right.
func TestRulesOverHTTP(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	p := r.refused("admin", patchM, "/queue/main", `{"queue_rules":[{"name":"a","condition":"age >= 70","action":"-0.2"}]}`, dengxu.Invalid)
	if p.Field != "queue_rules[0].condition" || !strings.Contains(p.Detail, "line 1, column 1: unknown name age") {
		t.Errorf("field %s: %s", p.Field, p.Detail)
	}
	r.join("main", `{"ext_attrs":{"age":80}}`)
	r.must("admin", patchM, "/queue/main", `{"queue_rules":[{"name":"elderly","condition":"ext_attrs.age >= 70","action":"-0.2"},
		{"name":"once","condition":"joined_within(\"30m\")","reject":"once"}]}`, 200, nil)
	ann := r.join("main", `{"business_id":"ann"}`)
	r.must("admin", post, "/token/"+string(ann.ID)+"/cancel", "", 200, nil)
	a := r.do("admin", post, "/queue/main/join", `{"business_id":"ann"}`)
	if p := a.problem(t); a.status != http.StatusTooManyRequests || p.Reason != "once" || a.header.Get("Retry-After") == "" {
		t.Errorf("%d %+v, Retry-After %q", a.status, p, a.header.Get("Retry-After"))
	}
	var tested dengxu.RulesTested
	r.must("admin", post, "/queue/main/rules/test", `{"holders":[{"ext_attrs":{"age":71}},{"joined_ago_seconds":1740}]}`, 200, &tested)
	want := []dengxu.RuleVerdict{
		{Matched: []string{"elderly"}, Factor: 0.8},
		{Matched: []string{"once"}, Factor: 1, Reject: &dengxu.RuleRefusal{Rule: "once", Reason: "once", RetryAfterSeconds: 60}},
	}
	if diff := cmp.Diff(want, tested.Items); diff != "" {
		t.Errorf("tested (-want +got):\n%s", diff)
	}
	r.refused("admin", post, "/queue/main/rules/test", `{"holders":[{"age":71}]}`, dengxu.Invalid)

	r.key("junior", dengxu.Key{Role: dengxu.RoleOperator, Sites: []dengxu.SiteID{"hall"}})
	r.key("senior", dengxu.Key{Role: dengxu.RoleOperator, Sites: []dengxu.SiteID{"hall"}, Rights: []string{"move"}})
	if p := r.refused("junior", post, "/queue/main/rules/reapply", "", dengxu.Forbidden); p.Reason != "move" {
		t.Errorf("without the right: %+v", p)
	}
	for _, changed := range []int{1, 0} {
		var done dengxu.RulesReapplied
		r.must("senior", post, "/queue/main/rules/reapply", "", 200, &done)
		if want := (dengxu.RulesReapplied{Checked: 1, Changed: changed}); done != want {
			t.Errorf("reapplied %+v, want %+v", done, want)
		}
	}
}

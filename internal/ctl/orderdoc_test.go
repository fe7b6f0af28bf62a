package ctl

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/client"
	"github.com/dengxu/dengxu/dengxutest"
)

const documented = `
site: hall
time_zone: Asia/Shanghai
queues:
  bank: {groups: {VIP: {factor: 0.5}}}
  triage: {prefix: T, ordering: strict, escalate_after_seconds: 3600, groups: {red: {rank: 0}, yellow: {rank: 1}}}
  members: {prefix: M, ordering: ratio, groups: {VIP: {share: 3}}}
  day: {prefix: D, ordering: epoch, groups: {VIP: {factor: 0.5}}}
counters:
  "1": {queues: [bank]}
  "2": {queues: [triage]}
  "3": {queues: [members]}
  "4": {queues: [day]}
`

// TestThePageOfOrderings: what docs/ordering.md shows of explain is what it
// says.
func TestThePageOfOrderings(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/ordering.md")
	if err != nil {
		t.Fatal(err)
	}
	s := dengxutest.NewServer(t, dengxutest.Options{Bare: true})
	file := filepath.Join(t.TempDir(), "hall.yaml")
	if err := os.WriteFile(file, []byte(documented), 0o600); err != nil {
		t.Fatal(err)
	}
	ok(t, s, "apply", "-f", file)
	join := func(q dengxu.QueueID, group string) {
		t.Helper()
		if _, err := s.Client.Join(t.Context(), q, client.JoinRequest{PriorityGroup: group}); err != nil {
			t.Fatal(err)
		}
	}
	call := func(counters ...dengxu.CounterID) {
		t.Helper()
		for _, c := range counters {
			o := client.CallOptions{CallRequest: dengxu.CallRequest{Current: "complete"}}
			if out, err := s.Client.CallNext(t.Context(), c, o); err != nil || out.Token == nil {
				t.Fatalf("counter %s: %+v, %v", c, out, err)
			}
		}
	}
	for _, q := range []dengxu.QueueID{"bank", "triage", "members", "members", "day"} {
		join(q, "")
	}
	join("triage", "yellow")
	call("3")
	s.Clock.Advance(6 * time.Minute)
	for q, group := range map[dengxu.QueueID]string{"bank": "VIP", "triage": "red", "members": "VIP", "day": "VIP"} {
		join(q, group)
	}
	s.Clock.Advance(8 * time.Minute)
	call("1", "2", "3", "4")
	for _, args := range [][]string{{"A001"}, {"A002", "--lang", "zh-CN"}, {"T001"}, {"M003"}, {"D001"}} {
		out := ok(t, s, append([]string{"explain", "--of-site", "hall"}, args...)...)
		shown := "$ dengxu ctl explain " + args[0] + " --of-site hall" + strings.Join(append([]string{""}, args[1:]...), " ") + "\n" + out + "```\n"
		if !strings.Contains(string(page), shown) {
			t.Errorf("the page does not show\n%s", shown)
		}
	}
}

package app

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/client"
)

// TestWhatWasToldIsMeasured: once somebody who was told a wait is called, the
// metrics say how right that was, by who was ahead and by the hour.
func TestWhatWasToldIsMeasured(t *testing.T) {
	t.Parallel()
	a := start(t, Options{AdminListen: "127.0.0.1:0", AdminKey: testKey})
	defer stop(t, a)
	c, err := client.New(client.Options{URL: a.URL(), Key: testKey, HTTP: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}})
	if err != nil {
		t.Fatal(err)
	}
	metrics := func() string {
		_, body := ask(t, "GET", "http://"+a.AdminAddr().String()+"/metrics", "", "")
		return body
	}
	for _, ahead := range []string{"0", "1", "2", "3-4", "5-9", "10-19", "20+"} {
		if want := fmt.Sprintf("dengxu_estimates_scored_total{ahead=%q} 0\n", ahead); !strings.Contains(metrics(), want) {
			t.Errorf("before anybody was called there is no %s", want)
		}
	}
	cursor, err := c.Cursor(t.Context(), "main")
	if err != nil {
		t.Fatal(err)
	}
	must[dengxu.CounterView](t, a, "POST", "/counter/1/open", "")
	for range 3 {
		must[dengxu.Ticket](t, a, "POST", "/queue/main/join", "")
	}
	for range 3 {
		must[dengxu.Token](t, a, "POST", "/counter/1/call_next", `{"current":"complete"}`)
	}
	calls := 0
	for e, err := range c.Events(t.Context(), "main", cursor) { // told after the engine
		if err != nil {
			t.Fatal(err)
		}
		if e.Type == dengxu.EventCalled {
			calls++
		}
		if calls == 3 {
			break
		}
	}
	lines := strings.Split(metrics(), "\n")
	for _, want := range []string{
		// The first found the counter free, which is no estimate, and was taken at
		// once: the others stood behind nobody and behind one, and waited less than
		// a service.
		`dengxu_estimates_scored_total{ahead="0"} 1`,
		`dengxu_estimates_free_total 1`,
		`dengxu_estimates_scored_total{ahead="1"} 1`,
		`dengxu_estimates_scored_total{ahead="2"} 0`,
		`dengxu_estimates_scored_total{ahead="3-4"} 0`,
		`dengxu_estimates_within_total{ahead="1",quantile="0.1"} 1`,
		`dengxu_estimates_within_total{ahead="1",quantile="0.5"} 1`,
		`dengxu_estimates_within_total{ahead="1",quantile="0.9"} 1`,
	} {
		if !slices.Contains(lines, want) {
			t.Errorf("no %s in the metrics", want)
		}
	}
	for _, name := range []string{
		"dengxu_estimates_wait_seconds_total{ahead=", "dengxu_estimates_deviation_seconds_total{ahead=", "dengxu_estimates_bias_seconds{ahead=",
		"dengxu_estimates_hour_scored_total{hour=", "dengxu_estimates_hour_within_total{hour=", "dengxu_estimates_hour_wait_seconds_total{hour=",
		"dengxu_estimates_hour_deviation_seconds_total{hour=", "dengxu_estimates_hour_bias_seconds{hour=",
	} {
		if !slices.ContainsFunc(lines, func(line string) bool { return strings.HasPrefix(line, name) }) {
			t.Errorf("no %s in the metrics", name)
		}
	}
}

package ctl

import (
	"strings"
	"testing"
	"time"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/client"
	"github.com/dengxu/dengxu/dengxutest"
)

func TestTimesOfAnotherDayHaveTheirDate(t *testing.T) {
	t.Parallel()
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 3, 2, 22, 30, 0, 0, time.UTC)
	for _, row := range []struct {
		after time.Duration
		want  string
	}{
		{0, "23:30:00 CET"},
		{29 * time.Minute, "23:59:00 CET"},
		{31 * time.Minute, "2026-03-03 00:01:00 CET"},
		{-24 * time.Hour, "2026-03-01 23:30:00 CET"},
	} {
		if got := clock(now.Add(row.after), berlin, now); got != row.want {
			t.Errorf("after %s: %s, want %s", row.after, got, row.want)
		}
	}
}

// booking is a server at 09:00 in Berlin with a queue that takes bookings.
func booking(t *testing.T) *dengxutest.Server {
	t.Helper()
	s := dengxutest.NewServer(t, dengxutest.Options{Bare: true})
	ok(t, s, "site", "put", "hall", "{time_zone: Europe/Berlin}")
	ok(t, s, "queue", "put", "doctor", "{site: hall, day_end: keep, appointments: {early_seconds: 0}, check_in: {required: remote, within_seconds: 900}}")
	now := s.Clock.Now()
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	nine := time.Date(now.Year(), now.Month(), now.Day()+1, 9, 0, 0, 0, berlin)
	s.Clock.Advance(nine.Sub(now))
	return s
}

// TestPositionsSayWhen: until when somebody is away, on which day, and until
// when to check in.
func TestPositionsSayWhen(t *testing.T) {
	t.Parallel()
	s := booking(t)
	tomorrow := s.Clock.Now().Add(24 * time.Hour)
	ok(t, s, "join", "doctor", "--appointment", "10:00")
	ok(t, s, "join", "doctor", "--appointment", tomorrow.Format(time.RFC3339))
	ok(t, s, "join", "doctor", "--appointment", "09:30", "--channel", "web")
	for number, want := range map[string]string{
		"A001": "scheduled until 10:00:00 ",
		"A002": "scheduled until " + tomorrow.Format(time.DateOnly) + " 09:00:00 ",
		"A003": "scheduled, check in by 09:45:00 ",
	} {
		if out := ok(t, s, "position", "--of-site", "hall", number); !strings.Contains(out, want) {
			t.Errorf("%s: no %q in\n%s", number, want, out)
		}
	}
	if out := ok(t, s, "tokens", "list", "--site", "hall"); !strings.Contains(out, "  09:00:00 ") {
		t.Errorf("joined today:\n%s", out)
	}
	s.Clock.Advance(24 * time.Hour)
	if out := ok(t, s, "tokens", "list", "--site", "hall"); !strings.Contains(out, " 09:00:00 ") || strings.Contains(out, "  09:00:00 ") {
		t.Errorf("joined yesterday:\n%s", out)
	}
}

func TestAppointmentsAreReadOrRefused(t *testing.T) {
	t.Parallel()
	s := booking(t)
	r := ctl(t, s, "join", "doctor", "--appointment", "tomorrow")
	if r.code != ExitRefused || !strings.Contains(r.err, "HH:MM, today in the site's time zone") {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
	out := ok(t, s, "--json", "join", "doctor", "--appointment", "17:05")
	if want := s.Clock.Now().Add(8*time.Hour + 5*time.Minute).UTC().Format("2006-01-02T15:04:05"); !strings.Contains(out, `"appointment_at": "`+want) {
		t.Errorf("no %s in\n%s", want, out)
	}
}

func TestJoinsOfATerminalAreOfStaff(t *testing.T) {
	t.Parallel()
	s := dengxutest.NewServer(t)
	ok(t, s, "queue", "patch", "main", `{queue_rules: [{name: web, condition: 'channel == "web"', action: "+0.5"}]}`)
	ok(t, s, "join", "main")
	ok(t, s, "join", "main", "--channel", "web")
	page, err := s.Client.QueueTokens(t.Context(), "main", dengxu.TokenFilter{})
	if err != nil || len(page.Items) != 2 || page.Items[0].Channel != "staff" || page.Items[1].Factor != 1.5 {
		t.Errorf("%+v, %v", page.Items, err)
	}
}

func TestAMoveNeedsItsReason(t *testing.T) {
	t.Parallel()
	s := dengxutest.NewServer(t)
	ticket, err := s.Client.Join(t.Context(), "main", client.JoinRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if r := ctl(t, s, "move", string(ticket.ID), "--place", "tail"); r.code != ExitUsage || !strings.Contains(r.err, "--reason") {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
	ok(t, s, "move", string(ticket.ID), "--place", "tail", "--reason", "asked to")
}

func TestAPatchFromItsFile(t *testing.T) {
	t.Parallel()
	s := dengxutest.NewServer(t)
	file := written(t, "patch.json", `{"name": "Counter hall"}`)
	if out := ok(t, s, "queue", "patch", "main", "-f", file); !strings.Contains(out, "name: Counter hall") {
		t.Errorf("patched:\n%s", out)
	}
	for _, args := range [][]string{{}, {"{name: x}", "-f", file}, {"-f", written(t, "bad.json", "{")}} {
		if r := ctl(t, s, append([]string{"queue", "patch", "main"}, args...)...); r.code != ExitUsage {
			t.Errorf("%v: exit %d: %s", args, r.code, r.err)
		}
	}
}

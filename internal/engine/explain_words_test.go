package engine

import (
	"strings"
	"testing"
	"time"

	"github.com/dengxu/dengxu"
)

// says holds what is said of a token against parts that must and, after a "!",
// must not be in it, in English or Chinese.
func (r *rig) says(id dengxu.TokenID, parts ...string) {
	r.Helper()
	text := r.explain(id).Text
	all := text["en"] + "\n" + text["zh-CN"]
	for _, part := range parts {
		part, not := strings.CutPrefix(part, "!")
		if strings.Contains(all, part) == not {
			r.Errorf("%q there: %t in\n%s", part, !not, all)
		}
	}
}

// TestExplainSaysHowItCameFirst: who was called before somebody who came earlier
// is not told that nobody was before.
func TestExplainSaysHowItCameFirst(t *testing.T) {
	t.Parallel()
	r := surgery(t, `"groups":{"VIP":{"head_start_seconds":900}},"appointments":{}`)
	booked := r.book(on(10, 0), dengxu.JoinRequest{})
	r.pass(45 * time.Minute)
	ann := r.join("main", dengxu.JoinRequest{}) // 09:45, behind 10:00 less the head start of appointments
	if got := r.call("1"); got.ID != booked.ID {
		t.Fatalf("called %s", got.Number)
	}
	r.says(booked.ID, "when it was called it passed 1 who came before its booked time, by its appointment", "因预约先于 1 个", "!nobody had")
	r.clock.Advance(5 * time.Minute)
	vip := r.join("main", dengxu.JoinRequest{PriorityGroup: "VIP"})
	if got := r.call("1"); got.ID != vip.ID {
		t.Fatalf("called %s", got.Number)
	}
	r.says(vip.ID, "when it was called it passed 1 who came earlier, by its head start", "叫号时先于 1 个来得更早的号（因提前量）", "!nobody had")
	r.mustCall("1", ann.Number)
	r.says(ann.ID, "when it was called nobody had an earlier place", "!came earlier")
}

// TestExplainSaysOfALateJoin: a join after the late window has no better place
// than any other.
func TestExplainSaysOfALateJoin(t *testing.T) {
	t.Parallel()
	r := surgery(t, `"appointments":{}`)
	const late = "it joined late for it, and has the place of its joining"
	r.says(r.book(on(8, 49), dengxu.JoinRequest{}).ID, late, "取号时已迟到")
	r.says(r.book(on(8, 50), dengxu.JoinRequest{}).ID, "!"+late)
	r.says(r.book(on(10, 0), dengxu.JoinRequest{}).ID, "!"+late)
}

func TestExplainSaysHowItEnded(t *testing.T) {
	t.Parallel()
	r := surgery(t, `"appointments":{},"check_in":{"required":"remote","within_seconds":60},"missed":{"policy":"keep"}`)
	remote := r.join("main", dengxu.JoinRequest{Channel: "web"})
	gone, served, missed := r.join("main", dengxu.JoinRequest{}), r.join("main", dengxu.JoinRequest{}), r.join("main", dengxu.JoinRequest{})
	r.do(dengxu.VerbCancel, gone.ID, dengxu.VerbRequest{Reason: "feels better"})
	r.says(gone.ID, "It was cancelled at 09:00:00 (feels better).", "09:00:00 取消（feels better）。")
	r.pass(time.Minute)
	r.says(remote.ID, "It was given up at 09:01:00 (it did not check in).", "09:01:00 作放弃处理（未报到）。")
	r.mustCall("1", served.Number)
	r.do(dengxu.VerbComplete, served.ID, dengxu.VerbRequest{})
	r.says(served.ID, "It was completed at 09:01:00.")
	r.mustCall("1", missed.Number)
	r.says(missed.ID, "!out of the line")
	r.do(dengxu.VerbMiss, missed.ID, dengxu.VerbRequest{})
	r.says(missed.ID, "It did not come to its call and has been out of the line since 09:01:00.")
}

// TestExplainSpeaksOfACallInThePast: who was called is not told what can happen
// to it while it waits.
func TestExplainSpeaksOfACallInThePast(t *testing.T) {
	t.Parallel()
	r := surgery(t, `"ordering":"strict","escalate_after_seconds":1800,"groups":{"red":{}}`)
	ann, bob := r.join("main", dengxu.JoinRequest{}), r.join("main", dengxu.JoinRequest{})
	r.says(ann.ID, "Those of a better rank pass it.", "From 09:30:00 on only")
	r.mustCall("1", ann.Number)
	r.says(ann.ID, "Those of a better rank could pass it until its call.", "!pass it.\n", "!From 09:30:00", "!自 09:30:00 起")
	r.clock.Advance(40 * time.Minute)
	r.mustCall("1", bob.Number)
	r.says(bob.ID, "From 09:30:00 to its call only those with an earlier place who were overdue too could go before it.")
}

// TestExplainOfSharesLeavesTheWaitsOut: they did not decide.
func TestExplainOfSharesLeavesTheWaitsOut(t *testing.T) {
	t.Parallel()
	r := surgery(t, `"ordering":"ratio","groups":{"VIP":{"share":3}}`)
	r.mustCall("1", r.join("main", dengxu.JoinRequest{}).Number)
	ann := r.join("main", dengxu.JoinRequest{})
	r.clock.Advance(10 * time.Minute)
	vip := r.join("main", dengxu.JoinRequest{PriorityGroup: "VIP"})
	r.says(ann.ID, "it is the turn of VIP", "!it was the turn")
	r.mustCall("1", vip.Number)
	r.says(ann.ID, "it was the turn of VIP", "!it is the turn")
	r.says(vip.ID, "Its call compared: A003 of VIP, share 3; A002 of ordinary, share 1; what the groups owed by their shares decided, not the waits", "!10:00;")
	r.mustCall("1", ann.Number)
	r.says(ann.ID, "!decided")
}

func TestSpansAreRounded(t *testing.T) {
	t.Parallel()
	for ms, want := range map[int64]string{0: "0:00", 499: "0:00", 500: "0:01", 59_600: "1:00", -1_500: "−0:02", 3_599_500: "1:00:00", 3_599_499: "59:59"} {
		if got := spanText(ms); got != want {
			t.Errorf("%d ms: %s, want %s", ms, got, want)
		}
	}
}

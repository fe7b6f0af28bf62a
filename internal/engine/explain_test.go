package engine

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/order"
)

var verbOfFormat = regexp.MustCompile(`%\[(\d+)\][sd]`)

// TestPhrasesInEveryLanguage: every phrase is there in every language, and says
// the same things of the same kind in each.
func TestPhrasesInEveryLanguage(t *testing.T) {
	t.Parallel()
	for p, texts := range phrases {
		var first []string
		for i, text := range texts {
			if text == "" {
				t.Errorf("phrase %d is missing in %s", p, languages[i])
			}
			verbs := verbOfFormat.FindAllString(text, -1)
			if left := verbOfFormat.ReplaceAllString(text, ""); strings.Contains(strings.ReplaceAll(left, "%%", ""), "%") {
				t.Errorf("phrase %d in %s has a verb without a number: %q", p, languages[i], text)
			}
			slices.Sort(verbs)
			verbs = slices.Compact(verbs)
			if i == 0 {
				first = verbs
			} else if !slices.Equal(first, verbs) {
				t.Errorf("phrase %d says %v in %s and %v in %s", p, first, languages[0], verbs, languages[i])
			}
		}
	}
}

// explain explains a token and fails where a text is missing or was not made
// of its arguments.
func (r *rig) explain(id dengxu.TokenID) dengxu.Explanation {
	r.Helper()
	x, err := r.Explain(r.Context(), id)
	if err != nil {
		r.Fatal(err)
	}
	texts := []map[string]string{x.Text}
	for i := range x.AheadNext {
		texts = append(texts, x.AheadNext[i].Text)
	}
	for i := range x.PassedBy {
		texts = append(texts, x.PassedBy[i].Text)
	}
	for _, text := range texts {
		for _, language := range languages {
			if text[language] == "" || strings.Contains(text[language], "%!") {
				r.Fatalf("%s in %s: %q", x.Number, language, text[language])
			}
		}
	}
	return x
}

func TestExplainWhoPassedAndWhy(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		ordering, groups string
		wait             time.Duration // of the ordinary one before the other joins
		age              time.Duration // until the call
		why              string
	}{
		{"aging", `{"VIP":{"factor":0.5}}`, 10 * time.Minute, 11 * time.Minute, "factor"},
		{"aging", `{"VIP":{"head_start_seconds":900}}`, 10 * time.Minute, time.Minute, "head_start"},
		{"strict", `{"VIP":{}}`, 50 * time.Minute, time.Minute, "rank"},
		{"ratio", `{"VIP":{"share":3}}`, 10 * time.Minute, time.Minute, "share"},
		{"epoch", `{"VIP":{"factor":0.5}}`, 10 * time.Minute, time.Minute, "day"},
	} {
		t.Run(c.ordering+" "+c.why, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.site("hall", `{"time_zone":"UTC"}`)
			r.queue("main", fmt.Sprintf(`{"site":"hall","ordering":%q,"groups":%s}`, c.ordering, c.groups))
			r.counter("1", `{"site":"hall","queues":["main"]}`)
			if c.ordering == "ratio" { // its share of the first round
				r.join("main", dengxu.JoinRequest{})
				r.mustCall("1", "A001")
				r.do(dengxu.VerbComplete, r.call1(), dengxu.VerbRequest{})
			}
			ann := r.join("main", dengxu.JoinRequest{})
			r.clock.Advance(c.wait)
			vip := r.join("main", dengxu.JoinRequest{PriorityGroup: "VIP"})
			r.clock.Advance(c.age)
			x := r.explain(ann.ID)
			if x.Rank == nil || *x.Rank != 1 || len(x.AheadNext) != 1 || !x.AheadWhole || x.AheadNext[0].Why != c.why {
				t.Fatalf("waiting: rank %v, ahead %+v", x.Rank, x.AheadNext)
			}
			if got := r.call("1"); got.ID != vip.ID {
				t.Fatalf("called %s", got.Number)
			}
			x = r.explain(ann.ID)
			if *x.Rank != 0 || len(x.PassedBy) != 1 || !x.PassedByWhole {
				t.Fatalf("passed: %+v", x)
			}
			p := x.PassedBy[0]
			if p.Number != vip.Number || p.Why != c.why || p.CounterID != "1" || !p.JoinedAt.Equal(vip.JoinedAt) {
				t.Fatalf("passed by %+v", p)
			}
			if want := (c.wait + c.age).Seconds(); p.OwnAgeSeconds != want {
				t.Errorf("own age %v, want %v", p.OwnAgeSeconds, want)
			}
			if strings.Contains(fmt.Sprint(x), string(vip.ID)) {
				t.Error("the id of another holder is in the explanation")
			}
			called := r.explain(vip.ID)
			heads := []string{vip.Number, ann.Number}
			if c.why == "head_start" || c.ordering == "epoch" {
				heads = heads[:1] // they stand in one lane
			}
			var compared []string
			for _, head := range called.Compared {
				compared = append(compared, head.Number)
			}
			if !slices.Equal(compared, heads) || !called.Compared[0].Called {
				t.Fatalf("compared %+v", called.Compared)
			}
			t.Logf("%s\n%s\n%s", x.Text["en"], x.Text["zh-CN"], called.Text["en"])
		})
	}
}

// call1 is the token that counter 1 has.
func (r *rig) call1() dengxu.TokenID {
	r.Helper()
	v, err := r.Counter(r.Context(), "1")
	if err != nil || len(v.Tokens) != 1 {
		r.Fatalf("counter 1 has %+v, %v", v.Tokens, err)
	}
	return v.Tokens[0].ID
}

// TestExplainLeavesOthersOut: who was called by a counter that does not serve
// the token, or while it did not wait, did not pass it; who was called by hand
// did.
func TestExplainLeavesOthersOut(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.site("hall", `{"time_zone":"UTC"}`)
	r.queue("main", `{"site":"hall","classes":{"cash":{},"card":{}}}`)
	r.counter("1", `{"site":"hall","queues":[{"id":"main","classes":["card"]}]}`)
	r.counter("2", `{"site":"hall","queues":["main"],"max_serving":9}`)
	ann := r.join("main", dengxu.JoinRequest{Class: "cash"})
	r.join("main", dengxu.JoinRequest{Class: "card"})
	r.clock.Advance(time.Second)
	r.mustCall("1", "A002")
	if x := r.explain(ann.ID); len(x.PassedBy) != 0 || !x.PassedByWhole {
		t.Fatalf("passed by %+v", x.PassedBy)
	}
	third := r.join("main", dengxu.JoinRequest{Class: "cash"})
	if _, err := r.CallToken(t.Context(), staffer, "2", third.ID, dengxu.VerbRequest{Reason: "fainted"}); err != nil {
		t.Fatal(err)
	}
	x := r.explain(ann.ID)
	if len(x.PassedBy) != 1 || x.PassedBy[0].Why != "by_hand" || !strings.Contains(x.PassedBy[0].Text["en"], "fainted") {
		t.Fatalf("passed by %+v", x.PassedBy)
	}
	if x := r.explain(third.ID); !x.ByHand || len(x.Compared) != 0 {
		t.Fatalf("called by hand: %+v", x)
	}
	r.mustCall("2", "A001")
	r.join("main", dengxu.JoinRequest{Class: "cash"})
	r.clock.Advance(time.Second)
	r.mustCall("2", "A004")
	if x := r.explain(ann.ID); len(x.PassedBy) != 1 {
		t.Fatalf("passed while it was called: %+v", x.PassedBy)
	}
}

// TestExplainNamesAFew: of a long line only the first are named, in the order
// in which they are called.
func TestExplainNamesAFew(t *testing.T) {
	t.Parallel()
	r := hall(t)
	r.queue("main", `{"site":"hall","groups":{"VIP":{"factor":0.5}}}`)
	var last dengxu.Ticket
	for i := range 60 {
		group := "ordinary"
		if i%3 == 0 {
			group = "VIP"
		}
		last = r.join("main", dengxu.JoinRequest{PriorityGroup: group})
		r.clock.Advance(7 * time.Second)
	}
	x := r.explain(last.ID)
	if len(x.AheadNext) != maxRivals || x.AheadWhole || x.Ahead[0].Ahead != *x.Rank {
		t.Fatalf("%d named of %d, whole %t", len(x.AheadNext), *x.Rank, x.AheadWhole)
	}
	for i := range x.AheadNext {
		r.mustCall("1", x.AheadNext[i].Number)
		if i == 0 {
			r.counter("1", `{"site":"hall","queues":["main"],"max_serving":30}`)
		}
	}
}

// TestBoundInWords holds the bound that is told against what the formula of
// order says: the last one who could have passed did not, had they joined at
// Before, and did a moment earlier.
func TestBoundInWords(t *testing.T) {
	t.Parallel()
	r := hall(t)
	r.queue("main", `{"site":"hall","groups":{"VIP":{"factor":0.5}}}`)
	ann := r.join("main", dengxu.JoinRequest{})
	r.clock.Advance(20 * time.Minute)
	b := r.explain(ann.ID).Bound
	if b == nil || b.Share != 0.5 || !b.Before.Equal(ann.JoinedAt.Add(10*time.Minute)) {
		t.Fatalf("bound %+v", b)
	}
	now, place := ann.JoinedAt.Add(20*time.Minute).UnixMilli(), b.Before.UnixMilli()
	own := order.Member{Lane: order.Lane{K: 20}, Key: order.Key{Place: ann.JoinedAt.UnixMilli(), Seq: 1}}
	vip := order.Member{Lane: order.Lane{K: 10}, Key: order.Key{Place: place, Seq: 2}}
	if order.Before(now, vip, own, order.Rule{}) {
		t.Error("who joined at the bound passes")
	}
	if vip.Key.Place--; !order.Before(now, vip, own, order.Rule{}) {
		t.Error("who joined just before the bound does not pass")
	}
}

package engine

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/estimate"
)

// checkEstimate holds one estimate against what it may be at all.
func checkEstimate(t *testing.T, who string, e dengxu.Estimate) {
	t.Helper()
	if !e.Known {
		if e.Reason == "" || e.LowSeconds != nil || e.RecommendedSeconds != nil || e.HighSeconds != nil || e.Text != nil || e.Method != "none" {
			t.Fatalf("%s: unknown, and %+v", who, e)
		}
		return
	}
	low, recommended, high := *e.LowSeconds, *e.RecommendedSeconds, *e.HighSeconds
	if e.Reason != "" || low < 0 || low > recommended || recommended > high || high > 10*86_400 || e.Position < 1 || e.AsOf.IsZero() || len(e.Text) != 2 {
		t.Fatalf("%s: %d, %d, %d s in %+v", who, low, recommended, high, e)
	}
	if e.Method == estimate.MethodIdle && high != 0 {
		t.Fatalf("%s: a counter is free, and it takes %d s", who, high)
	}
}

// A day in which people of three groups and two classes come, counters of
// different skills pause and return, some people miss their call, step back or
// give up. Everyone looks every minute; no two answers in a row contradict each
// other.
func TestADayOfEstimates(t *testing.T) {
	t.Parallel()
	for _, ordering := range []string{
		``, `,"ordering":"strict","escalate_after_seconds":1800`, `,"ordering":"ratio"`, `,"ordering":"epoch"`,
	} {
		t.Run("ordering"+ordering, func(t *testing.T) {
			t.Parallel()
			groups := `"groups":{"VIP":{"factor":0.5},"member":{"factor":0.7,"head_start_seconds":120}}`
			if ordering != "" && ordering != `,"ordering":"epoch"` {
				groups = `"groups":{"VIP":{},"member":{"head_start_seconds":120}}`
			}
			l := newLounge(t, `,"missed":{"penalty_seconds":60},"classes":{"cards":{"expected_service_seconds":120},"loans":{}},"default_class":"loans",`+groups+ordering)
			l.counter("2", `{"site":"hall","queues":[{"id":"main","classes":["cards"]}]}`)
			l.counter("3", `{"site":"hall","queues":["main"],"max_serving":2}`)
			l.open("3")
			d := newDay(l, 11)
			d.play(240)
			if d.held < 500 {
				t.Errorf("%d pairs of answers were compared", d.held)
			}
			l.keep()
			l.clean()
		})
	}
}

// day plays one.
type day struct {
	*lounge
	random  *rand.Rand
	tickets map[dengxu.TokenID]dengxu.Estimate
	paused  map[dengxu.CounterID]bool
	held    int // pairs of answers that were held against each other
}

func newDay(l *lounge, seed uint64) *day {
	return &day{lounge: l, random: rand.New(rand.NewPCG(seed, 1)), tickets: make(map[dengxu.TokenID]dengxu.Estimate), paused: make(map[dengxu.CounterID]bool)}
}

func (d *day) play(minutes int) {
	d.Helper()
	for minute := range minutes {
		for range d.random.IntN(4) {
			req := dengxu.JoinRequest{
				PriorityGroup: []string{"", "", "VIP", "member"}[d.random.IntN(4)],
				Class:         []string{"", "cards"}[d.random.IntN(2)],
			}
			ticket := d.join("main", req)
			checkEstimate(d.T, ticket.Number, ticket.Estimate)
			d.tickets[ticket.ID] = ticket.Estimate
		}
		for _, id := range []dengxu.CounterID{"1", "2", "3"} {
			d.work(id)
		}
		d.hear()
		if minute%20 == 0 {
			d.keep()
		}
		d.lookAll()
		d.pass(time.Minute)
	}
}

// work is what happens at a counter in a minute.
func (d *day) work(id dengxu.CounterID) {
	d.Helper()
	if d.paused[id] {
		if d.random.IntN(10) == 0 {
			d.open(id)
			d.paused[id] = false
		}
		return
	}
	v, err := d.Counter(d.Context(), id)
	if err != nil {
		d.Fatal(err)
	}
	for i := range v.Tokens {
		switch t := &v.Tokens[i]; d.random.IntN(8) {
		case 0, 1, 2:
			d.do(dengxu.VerbComplete, t.ID, dengxu.VerbRequest{})
		case 3:
			if t.State == dengxu.StateCalling {
				d.do(dengxu.VerbMiss, t.ID, dengxu.VerbRequest{})
			}
		case 4:
			if t.State == dengxu.StateCalling {
				d.do(dengxu.VerbStart, t.ID, dengxu.VerbRequest{})
			}
		}
	}
	if v, err = d.Counter(d.Context(), id); err != nil {
		d.Fatal(err)
	}
	switch room := len(v.Tokens) == 0 || id == "3" && len(v.Tokens) < 2; {
	case room:
		d.call(id)
	case d.random.IntN(30) == 0:
		d.desk(id, "pause")
		d.paused[id] = true
	}
}

// lookAll lets everyone who waits look, and some of them leave.
func (d *day) lookAll() {
	d.Helper()
	for id, before := range d.tickets {
		p, err := d.Position(d.Context(), id)
		if err != nil {
			d.Fatal(err)
		}
		checkEstimate(d.T, p.Number, p.Estimate)
		if p.State.Ended() {
			delete(d.tickets, id)
			continue
		}
		d.contradicts(p.Number, before, p.Estimate)
		if p.Estimate.Known {
			d.tickets[id] = p.Estimate
		}
		switch {
		case p.State != dengxu.StateWaiting:
		case d.random.IntN(200) == 0:
			d.do(dengxu.VerbCancel, id, dengxu.VerbRequest{})
		case d.random.IntN(300) == 0 && p.DefersLeft > 0:
			d.do(dengxu.VerbDefer, id, dengxu.VerbRequest{})
			delete(d.tickets, id) // who comes back waits anew
		}
	}
}

// contradicts fails when an estimate rose above the guard of the one before
// although the position fell, and does not say why. The guard goes by the rate;
// what is told is rounded to seconds.
func (d *day) contradicts(who string, before, now dengxu.Estimate) {
	d.Helper()
	if !before.Known || !now.Known || before.Method == estimate.MethodIdle || now.Method == estimate.MethodIdle || now.Position > before.Position || now.Why != "" {
		return
	}
	d.held++
	// A median of an Erlang distribution is not below two thirds of its mean, so
	// that the mean was at most 1.5 times what was told, and the guard 1.1 times
	// that and its spread.
	rate := before.Position / (1.5 * float64(*before.RecommendedSeconds))
	_, most := estimate.Guard(before.Position, rate)
	if float64(*now.RecommendedSeconds) > most+2 {
		d.Fatalf("%s: told %d s at %.2f, then %d s at %.2f, and no reason", who, *before.RecommendedSeconds, before.Position, *now.RecommendedSeconds, now.Position)
	}
}

// Everything at once: joins, calls, looks, keeping, training, settings.
func TestEstimatesAtTheSameTime(t *testing.T) {
	t.Parallel()
	l := newLounge(t, `,"groups":{"VIP":{"factor":0.5}}`)
	for range 50 {
		l.join("main", dengxu.JoinRequest{})
	}
	var all sync.WaitGroup
	repeat := func(name string, n int, do func(int) error) {
		all.Go(func() {
			for i := range n {
				if err := do(i); err != nil && dengxu.CodeOf(err) != dengxu.Conflict {
					t.Errorf("%s: %v", name, err)
				}
			}
		})
	}
	ids := make(chan dengxu.TokenID, 1000)
	for range 2 {
		repeat("join", 200, func(i int) error {
			done, err := l.Join(t.Context(), staffer, "main", dengxu.JoinRequest{PriorityGroup: []string{"", "VIP"}[i%2]})
			ids <- done.Value.ID
			return err
		})
		repeat("look", 200, func(int) error {
			_, err := l.Position(t.Context(), <-ids)
			return err
		})
	}
	for _, c := range []dengxu.CounterID{"1", "2"} {
		repeat("call", 150, func(int) error {
			_, err := l.CallNext(t.Context(), staffer, c, "", dengxu.CallRequest{Current: "complete"})
			return err
		})
	}
	repeat("keep", 50, func(int) error { return l.KeepEstimates(t.Context(), 0) })
	repeat("train", 20, func(int) error { _, err := l.Train(t.Context(), staffer, "main"); return err })
	repeat("forget", 20, func(int) error { _, err := l.ForgetModel(t.Context(), staffer, "main"); return err })
	repeat("set", 30, func(i int) error {
		_, err := l.PatchSite(t.Context(), staffer, "hall", fmt.Appendf(nil, `{"covariates":{"rain":%d}}`, i), 0)
		return err
	})
	repeat("ask", 200, func(int) error { _, err := l.Engine.Estimate(t.Context(), "main", "", "VIP", 0); return err })
	all.Go(func() {
		for range 100 {
			l.hear()
		}
	})
	all.Wait()
	l.hear()
	l.keep()
	l.clean()
}

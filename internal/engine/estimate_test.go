package engine

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/store"
	"github.com/dengxu/dengxu/internal/store/memstore"
	"github.com/dengxu/dengxu/internal/store/storetest"
)

// lounge is a rig whose engine hears of its own events, as a server's does.
type lounge struct {
	*rig
	at    store.Cursor
	store store.Store
}

// newLounge has queue main, 5 minutes assumed, and two open counters.
func newLounge(t *testing.T, queue string) *lounge {
	t.Helper()
	clock := storetest.NewClock()
	s := memstore.New(memstore.Options{Wall: clock.Wall, Mono: clock.Mono})
	t.Cleanup(func() { _ = s.Close() })
	l := &lounge{rig: rigOver(t, s, clock), store: s}
	l.site("hall", `{"time_zone":"UTC"}`)
	l.queue("main", `{"site":"hall","expected_service_seconds":300`+queue+`}`)
	for _, id := range []dengxu.CounterID{"1", "2"} {
		l.counter(id, `{"site":"hall","queues":["main"]}`)
		l.open(id)
	}
	return l
}

func (l *lounge) open(id dengxu.CounterID) { l.desk(id, "open") }

// shut closes a counter and completes whom it has.
func (l *lounge) shut(id dengxu.CounterID) {
	l.Helper()
	if _, err := l.SetCounterState(l.Context(), staffer, id, "close", dengxu.DoorRequest{Current: "complete"}); err != nil {
		l.Fatal(err)
	}
}

func (l *lounge) desk(id dengxu.CounterID, action string) {
	l.Helper()
	if _, err := l.SetCounterState(l.Context(), staffer, id, action, dengxu.DoorRequest{}); err != nil {
		l.Fatal(err)
	}
}

// hear tells the engine what it has not heard yet.
func (l *lounge) hear() {
	l.Helper()
	for {
		page, err := l.store.Events(l.Context(), l.at, 64)
		if err != nil {
			l.Fatal(err)
		}
		if page.Reset { // of the zero cursor
			l.at = store.Cursor{Epoch: page.End.Epoch}
			continue
		}
		l.at = page.End
		if len(page.Events) == 0 {
			return
		}
		l.Observe(l.Context(), l.at.Partition, page.Events)
	}
}

// look is what a holder is told now.
func (l *lounge) look(id dengxu.TokenID) dengxu.Estimate {
	l.Helper()
	p, err := l.Position(l.Context(), id)
	if err != nil {
		l.Fatal(err)
	}
	if known := p.EstimatedWaitSeconds != nil; known != p.Estimate.Known || known && *p.EstimatedWaitSeconds != *p.Estimate.RecommendedSeconds {
		l.Fatalf("estimated_wait_seconds is %v beside %+v", p.EstimatedWaitSeconds, p.Estimate)
	}
	return p.Estimate
}

func wantUnknown(t *testing.T, e dengxu.Estimate, reason string) {
	t.Helper()
	if e.Known || e.Reason != reason || e.RecommendedSeconds != nil || e.Text != nil {
		t.Errorf("%+v, want unknown: %s", e, reason)
	}
}

func wantAbout(t *testing.T, e dengxu.Estimate, method string, want float64) {
	t.Helper()
	if !e.Known || e.Method != method || math.Abs(float64(*e.RecommendedSeconds)-want) > 0.02*want+1 {
		t.Errorf("%+v, want %s of about %.0f s", e, method, want)
		return
	}
	if *e.LowSeconds > *e.RecommendedSeconds || *e.RecommendedSeconds > *e.HighSeconds || e.Text["en"] == "" || e.Text["zh-CN"] == "" || e.AsOf.IsZero() {
		t.Errorf("%+v does not hold together", e)
	}
}

// medianOf is the median of an Erlang distribution of k services at a rate
// (Wilson and Hilferty), to hold estimates against in the tests.
func medianOf(k, perSecond float64) float64 {
	return k * math.Pow(1-1/(9*k), 3) / perSecond
}

func TestTheFirstTicketGoesByThePrior(t *testing.T) {
	t.Parallel()
	l := newLounge(t, "")
	first := l.join("main", dengxu.JoinRequest{})
	wantAbout(t, first.Estimate, "idle", 0)
	second := l.join("main", dengxu.JoinRequest{})
	wantAbout(t, second.Estimate, "idle", 0) // the other counter is free too
	third := l.join("main", dengxu.JoinRequest{})
	// The counters take those before at once, so that it waits for one of both.
	wantAbout(t, third.Estimate, "erlang", math.Ln2*150)
	l.call("1")
	l.call("2")
	wantAbout(t, l.look(third.ID), "erlang", math.Ln2*150)
	wantUnknown(t, l.look(first.ID), dengxu.UnknownNotWaiting)
}

func TestAnEstimateNeedsACounter(t *testing.T) {
	t.Parallel()
	l := newLounge(t, `,"classes":{"cards":{"expected_service_seconds":60},"loans":{}},"default_class":"loans"`)
	l.counter("2", `{"site":"hall","queues":[{"id":"main","classes":["cards"]}]}`)
	l.desk("1", "pause")
	loan := l.join("main", dengxu.JoinRequest{})
	wantUnknown(t, loan.Estimate, dengxu.UnknownNoCounter) // counter 2 does not serve loans
	card := l.join("main", dengxu.JoinRequest{Class: "cards"})
	wantAbout(t, card.Estimate, "idle", 0)
	l.call("2")
	next := l.join("main", dengxu.JoinRequest{Class: "cards"})
	wantAbout(t, next.Estimate, "erlang", math.Ln2*60)
	l.move("pause", dengxu.DoorRequest{})
	wantUnknown(t, l.look(next.ID), dengxu.UnknownPaused)
	l.move("open", dengxu.DoorRequest{})
	l.open("1")
	wantAbout(t, l.look(loan.ID), "idle", 0)
}

func TestWithoutPriorNothingIsSaidUntilSomebodyWasServed(t *testing.T) {
	t.Parallel()
	l := newLounge(t, "")
	l.queue("main", `{"site":"hall"}`)
	l.desk("2", "close")
	a := l.join("main", dengxu.JoinRequest{})
	b := l.join("main", dengxu.JoinRequest{})
	wantUnknown(t, b.Estimate, dengxu.UnknownNoData)
	l.call("1")
	l.pass(100 * time.Second)
	l.do(dengxu.VerbComplete, a.ID, dengxu.VerbRequest{})
	l.hear()
	l.call("1")
	c := l.join("main", dengxu.JoinRequest{})
	wantAbout(t, c.Estimate, "erlang", math.Ln2*100)
}

// A counter that closes, pauses or opens counts at once, not at the next second.
func TestACounterThatClosesCountsAtOnce(t *testing.T) {
	t.Parallel()
	l := newLounge(t, "")
	var last dengxu.Ticket
	for range 12 {
		last = l.join("main", dengxu.JoinRequest{})
	}
	l.call("1")
	l.call("2")
	both := l.look(last.ID)
	wantAbout(t, both, "erlang", medianOf(10, 2.0/300))
	for _, c := range []struct {
		leave func()
		left  float64 // services to wait for when the counter is back
	}{
		{func() { l.desk("2", "pause") }, 10},
		{func() { l.shut("2") }, 9}, // it comes back free, and takes one at once
	} {
		c.leave()
		got := l.look(last.ID)
		wantAbout(t, got, "erlang", medianOf(10, 1.0/300))
		if got.Why != dengxu.RoseCounterLeft {
			t.Errorf("it rose because of %q", got.Why)
		}
		l.open("2")
		wantAbout(t, l.look(last.ID), "erlang", medianOf(c.left, 2.0/300))
	}
}

// What counts as a service is how long a call keeps the counter: of two that
// take 10 minutes each, one waits for 10 minutes, whatever the prior says.
func TestServicesAreLearnedFromTheLog(t *testing.T) {
	t.Parallel()
	l := newLounge(t, "")
	for range 40 {
		for _, c := range []dengxu.CounterID{"1", "2"} {
			l.join("main", dengxu.JoinRequest{})
			if l.call(c) == nil {
				t.Fatal("nobody was called")
			}
		}
		l.pass(10 * time.Second) // the walk
		for _, c := range []dengxu.CounterID{"1", "2"} {
			v, err := l.Counter(l.Context(), c)
			if err != nil {
				t.Fatal(err)
			}
			l.do(dengxu.VerbStart, v.Tokens[0].ID, dengxu.VerbRequest{})
		}
		l.pass(50 * time.Second)
		for _, c := range []dengxu.CounterID{"1", "2"} {
			v, err := l.Counter(l.Context(), c)
			if err != nil {
				t.Fatal(err)
			}
			l.do(dengxu.VerbComplete, v.Tokens[0].ID, dengxu.VerbRequest{})
		}
		l.hear()
	}
	for range 2 {
		l.join("main", dengxu.JoinRequest{})
	}
	l.call("1")
	l.call("2")
	var last dengxu.Ticket
	for range 5 {
		last = l.join("main", dengxu.JoinRequest{})
	}
	// Nobody had to wait so far, and who came and was called at once says nothing
	// of who will overtake: all of one pace.
	wantAbout(t, last.Estimate, "erlang", medianOf(5, 2.0/60))
}

// Missed, held and cancelled people are not ahead; who is away is told nothing.
func TestWhoIsAwayIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	l := newLounge(t, `,"missed":{"policy":"keep"}`)
	var tickets []dengxu.Ticket
	for range 8 {
		tickets = append(tickets, l.join("main", dengxu.JoinRequest{}))
	}
	l.call("1")
	l.call("2")
	before := l.look(tickets[7].ID)
	wantAbout(t, before, "erlang", medianOf(6, 2.0/300))
	l.do(dengxu.VerbMiss, tickets[0].ID, dengxu.VerbRequest{})
	l.do(dengxu.VerbCancel, tickets[2].ID, dengxu.VerbRequest{})
	l.do(dengxu.VerbDefer, tickets[3].ID, dengxu.VerbRequest{})
	l.do(dengxu.VerbHold, tickets[1].ID, dengxu.VerbRequest{})
	l.call("1")
	l.call("2")
	wantUnknown(t, l.look(tickets[0].ID), dengxu.UnknownNotWaiting)
	wantUnknown(t, l.look(tickets[3].ID), dengxu.UnknownNotWaiting)
	l.pass(time.Second)
	wantAbout(t, l.look(tickets[7].ID), "erlang", medianOf(2, 2.0/300))
}

// Members of a faster pace who come later are ahead of an ordinary one: not those
// alone who stand there now, but also those who will come.
func TestWhoWillOvertakeCounts(t *testing.T) {
	t.Parallel()
	l := newLounge(t, `,"groups":{"VIP":{"factor":0.5}}`)
	l.desk("2", "close")
	for range 6 {
		l.join("main", dengxu.JoinRequest{})
	}
	l.call("1")
	l.hear()
	alone := l.join("main", dengxu.JoinRequest{})
	for range 6 { // a VIP every five minutes, who is served at once
		vip := l.join("main", dengxu.JoinRequest{PriorityGroup: "VIP"})
		l.do(dengxu.VerbCancel, vip.ID, dengxu.VerbRequest{})
		l.hear()
		l.pass(5 * time.Minute)
	}
	l.hear()
	ordinary := l.join("main", dengxu.JoinRequest{})
	if was, is := float64(*alone.Rank+1), float64(*ordinary.Rank+1); alone.Estimate.Position != was || ordinary.Estimate.Position < is*1.3 {
		t.Errorf("%.0f services were %.2f to wait for; with a VIP every five minutes, %.0f are %.2f", was, alone.Estimate.Position, is, ordinary.Estimate.Position)
	}
	vip := l.join("main", dengxu.JoinRequest{PriorityGroup: "VIP"})
	if vip.Estimate.Position >= ordinary.Estimate.Position {
		t.Errorf("a VIP has %.2f services to wait for, an ordinary one before %.2f", vip.Estimate.Position, ordinary.Estimate.Position)
	}
}

// A counter over two queues of one pace is one line for both; of which the other
// is longer, more has to be waited for.
func TestCountersOfSeveralQueuesAreShared(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, other string
		want        float64 // services until and with the own
	}{
		{"one line of both", `,"ordering":"aging"`, 7},
		// Seven wait in both, of whom the asker's queue has a third.
		{"each its share", `,"ordering":"strict"`, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			l := newLounge(t, "")
			l.queue("other", `{"site":"hall"`+c.other+`}`)
			for _, id := range []dengxu.CounterID{"1", "2"} {
				l.counter(id, `{"site":"hall","queues":["main","other"]}`)
			}
			l.join("main", dengxu.JoinRequest{})
			l.join("main", dengxu.JoinRequest{})
			l.call("1")
			l.call("2")
			for range 4 {
				l.join("other", dengxu.JoinRequest{})
			}
			for range 2 {
				l.join("main", dengxu.JoinRequest{})
			}
			l.pass(2 * time.Second)
			got := l.join("main", dengxu.JoinRequest{}).Estimate
			if math.Abs(got.Position-c.want) > 0.01 {
				t.Errorf("%+v, want position %.0f", got, c.want)
			}
			wantAbout(t, got, "erlang", medianOf(c.want, 2.0/300*c.want/7))
		})
	}
}

func TestTheWindowFormulaBySetting(t *testing.T) {
	t.Parallel()
	l := newLounge(t, `,"estimates":{"method":"window"}`)
	for range 2 {
		l.join("main", dengxu.JoinRequest{})
	}
	l.call("1")
	l.call("2")
	for range 4 {
		l.join("main", dengxu.JoinRequest{})
	}
	l.pass(time.Second)
	// (4 ahead + 2 in service) × 300 / 2
	wantAbout(t, l.join("main", dengxu.JoinRequest{}).Estimate, "window", 900)
}

// What is told is not above what the same holder was told, as long as nobody is
// ahead who was not.
func TestIfIJoinedNowIsWhatAJoinIsTold(t *testing.T) {
	t.Parallel()
	l := newLounge(t, `,"groups":{"VIP":{"factor":0.5}},"classes":{"cards":{},"loans":{}},"default_class":"loans"`)
	for i := range 9 {
		l.join("main", dengxu.JoinRequest{Class: []string{"cards", "loans"}[i%2]})
		l.pass(time.Minute)
	}
	l.call("1")
	l.call("2")
	l.hear()
	for _, c := range []struct{ class, group string }{{"cards", ""}, {"loans", ""}, {"loans", "VIP"}} {
		l.pass(2 * time.Second)
		said, err := l.Engine.Estimate(l.Context(), "main", c.class, c.group, 0)
		if err != nil {
			t.Fatal(err)
		}
		told := l.join("main", dengxu.JoinRequest{Class: c.class, PriorityGroup: c.group})
		if *said.EstimatedWaitSeconds != *told.EstimatedWaitSeconds || said.Rank != *told.Rank {
			t.Errorf("%v: said %d s at rank %d, told %d s at rank %d", c, *said.EstimatedWaitSeconds, said.Rank, *told.EstimatedWaitSeconds, *told.Rank)
		}
		l.do(dengxu.VerbCancel, told.ID, dengxu.VerbRequest{})
	}
}

// Before the doors open, the time until then is part of the wait.
func TestClosedHoursAreWaitedFor(t *testing.T) {
	t.Parallel()
	l := newLounge(t, "")
	for range 3 {
		l.join("main", dengxu.JoinRequest{})
	}
	l.call("1")
	l.call("2")
	last := l.join("main", dengxu.JoinRequest{})
	open := *l.look(last.ID).RecommendedSeconds
	now := time.UnixMilli(l.clock.Now()).UTC()
	opens := now.Add(40 * time.Minute).Truncate(time.Minute)
	l.site("hall", fmt.Sprintf(`{"time_zone":"UTC","opening_hours":{"mon-sun":[%q]}}`, opens.Format("15:04")+"-23:00"))
	l.move("close", dengxu.DoorRequest{Now: true})
	got := l.look(last.ID)
	if want := open + int(opens.Sub(now).Seconds()); !got.Known || math.Abs(float64(*got.RecommendedSeconds-want)) > 2 {
		t.Errorf("%+v, want %d s and until %s", got, open, opens)
	}
}

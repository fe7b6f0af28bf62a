package engine

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/store"
	"github.com/dengxu/dengxu/internal/store/memstore"
	"github.com/dengxu/dengxu/internal/store/storetest"
)

// rig is an engine over memstore with a clock to move.
type rig struct {
	*testing.T
	*Engine
	clock *storetest.Clock
}

// staffer is who acts in tests: everything allowed, no idempotency key.
var staffer = By{Kind: Operator, Name: "key:test", Pick: true, Move: true, Scope: "test"}

func newRig(t *testing.T) *rig {
	t.Helper()
	clock := storetest.NewClock()
	s := memstore.New(memstore.Options{Wall: clock.Wall, Mono: clock.Mono})
	t.Cleanup(func() { _ = s.Close() })
	return rigOver(t, s, clock)
}

func rigOver(t *testing.T, s store.Store, clock *storetest.Clock) *rig {
	t.Helper()
	e, err := Open(t.Context(), Options{Store: s, Logger: nil})
	if err != nil {
		t.Fatal(err)
	}
	return &rig{T: t, Engine: e, clock: clock}
}

// setting decodes settings written as JSON.
func setting[T any](t *testing.T, text string) T {
	t.Helper()
	var v T
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("settings %s: %v", text, err)
	}
	return v
}

func (r *rig) site(id dengxu.SiteID, text string) {
	r.Helper()
	if _, err := r.PutSite(r.Context(), staffer, id, setting[dengxu.Site](r.T, text), 0); err != nil {
		r.Fatal(err)
	}
}

func (r *rig) queue(id dengxu.QueueID, text string) {
	r.Helper()
	if _, err := r.PutQueue(r.Context(), staffer, id, setting[dengxu.Queue](r.T, text), 0); err != nil {
		r.Fatal(err)
	}
}

func (r *rig) counter(id dengxu.CounterID, text string) {
	r.Helper()
	if _, err := r.PutCounter(r.Context(), staffer, id, setting[dengxu.Counter](r.T, text), 0); err != nil {
		r.Fatal(err)
	}
}

// hall is the plainest line: queue main, counter 1.
func hall(t *testing.T) *rig {
	t.Helper()
	r := newRig(t)
	r.site("hall", `{"time_zone":"UTC"}`)
	r.queue("main", `{"site":"hall"}`)
	r.counter("1", `{"site":"hall","queues":["main"]}`)
	return r
}

func (r *rig) join(q dengxu.QueueID, req dengxu.JoinRequest) dengxu.Ticket {
	r.Helper()
	done, err := r.Join(r.Context(), staffer, q, req)
	if err != nil {
		r.Fatalf("join: %v", err)
	}
	return done.Value
}

func (r *rig) call(c dengxu.CounterID) *dengxu.Token {
	r.Helper()
	done, err := r.CallNext(r.Context(), staffer, c, "", dengxu.CallRequest{})
	if err != nil {
		r.Fatalf("call: %v", err)
	}
	return done.Value.Token
}

func (r *rig) mustCall(c dengxu.CounterID, number string) *dengxu.Token {
	r.Helper()
	t := r.call(c)
	if t == nil || t.Number != number {
		r.Fatalf("counter %s called %v, want %s", c, t, number)
	}
	return t
}

func (r *rig) do(verb dengxu.Verb, id dengxu.TokenID, req dengxu.VerbRequest) dengxu.Token {
	r.Helper()
	done, err := r.Act(r.Context(), staffer, verb, id, req)
	if err != nil {
		r.Fatalf("%s: %v", verb, err)
	}
	return done.Value
}

func (r *rig) refuse(verb dengxu.Verb, id dengxu.TokenID, req dengxu.VerbRequest, code dengxu.Code, reason string) {
	r.Helper()
	_, err := r.Act(r.Context(), staffer, verb, id, req)
	wantCode(r.T, err, code, reason)
}

func wantCode(t *testing.T, err error, code dengxu.Code, reason string) {
	t.Helper()
	if dengxu.CodeOf(err) != code || dengxu.ReasonOf(err) != reason {
		t.Fatalf("got %v (%q %q), want %q %q", err, dengxu.CodeOf(err), dengxu.ReasonOf(err), code, reason)
	}
}

// pass lets time go by and does what became due.
func (r *rig) pass(d time.Duration) {
	r.Helper()
	r.clock.Advance(d)
	if _, err := r.Tick(r.Context()); err != nil {
		r.Fatalf("tick: %v", err)
	}
}

func (r *rig) state(id dengxu.TokenID, want dengxu.State) dengxu.Token {
	r.Helper()
	t, err := r.Token(r.Context(), id)
	if err != nil {
		r.Fatal(err)
	}
	if t.State != want {
		r.Fatalf("%s is %s (%s), want %s", t.Number, t.State, t.Reason, want)
	}
	return t
}

func (r *rig) clean() {
	r.Helper()
	found, err := r.Audit(context.Background())
	if err != nil || len(found) > 0 {
		r.Fatalf("audit: %v %v", found, err)
	}
}

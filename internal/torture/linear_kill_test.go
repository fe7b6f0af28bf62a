package torture

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/dengxu/dengxu"
)

// outliving calls over HTTP and waits for the server where it is away, so that
// the operation can be repeated with its key.
type outliving struct {
	remote
	server *child
}

func (o outliving) attempt(ctx context.Context, a attempt) answered {
	got := o.remote.attempt(ctx, a)
	got.late = got.out.Unknown // the request may be on its way, or at the server
	if got.out.Unknown || got.out.Code == dengxu.Unavailable {
		o.server.serving(ctx)
	}
	return got
}

// neverAgain is a client whose connections serve one request each. On a used
// one, net/http sends a request with an Idempotency-Key again by itself when
// the server vanishes: then an attempt that began before a kill has its effect
// after it, and no history can tell.
func neverAgain(t *testing.T) *http.Client {
	t.Helper()
	transport := &http.Transport{DisableKeepAlives: true}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// TestLinearizableAcrossKills: one order explains all answers, also when the
// server is killed twice meanwhile and callers go on with their keys.
func TestLinearizableAcrossKills(t *testing.T) {
	t.Parallel()
	all := newVerdicts(t)
	seeds(t, rounds(4, 200), func(t *testing.T, seed uint64) {
		server := newChild(t, "")
		server.http = neverAgain(t)
		caller := outliving{remote{server.client(t, 1)}, server}
		historyHall().build(t, caller)
		h := newHistory(seed)
		rng, ended := dice(seed, 1000), make(chan struct{})
		go func() {
			defer close(ended)
			h.run(t.Context(), caller, true)
		}()
		for range 2 {
			select {
			case <-ended:
			case <-time.After(time.Duration(20+rng.IntN(400)) * time.Millisecond):
			}
			server.kill(t)
			h.over()
			server.audit(t, seed)
			server.start(t)
		}
		<-ended
		h.ask(t.Context(), caller)
		h.over()
		if h.lost+h.down == 0 {
			t.Errorf("seed %d: no attempt met a killed server", seed)
		}
		all.add(h.judge(t))
		auditLive(t, seed, caller.Client)
	})
}

package torture

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strconv"
	"sync/atomic"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/client"
	"github.com/dengxu/dengxu/internal/engine"
)

// attempt is an input with the names that it stands for.
type attempt struct {
	in      input
	key     string // "" = none
	queue   dengxu.QueueID
	counter dengxu.CounterID
	token   dengxu.TokenID // of in.Number
}

// answered is the output and the token that it names. Late says of an unknown
// outcome that the attempt may be going on.
type answered struct {
	out   output
	token dengxu.TokenID
	late  bool
}

// caller makes attempts: in process or over HTTP.
type caller interface {
	attempt(ctx context.Context, a attempt) answered
}

// byTurns gives each attempt to the next process, also when it is a repeat.
type byTurns struct {
	callers []caller
	turn    atomic.Uint64
}

func (b *byTurns) attempt(ctx context.Context, a attempt) answered {
	return b.callers[b.turn.Add(1)%uint64(len(b.callers))].attempt(ctx, a)
}

func business(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("person-%d", n)
}

func callRequest(a attempt) dengxu.CallRequest {
	return dengxu.CallRequest{Current: string(a.in.Current), CurrentTokenID: a.token}
}

// direct calls the engine.
type direct struct{ *engine.Engine }

func (d direct) attempt(ctx context.Context, a attempt) answered {
	by := engine.By{Kind: engine.Operator, Name: "key:torture", Scope: "torture", Key: a.key}
	if a.key != "" {
		sum := sha256.Sum256(fmt.Appendf(nil, "%+v", a))
		copy(by.Hash[:], sum[:])
	}
	switch a.in.Verb { //nolint:exhaustive // the others are verbs on a token
	case dengxu.VerbJoin:
		done, err := d.Join(ctx, by, a.queue, dengxu.JoinRequest{BusinessID: business(a.in.Business)})
		return ofTicket(done.Value, err)
	case dengxu.VerbCall:
		done, err := d.CallNext(ctx, by, a.counter, "", callRequest(a))
		return ofCall(done.Value, err)
	case verbPosition:
		p, err := d.Position(ctx, a.token)
		return ofTicket(p.Ticket, err)
	default:
		done, err := d.Act(ctx, by, a.in.Verb, a.token, dengxu.VerbRequest{Version: a.in.Version})
		return ofToken(done.Value, err)
	}
}

// remote calls over HTTP, each attempt once.
type remote struct{ *client.Client }

func (r remote) attempt(ctx context.Context, a attempt) answered {
	ctx = client.WithKey(ctx, a.key)
	switch a.in.Verb { //nolint:exhaustive // the others are verbs on a token
	case dengxu.VerbJoin:
		t, err := r.Join(ctx, a.queue, dengxu.JoinRequest{BusinessID: business(a.in.Business)})
		return ofTicket(t, err)
	case dengxu.VerbCall:
		o, err := r.CallNext(ctx, a.counter, client.CallOptions{CallRequest: callRequest(a)})
		return ofCall(o, err)
	case verbPosition:
		p, err := r.Position(ctx, a.token)
		return ofTicket(p.Ticket, err)
	default:
		t, err := r.Act(ctx, a.in.Verb, a.token, dengxu.VerbRequest{Version: a.in.Version})
		return ofToken(t, err)
	}
}

// numberOf reads the number off its label, such as A012.
func numberOf(label string) int {
	n, err := strconv.Atoi(label[1:])
	if err != nil {
		panic("torture: no number in the label " + label)
	}
	return n
}

func ofTicket(t dengxu.Ticket, err error) answered {
	if err != nil {
		return ofError(err)
	}
	out := output{Number: numberOf(t.Number), State: t.State, Version: t.Version, Rank: noRank}
	if t.Rank != nil {
		out.Rank = *t.Rank
	}
	return answered{out: out, token: t.ID}
}

func ofToken(t dengxu.Token, err error) answered {
	if err != nil {
		return ofError(err)
	}
	return answered{
		out:   output{Number: numberOf(t.Number), State: t.State, Version: t.Version, Rank: noRank},
		token: t.ID,
	}
}

func ofCall(o dengxu.CallOutcome, err error) answered {
	if err != nil || o.Token == nil {
		return ofError(err)
	}
	return ofToken(*o.Token, nil)
}

// ofError is the answer of a refusal. Which token stands in a conflict was
// read after it, so that only the one of exists, which never changes, counts.
func ofError(err error) answered {
	out := output{Code: dengxu.CodeOf(err), Reason: dengxu.ReasonOf(err), Rank: noRank}
	switch out.Code { //nolint:exhaustive // the others are definite
	case dengxu.Deadline, dengxu.Canceled:
		return answered{out: output{Unknown: true}}
	case dengxu.Exists:
		if e, ok := errors.AsType[*dengxu.Error](err); ok && e.Token != nil {
			out.Number = numberOf(e.Token.Number)
		}
	}
	return answered{out: out}
}

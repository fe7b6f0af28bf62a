package redisstore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/rueidis"

	"github.com/dengxu/dengxu/internal/store"
)

// How calls are made. A client gives up a connection that has said nothing for
// silence, so an attempt outlasts it and the next one goes another way. A client
// that makes a connection heeds no deadline but that of dialing, so the worst is
// patience + least + dialing = 3 s.
const (
	silence  = time.Second
	dialing  = 500 * time.Millisecond
	attempt  = 1200 * time.Millisecond
	patience = 2 * time.Second        // how long a call is repeated before it fails
	least    = 500 * time.Millisecond // what a call that waited long still gets

	// waitingMost is how many commits of a partition may wait, and atOnce how
	// many calls of the process may be under way: below what fills the ring of a
	// connection, where a client no longer heeds deadlines.
	waitingMost = 8192
	atOnce      = 512

	// A client whose calls fail for hopeless is replaced, once in a while.
	hopeless     = 5 * time.Second
	renewalPause = 15 * time.Second
	farewell     = 5 * time.Second // what others still have under way with it
)

// link is a client that can be told from its successor.
type link struct{ rueidis.Client }

// client is the client of the moment.
func (s *Store) client() rueidis.Client { return s.link.Load().Client }

// sick is a client that should be replaced, and why.
type sick struct {
	c   *link
	why error
}

// renewLoop replaces clients that are not themselves any more: they read what
// they could not understand, or have failed for long.
func (s *Store) renewLoop() {
	for last := (time.Time{}); ; {
		select {
		case x := <-s.sick:
			now := time.Now() //nolint:forbidigo // a distance, no time of a record
			pause := renewalPause
			if errors.Is(x.why, errPoisoned) {
				pause = pauseBetween
			}
			if s.link.Load() == x.c && now.Sub(last) > pause {
				last = now
				s.renew(x)
			}
		case <-s.closing.Done():
			return
		}
	}
}

// renew replaces a client. The old one ends later, for others may wait for its
// answers.
func (s *Store) renew(x sick) {
	c, _, err := connect(&s.opts)
	if err != nil {
		s.opts.Logger.Warn("a new client for redis cannot be made", "err", err)
		return
	}
	s.opts.Logger.Warn("the client for redis is replaced", "why", x.why)
	s.link.Store(&link{c})
	s.running.Go(func() {
		select {
		case <-time.After(farewell):
		case <-s.closing.Done():
		}
		x.c.Close()
	})
}

// errPoisoned is of a client that must not be used any more.
var errPoisoned = errors.New("the client for redis is out of step")

// once makes one attempt with the client of the moment. A panic in the client
// is an error of it.
func (s *Store) once(ctx context.Context, c *link, run runner) (reply []byte, err error) {
	defer func() {
		if r := recover(); r != nil {
			reply, err = nil, fmt.Errorf("%w: %v", errPoisoned, r)
		}
	}()
	reply, err = run(ctx, c.Client)
	if rueidis.IsParseErr(err) {
		err = fmt.Errorf("%w: %w", errPoisoned, err)
	}
	return reply, err
}

// runner is one attempt of a call. It may be made several times.
type runner func(context.Context, rueidis.Client) ([]byte, error)

// call repeats run until it has an answer or the time has come. The scripts
// bear that: a commit has its number, a read has no effect. The error tells
// whether anything may have happened: once the outcome of one attempt is
// unknown, it stays so.
func (p *part) call(ctx context.Context, until time.Time, run runner) ([]byte, error) {
	ctx, cancel := context.WithDeadline(ctx, until)
	defer cancel()
	select {
	case p.s.gate <- struct{}{}:
		defer func() { <-p.s.gate }()
	case <-ctx.Done():
		return nil, fmt.Errorf("%w: too many calls are under way", store.ErrUnavailable)
	}
	var unknown error
	for pause := 5 * time.Millisecond; ; pause = min(2*pause, 250*time.Millisecond) {
		reply, err := p.tryOnce(ctx, run)
		if err == nil || !isUnknown(err) && !isUnavailable(err) {
			return reply, err
		}
		if isUnknown(err) {
			unknown = err
		}
		if unknown != nil {
			err = unknown
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return nil, err
		}
		if ctx.Err() != nil { // both may have been ready
			return nil, err
		}
	}
}

// tryOnce makes one attempt, and has the client replaced where it must be.
func (p *part) tryOnce(ctx context.Context, run runner) ([]byte, error) {
	c := p.s.link.Load()
	ctx, cancel := context.WithTimeout(ctx, attempt)
	defer cancel()
	reply, err := p.s.once(ctx, c, run)
	if err == nil {
		p.failing.Store(0)
		return reply, nil
	}
	if _, answered := rueidis.IsRedisErr(err); answered || errors.Is(err, errNotReplicated) {
		p.failing.Store(0)
		return nil, outcome(err)
	}
	now := time.Now().UnixNano() //nolint:forbidigo // a distance, no time of a record
	p.failing.CompareAndSwap(0, now)
	if errors.Is(err, errPoisoned) || now-p.failing.Load() > int64(hopeless) {
		select {
		case p.s.sick <- sick{c, err}:
		default: // it is being seen to
		}
	}
	return nil, outcome(err)
}

// atLeast leaves a call some time, however long it has waited.
func atLeast(until time.Time) time.Time {
	if soonest := time.Now().Add(least); until.Before(soonest) { //nolint:forbidigo // how long to wait, no time of a record
		return soonest
	}
	return until
}

// soon is when a call that begins now should have its answer.
func soon() time.Time { return time.Now().Add(patience) } //nolint:forbidigo // how long to wait, no time of a record

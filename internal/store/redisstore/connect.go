package redisstore

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/redis/rueidis"

	"github.com/dengxu/dengxu/internal/store"
)

// connect makes the client for a URL. What is set here is what was found to
// matter when hosts vanish: writes and dials must give up within seconds, and
// Sentinel must be asked again and again, for one lost message would leave the
// client at the old master.
func connect(so *Options) (c rueidis.Client, cluster bool, err error) {
	a, err := parse(so.URL)
	if err != nil {
		return nil, false, err
	}
	o := a.client()
	if so.Dial != nil {
		o.DialCtxFn = func(ctx context.Context, addr string, d *net.Dialer, _ *tls.Config) (net.Conn, error) {
			ctx, cancel := context.WithTimeout(ctx, d.Timeout)
			defer cancel()
			return so.Dial(ctx, "tcp", addr)
		}
	}
	o.DisableRetry = true // repeats carry the number of the call, so they are ours
	o.DisableCache = true
	o.Dialer = net.Dialer{Timeout: dialing, KeepAlive: time.Second}
	o.ConnWriteTimeout = silence
	o.ClusterOption.MaxMovedRedirections = 5
	if so.Replicated { // each group on its way has a connection of its own
		o.ReadBufferEachConn, o.WriteBufferEachConn = 1<<16, 1<<16
	}
	c, err = rueidis.NewClient(o)
	if err != nil {
		return nil, false, a.explain(err)
	}
	return c, a.kind == "redis+cluster", nil
}

// nothingDone are the first words of replies that a server gives before it
// runs a script.
var nothingDone = []string{"LOADING", "READONLY", "CLUSTERDOWN", "MASTERDOWN", "TRYAGAIN", "NOREPLICAS", "MISCONF", "OOM", "BUSY", "MOVED", "ASK", "NOSCRIPT", "NOAUTH", "NOPERM", "WRONGPASS"}

// outcome sorts the error of a call: store.ErrUnavailable when the script
// surely did not run, store.ErrUnknown when it may have.
func outcome(err error) error {
	if isUnknown(err) {
		return err
	}
	if e, ok := rueidis.IsRedisErr(err); ok {
		word, _, _ := strings.Cut(e.Error(), " ")
		if slices.Contains(nothingDone, word) || strings.Contains(e.Error(), "max number of clients") {
			return fmt.Errorf("%w: %w", store.ErrUnavailable, err)
		}
		return err // a script failed: a defect
	}
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == "dial" || errors.Is(err, rueidis.ErrNoSlot) {
		return fmt.Errorf("%w: %w", store.ErrUnavailable, err)
	}
	return fmt.Errorf("%w: %w", store.ErrUnknown, err)
}

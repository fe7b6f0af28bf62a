package engine

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/dengxu/dengxu/internal/store"
)

// Several processes over one store run its timers and consumers, each for the
// partitions that it has leased. Leases only keep them from doing everything
// twice: what they do expects versions, so two owners do no harm. All leases
// stand in one document of the first partition, so that a process renews all
// of its own with one commit.

// How long leases hold, in ms: one that nobody renews is over 3.5 s after it
// was last written, and every process looks once a second.
const (
	leaseFor   = 3500
	leaseRenew = 1600 // written again when no more than this is left
)

// LeaseEvery is how often a process calls Lease.
const LeaseEvery = time.Second

// leaseKey names the document.
var leaseKey = store.DocKey{Kind: store.DocLease, ID: "loops"}

// leases is the document. Times are those of the first partition's clock.
type leases struct {
	Until  map[string]int64 `json:"until"`  // by process: when its leases end
	Owners []string         `json:"owners"` // by partition: the process that has it; "" = nobody
}

// Lease is what a process may run.
type Lease struct {
	Partitions []bool        // by partition: it is leased
	For        time.Duration // how long, from before the call
}

// Lease renews the leases of a process, takes the partitions that nobody has
// and hands those over that others should have. Codes: unavailable, deadline.
func (e *Engine) Lease(ctx context.Context, process string) (Lease, error) {
	for range maxTries {
		had, version, now, err := e.readLeases(ctx)
		if err != nil {
			return Lease{}, err
		}
		next := had.renewed(process, now, e.parts)
		if !next.equal(had) {
			err = e.writeLeases(ctx, next, version)
		}
		if errors.Is(err, errAgain) {
			continue
		}
		if err != nil {
			return Lease{}, err
		}
		l := Lease{Partitions: make([]bool, e.parts), For: time.Duration(next.Until[process]-now) * time.Millisecond}
		for p, owner := range next.Owners {
			l.Partitions[p] = owner == process
		}
		return l, nil
	}
	return Lease{}, errContention("renew leases")
}

// EndLease gives up the leases of a process that ends, so that others need not
// wait for them to be over.
func (e *Engine) EndLease(ctx context.Context, process string) error {
	for range maxTries {
		had, version, now, err := e.readLeases(ctx)
		if err != nil {
			return err
		}
		next := had.without(process, now, e.parts)
		if next.equal(had) {
			return nil
		}
		if err = e.writeLeases(ctx, next, version); !errors.Is(err, errAgain) {
			return err
		}
	}
	return errContention("end leases")
}

func (e *Engine) readLeases(ctx context.Context) (l leases, version uint64, now int64, err error) {
	v, err := e.view(ctx, store.Ask{Docs: []store.DocKey{leaseKey}})
	if err != nil || v.Docs[0] == nil {
		return l, 0, v.Now, err
	}
	if err := json.Unmarshal(v.Docs[0].Body, &l); err != nil {
		// Nothing is lost with it: everybody leases anew.
		e.log.WarnContext(ctx, "the document of leases is written anew", "err", err)
		l = leases{}
	}
	return l, v.Docs[0].Version, v.Now, nil
}

func (e *Engine) writeLeases(ctx context.Context, l leases, version uint64) error {
	write, err := docWrite(leaseKey.Kind, leaseKey.ID, "", l, 0, version)
	if err != nil {
		return err
	}
	_, err = e.store.Commit(ctx, store.Batch{Docs: []store.DocWrite{write}})
	if _, refused := errors.AsType[*store.Refused](err); refused {
		return errAgain
	}
	return storeError("write leases", err)
}

func (l leases) equal(o leases) bool {
	return maps.Equal(l.Until, o.Until) && slices.Equal(l.Owners, o.Owners)
}

// living are the leases without those that are over.
func (l leases) living(now int64, parts int) leases {
	next := leases{Until: make(map[string]int64), Owners: make([]string, parts)}
	for process, until := range l.Until {
		if until > now {
			next.Until[process] = until
		}
	}
	for p := range next.Owners {
		if p < len(l.Owners) && next.Until[l.Owners[p]] != 0 {
			next.Owners[p] = l.Owners[p]
		}
	}
	return next
}

// renewed are the leases after one process has renewed its own: it has what
// nobody had, and no more than its share of all if others can have the rest.
func (l leases) renewed(process string, now int64, parts int) leases {
	next := l.living(now, parts)
	if next.Until[process]-now <= leaseRenew {
		next.Until[process] = now + leaseFor
	}
	mine := make([]int, 0, parts)
	for p, owner := range next.Owners {
		if owner == "" {
			next.Owners[p] = process
		}
		if next.Owners[p] == process {
			mine = append(mine, p)
		}
	}
	share := (parts + len(next.Until) - 1) / len(next.Until)
	for _, p := range mine[min(share, len(mine)):] {
		next.Owners[p] = next.idlest()
	}
	return next
}

// without are the leases after one process has given up its own.
func (l leases) without(process string, now int64, parts int) leases {
	next := l.living(now, parts)
	delete(next.Until, process)
	for p, owner := range next.Owners {
		if owner == process {
			next.Owners[p] = next.idlest()
		}
	}
	return next
}

// idlest is the process with the fewest partitions, "" when there is none.
func (l leases) idlest() string {
	n := make(map[string]int, len(l.Until))
	for _, owner := range l.Owners {
		n[owner]++
	}
	return slices.MinFunc(append(slices.Collect(maps.Keys(l.Until)), ""), func(a, b string) int {
		switch {
		case a == "": // only when there is no other
			return 1
		case b == "":
			return -1
		case n[a] != n[b]:
			return n[a] - n[b]
		default:
			return strings.Compare(a, b)
		}
	})
}

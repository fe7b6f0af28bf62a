package redisstore

import (
	"context"
	"errors"
	"fmt"

	"github.com/redis/rueidis"

	"github.com/dengxu/dengxu/internal/store"
)

// replicaWait is how long one WAIT lasts, in ms: less than what the client
// takes for a dead connection.
const replicaWait = 500

// errNotReplicated is of a commit that stands on the master alone, so far.
var errNotReplicated = errors.New("no replica has confirmed the commit")

// runReplicated runs a commit and waits until a replica has it. WAIT is about
// the writes of its own connection, so both go over one, in one write. A repeat
// of a commit that stands writes its number once more (commit.lua), so that the
// WAIT behind it is about the commit too, whatever connection it takes.
//
// Others may read a commit while it waits; when it then fails with
// store.ErrUnknown, they have read what a failover can still take back.
func (p *part) runReplicated(ctx context.Context, c rueidis.Client, s *script, args ...string) ([]byte, error) {
	reply, err := s.runAndWait(ctx, c, p.keys, args, false)
	if node, asking := elsewhere(c, err); node != nil {
		return s.runAndWait(ctx, node, p.keys, args, asking)
	}
	return reply, err
}

// elsewhere is the node that a server refers to, and whether it has the slot
// only for those who ask: a connection of one's own does not follow.
func elsewhere(c rueidis.Client, err error) (node rueidis.Client, asking bool) {
	e, ok := rueidis.IsRedisErr(err)
	if !ok {
		return nil, false
	}
	addr, asking := e.IsAsk()
	if !asking {
		if addr, ok = e.IsMoved(); !ok {
			return nil, false
		}
	}
	return c.Nodes()[addr], asking
}

// runAndWait runs the script and WAIT over one connection; asking says first
// that the slot is on its way to this server.
func (s *script) runAndWait(ctx context.Context, c rueidis.Client, keys, args []string, asking bool) (reply []byte, err error) {
	err = c.Dedicated(func(d rueidis.DedicatedClient) error {
		send := func(run rueidis.Completed) (err error) {
			cmds := rueidis.Commands{run, d.B().Wait().Numreplicas(1).Timeout(replicaWait).Build()}
			if asking {
				cmds = append(rueidis.Commands{d.B().Asking().Build()}, cmds...)
			}
			got := d.DoMulti(ctx, cmds...)
			got = got[len(got)-2:]
			if reply, err = got[0].AsBytes(); err != nil {
				return err
			}
			n, err := got[1].AsInt64()
			if err != nil {
				return fmt.Errorf("%w: WAIT: %w", store.ErrUnknown, err)
			}
			if n < 1 {
				return fmt.Errorf("%w: %w", store.ErrUnknown, errNotReplicated)
			}
			return nil
		}
		err := send(d.B().Evalsha().Sha1(s.sha).Numkeys(int64(len(keys))).Key(keys...).Arg(args...).Build())
		if e, ok := rueidis.IsRedisErr(err); ok && e.IsNoScript() {
			err = send(d.B().Eval().Script(s.text).Numkeys(int64(len(keys))).Key(keys...).Arg(args...).Build())
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return reply, nil
}

package redisstore

import (
	"context"
	"fmt"
	"strconv"

	"github.com/redis/rueidis"
)

// Examined is what is found at a URL: the servers, and a store if there is one.
type Examined struct {
	Report     Report
	Exists     bool
	Format     string   // of the store
	Partitions int      // of the store
	Epochs     []uint64 // by partition; 0 = it could not be read
	Processes  int      // that are enrolled; one that was killed stays for a day or two
	Unread     []error  // of partitions that could not be read
}

// enrolled is how many bytes of the state's field w are about one process: see
// lua/found.lua.
const enrolled = 10

// Examine looks at servers and store without making, changing or refusing
// anything. It returns an error when no server answers.
func Examine(ctx context.Context, o Options) (*Examined, error) {
	o = o.withDefaults()
	c, cluster, err := connect(&o)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	s := &Store{opts: o, cluster: cluster} // without partitions: nothing is opened
	s.link.Store(&link{c})
	r, err := s.Check(ctx)
	if err != nil {
		return nil, err
	}
	e := &Examined{Report: *r}
	return e, e.store(ctx, c, o.Prefix)
}

// Exists reports whether a store is at a URL, without making one.
func Exists(ctx context.Context, o Options) (bool, error) {
	e, err := Examine(ctx, o)
	return err == nil && e.Exists, err
}

// store reads what the store says about itself. Partition 0 knows how many
// there are, and has the same keys for any number.
func (e *Examined) store(ctx context.Context, c rueidis.Client, prefix string) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	key := partitionKeys(prefix, 0, 1)[keyState-1]
	said, err := c.Do(ctx, c.B().Hmget().Key(key).Field("f", "P").Build()).AsStrSlice()
	if err != nil {
		return fmt.Errorf("read the store: %w", err)
	}
	e.Format = said[0]
	if e.Exists = e.Format != ""; !e.Exists {
		return nil
	}
	if e.Partitions, err = strconv.Atoi(said[1]); err != nil || e.Partitions < 1 || e.Partitions > maxPartitions {
		return fmt.Errorf("the store says that it has %q partitions", said[1])
	}
	cmds := make(rueidis.Commands, 0, e.Partitions)
	for i := range e.Partitions {
		key := partitionKeys(prefix, i, e.Partitions)[keyState-1]
		cmds = append(cmds, c.B().Hmget().Key(key).Field("m", "L", "w").Build())
	}
	e.Epochs = make([]uint64, e.Partitions)
	for i, reply := range c.DoMulti(ctx, cmds...) {
		said, err := reply.AsStrSlice()
		if err == nil && len(said[0]) < 6 {
			err = fmt.Errorf("it has no numbers: %d bytes", len(said[0]))
		}
		if err != nil {
			e.Unread = append(e.Unread, fmt.Errorf("partition %d: %w", i, err))
			continue
		}
		e.Epochs[i] = big([]byte(said[0][:6]))
		e.Processes = max(e.Processes, len(said[2])/enrolled)
		if said[1] != "" {
			e.Report.Lost.add(readLosses(&reader{buf: []byte(said[1]), ok: true}))
		}
	}
	return nil
}

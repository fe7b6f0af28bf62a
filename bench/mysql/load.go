package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/dengxu/dengxu/bench/internal/rig"
)

// load is requests that come at their time, whatever became of those before:
// the k-th at k / rate, over connection k mod conns. What waits because its
// connection still does is late, and its lateness counts.
type load struct {
	addr      string // host:port
	conns     int
	rate      int // a second
	lasts     time.Duration
	waits     time.Duration // for answers, after the last request
	joinsOnly bool
}

// sample is what became of one request.
type sample struct {
	took    time.Duration // since its time
	late    time.Duration // sent after its time, over a connection that was free; -1 = it was not
	failure string        // "" = it succeeded
}

// failures that are no status.
const (
	noAnswer  = "no answer"
	neverSent = "never sent"
)

// run lets the requests come. The error is of a load that could not begin.
func (l load) run(ctx context.Context) (figures, error) {
	clients, err := l.connect(ctx)
	if err != nil {
		return figures{}, err
	}
	samples := make([]sample, int(float64(l.rate)*l.lasts.Seconds()))
	run := rand.Text()[:12]
	used := ownCPU()
	start := time.Now().Add(50 * time.Millisecond)
	last := start.Add(l.lasts + l.waits)
	var wg sync.WaitGroup
	for i, c := range clients {
		wg.Go(func() {
			defer c.close()
			c.last = last
			for k := i; k < len(samples) && ctx.Err() == nil; k += l.conns {
				at := start.Add(time.Duration(k) * time.Second / time.Duration(l.rate))
				samples[k] = c.do(ctx, at, l.request(c.request[:0], run, k))
			}
		})
	}
	wg.Wait()
	took := time.Since(start)
	f := l.sum(samples)
	f.took, f.own = took, (ownCPU()-used).Seconds()/took.Seconds()
	return f, ctx.Err()
}

// connect opens all connections before the first request.
func (l load) connect(ctx context.Context) ([]*caller, error) {
	clients := make([]*caller, l.conns)
	for i := range clients {
		clients[i] = &caller{addr: l.addr, answer: bufio.NewReaderSize(nil, 4096), request: make([]byte, 0, 1024)}
		if err := clients[i].dial(ctx); err != nil {
			for _, c := range clients[:i] {
				c.close()
			}
			return nil, err
		}
	}
	return clients, nil
}

// isJoin tells joins from calls. Each connection has both: their number is
// even.
func (l load) isJoin(k int) bool { return l.joinsOnly || (k+k/l.conns)%2 == 0 }

// request writes the k-th request of a run.
func (l load) request(b []byte, run string, k int) []byte {
	const who = `{"business_id":"customer-%s-%09d","name":"Ada Lovelace-Byron","phone":"+44 20 7946 0000"}`
	if l.isJoin(k) {
		b = append(b, "POST /queue/main/join"...)
	} else {
		b = fmt.Appendf(b, "POST /queue/main/counter/c%d/call_next", (k/2)%rig.Counters)
	}
	b = fmt.Appendf(b, " HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\n"+
		"Idempotency-Key: %s-%09d\r\nContent-Length: ", l.addr, rig.Key, run, k)
	if l.isJoin(k) {
		b = fmt.Appendf(b, "%d\r\n\r\n", len(who)-len("%s%09d")+len(run)+9)
		return fmt.Appendf(b, who, run, k)
	}
	const complete = `{"current":"complete"}`
	return fmt.Appendf(b, "%d\r\n\r\n%s", len(complete), complete)
}

// caller is one connection.
type caller struct {
	addr    string
	conn    net.Conn
	last    time.Time // when to give up
	answer  *bufio.Reader
	request []byte
}

func (c *caller) dial(ctx context.Context) (err error) {
	c.conn, err = (&net.Dialer{Timeout: 10 * time.Second}).DialContext(ctx, "tcp", c.addr)
	if err != nil {
		return err
	}
	c.answer.Reset(c.conn)
	return nil
}

func (c *caller) close() {
	if c.conn != nil {
		_ = c.conn.Close()
		c.conn = nil
	}
}

// do sends a request at its time and waits for the answer.
func (c *caller) do(ctx context.Context, at time.Time, request []byte) sample {
	s := sample{late: -1}
	wait := time.Until(at)
	if wait > 0 {
		time.Sleep(wait)
		s.late = time.Since(at)
	}
	if time.Now().After(c.last) {
		return sample{took: time.Since(at), late: -1, failure: neverSent}
	}
	err := c.exchange(ctx, request)
	s.took = time.Since(at)
	if refused, ok := errors.AsType[refusal](err); ok {
		s.failure = refused.Error()
	} else if err != nil {
		c.close() // the next one dials again
		s.failure = noAnswer
	}
	return s
}

func (c *caller) exchange(ctx context.Context, request []byte) error {
	if c.conn == nil {
		if err := c.dial(ctx); err != nil {
			return err
		}
	}
	if err := c.conn.SetDeadline(c.last); err != nil {
		return err
	}
	if _, err := c.conn.Write(request); err != nil {
		return err
	}
	return c.read()
}

// refusal is an answer that is no success.
type refusal struct {
	status int
	text   string // how the answer begins
}

func (r refusal) Error() string {
	if r.status == http.StatusNoContent {
		return "204 nobody waits"
	}
	return strings.TrimSpace(fmt.Sprint(r.status, " ", r.text))
}

// read reads one answer, as far as it must be understood.
func (c *caller) read() error {
	line, err := c.answer.ReadSlice('\n')
	if err != nil {
		return err
	}
	if len(line) < 12 || !bytes.HasPrefix(line, []byte("HTTP/1.1 ")) {
		return fmt.Errorf("not HTTP: %q", line)
	}
	status, err := strconv.Atoi(string(line[9:12]))
	if err != nil {
		return err
	}
	size := 0
	for {
		if line, err = c.answer.ReadSlice('\n'); err != nil {
			return err
		}
		if len(line) <= 2 {
			break
		}
		name, value, _ := bytes.Cut(line, []byte(":"))
		switch {
		case bytes.EqualFold(name, []byte("Content-Length")):
			if size, err = strconv.Atoi(string(bytes.TrimSpace(value))); err != nil {
				return err
			}
		case bytes.EqualFold(name, []byte("Transfer-Encoding")):
			return errors.New("an answer in chunks")
		}
	}
	begin, err := c.answer.Peek(min(size, 80))
	if err != nil {
		return err
	}
	var refused error
	if status != http.StatusOK && status != http.StatusCreated {
		refused = refusal{status, string(begin)}
	}
	if _, err := c.answer.Discard(size); err != nil {
		return err
	}
	return refused
}

// ownCPU is the processor time of this process, which is the generator's.
func ownCPU() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// figures are what became of a load.
type figures struct {
	joins, calls, both []time.Duration // sorted, failures included
	ok                 int
	failures           map[string]int
	late               time.Duration // P99 of how late the generator itself was
	took               time.Duration
	own                float64   // cores that the generator kept busy
	cpu                []float64 // cores: the generator, then the system's parts
}

func (l load) sum(samples []sample) figures {
	f := figures{failures: map[string]int{}}
	var late []time.Duration
	for k, s := range samples {
		if l.isJoin(k) {
			f.joins = append(f.joins, s.took)
		} else {
			f.calls = append(f.calls, s.took)
		}
		if s.late >= 0 {
			late = append(late, s.late)
		}
		if s.failure == "" {
			f.ok++
		} else {
			f.failures[s.failure]++
		}
	}
	f.both = slices.Concat(f.joins, f.calls)
	for _, took := range [][]time.Duration{f.joins, f.calls, f.both, late} {
		slices.Sort(took)
	}
	f.late = rig.Percentile(late, 0.99)
	return f
}

func (f figures) all() int { return len(f.both) }

func (f figures) p(share float64) time.Duration { return rig.Percentile(f.both, share) }

func (f figures) share() float64 { return float64(f.ok) / float64(max(f.all(), 1)) }

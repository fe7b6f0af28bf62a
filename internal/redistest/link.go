package redistest

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"
)

// link is one connection through a proxy.
type link struct {
	proxy          *Proxy
	client, server net.Conn
	done           chan struct{} // closed when the link is
	once           sync.Once
	// Replies that are on their way to the client: as many as a client may
	// have under way while replies are delayed.
	way chan reply

	mu      sync.Mutex // guards pending
	pending []*rule    // of the requests that have no reply yet

	lost bool // whether a reply was swallowed; guarded by proxy.mu
}

// reply is a reply on its way.
type reply struct {
	raw  []byte
	came time.Time
	rule *rule
}

func newLink(p *Proxy, client, server net.Conn) *link {
	return &link{proxy: p, client: client, server: server, done: make(chan struct{}), way: make(chan reply, 1<<14)}
}

// close closes both sides. The client sees a reset.
func (l *link) close() {
	l.once.Do(func() {
		close(l.done)
		abort(l.client)
		_ = l.server.Close()
	})
}

// abort closes a connection so that nothing more arrives at the other end.
func abort(c net.Conn) {
	if tcp, ok := c.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0) // fails on a connection that has ended
	}
	_ = c.Close()
}

// requests hands requests on to the server.
func (l *link) requests() {
	defer l.close()
	in, out := bufio.NewReader(l.client), bufio.NewWriter(l.server)
	for {
		request, err := appendFrame(nil, in)
		if err != nil {
			return
		}
		rule, command := l.proxy.arrived(request)
		// The answer to a subscription is a push, which answers no request.
		if rule != nil || !strings.HasSuffix(command, "SUBSCRIBE") {
			l.mu.Lock()
			l.pending = append(l.pending, rule)
			l.mu.Unlock()
		}
		if !l.passing() || rule.is(DropRequest) {
			return
		}
		_, err = out.Write(request)
		if err == nil && in.Buffered() == 0 {
			err = out.Flush()
		}
		if err != nil {
			return
		}
	}
}

// replies sends replies on their way.
func (l *link) replies() {
	defer l.close()
	in := bufio.NewReader(l.server)
	for {
		raw, err := appendFrame(nil, in)
		if err != nil {
			return
		}
		r := reply{raw: raw, came: time.Now()}
		l.mu.Lock()
		if raw[0] != '>' && len(l.pending) > 0 {
			r.rule, l.pending = l.pending[0], l.pending[1:]
		}
		l.mu.Unlock()
		select {
		case l.way <- r:
		case <-l.done:
			return
		}
	}
}

// deliver hands replies to the client when it is time.
func (l *link) deliver() {
	defer l.close()
	for {
		var r reply
		select {
		case r = <-l.way:
		case <-l.done:
			return
		}
		if !l.late(r.came) || !l.passing() || r.rule.is(DropReply) {
			r.rule.applied()
			return
		}
		swallowed := l.swallows(r.rule)
		r.rule.applied()
		if swallowed {
			continue
		}
		if _, err := l.client.Write(r.raw); err != nil {
			return
		}
	}
}

// settle ends the wait for faults that nothing is left of to apply to.
func (l *link) settle() {
	for _, r := range l.pending {
		r.applied()
	}
	for {
		select {
		case r := <-l.way:
			r.rule.applied()
		default:
			return
		}
	}
}

// late waits until a reply that came then is as late as the proxy makes it; it
// reports false when the link is closed.
func (l *link) late(came time.Time) bool {
	l.proxy.mu.Lock()
	delay := l.proxy.delay
	l.proxy.mu.Unlock()
	if delay == 0 {
		return true
	}
	select {
	case <-time.After(time.Until(came.Add(delay))):
		return true
	case <-l.done:
		return false
	}
}

// passing waits while the proxy pauses; it reports false when the link is
// closed.
func (l *link) passing() bool {
	l.proxy.mu.Lock()
	paused := l.proxy.paused
	l.proxy.mu.Unlock()
	select {
	case <-paused:
		return true
	case <-l.done:
		return false
	}
}

// swallows reports whether a reply gets lost: after the first that does, all
// do, since the client would take the next one for it.
func (l *link) swallows(r *rule) bool {
	l.proxy.mu.Lock()
	defer l.proxy.mu.Unlock()
	l.lost = l.lost || l.proxy.mute || r.is(SwallowReply)
	return l.lost
}

// appendFrame reads one request or reply, whatever is nested in it, and
// appends its bytes.
func appendFrame(buf []byte, in *bufio.Reader) ([]byte, error) {
	line, err := in.ReadBytes('\n')
	if err != nil {
		return buf, err
	}
	buf = append(buf, line...)
	nested := 0
	switch line[0] {
	case '$', '!', '=', '*', '~', '>', '%', '|':
		if nested, err = strconv.Atoi(strings.TrimSpace(string(line[1:]))); err != nil {
			return buf, err
		}
	case '+', '-', ':', '_', '#', ',', '(':
		return buf, nil
	default:
		return buf, fmt.Errorf("neither request nor reply: %q", line)
	}
	switch line[0] {
	case '$', '!', '=':
		if nested < 0 {
			return buf, nil // no string at all
		}
		from := len(buf)
		buf = append(buf, make([]byte, nested+2)...)
		_, err := io.ReadFull(in, buf[from:])
		return buf, err
	case '%':
		nested *= 2 // keys and values
	case '|':
		nested = 2*nested + 1 // attributes, and the reply they belong to
	}
	for range nested {
		if buf, err = appendFrame(buf, in); err != nil {
			return buf, err
		}
	}
	return buf, nil
}

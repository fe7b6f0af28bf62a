package redistest

import (
	"bytes"
	"context"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// Fault is what a proxy does to one request.
type Fault int

// The faults. After each of the first two the server has run the command and
// the client cannot know.
const (
	// DropReply waits for the reply and closes the connection instead of
	// handing it on.
	DropReply Fault = iota + 1
	// SwallowReply hands on neither the reply nor anything after it on this
	// connection, which stays open.
	SwallowReply
	// DropRequest closes the connection before the server sees the request.
	DropRequest
)

// Proxy stands between clients and one server and understands where a request
// and a reply end, in RESP2 and RESP3. Its methods may be called at any time.
type Proxy struct {
	target   string
	listener net.Listener
	pumps    sync.WaitGroup

	mu     sync.Mutex // guards the fields below
	links  map[*link]bool
	counts map[string]int
	rules  []*rule
	cut    bool
	mute   bool
	delay  time.Duration
	paused chan struct{} // closed when nothing is held up
}

// rule is a fault that waits for its request. A rule that is nil does nothing.
type rule struct {
	marker []byte
	nth    int
	fault  Fault
	hit    chan struct{}
}

// is reports whether the rule is this fault.
func (r *rule) is(f Fault) bool { return r != nil && r.fault == f }

// applied says that the fault has been applied.
func (r *rule) applied() {
	if r != nil {
		close(r.hit)
	}
}

// NewProxy starts a proxy for the server at the target address. It ends with
// the test.
func NewProxy(t testing.TB, target string) *Proxy {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{
		target: target, listener: listener, links: map[*link]bool{}, counts: map[string]int{}, paused: make(chan struct{}),
	}
	close(p.paused)
	p.pumps.Go(p.accept)
	t.Cleanup(func() {
		_ = listener.Close()
		p.Cut()
		p.pumps.Wait()
	})
	return p
}

// Addr is where clients connect to, host:port.
func (p *Proxy) Addr() string { return p.listener.Addr().String() }

// URL is the server behind the proxy as the product is told of it.
func (p *Proxy) URL() string { return "redis://" + p.Addr() }

// On applies the fault once: to the nth request from now on, counted from 1,
// whose bytes contain the marker. What it returns is closed when the fault has
// been applied, after the server's reply where there is one, or when the
// connection has ended before.
func (p *Proxy) On(nth int, marker string, f Fault) <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	r := &rule{marker: []byte(marker), nth: nth, fault: f, hit: make(chan struct{})}
	p.rules = append(p.rules, r)
	return r.hit
}

// Count is how many requests of a command, such as EVALSHA, came in; of all
// commands when it is empty.
func (p *Proxy) Count(command string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.counts[command]
}

// SwallowReplies hands on no reply until Heal, while requests reach the
// server. Connections that lost one are closed then.
func (p *Proxy) SwallowReplies() { p.set(func() { p.mute = true }) }

// Delay makes each reply later, as a long way would; 0 ends that.
func (p *Proxy) Delay(d time.Duration) { p.set(func() { p.delay = d }) }

// Pause holds everything up, both ways, until Heal. Connections stay open.
func (p *Proxy) Pause() { p.set(func() { p.resume(); p.paused = make(chan struct{}) }) }

// Cut closes all connections, and new ones at once, until Heal.
func (p *Proxy) Cut() {
	p.set(func() {
		p.cut = true
		for l := range p.links {
			l.close()
		}
	})
}

// Heal ends what SwallowReplies, Delay, Pause and Cut began. Faults that wait
// for their request go on waiting.
func (p *Proxy) Heal() {
	p.set(func() {
		p.cut, p.mute, p.delay = false, false, 0
		for l := range p.links {
			if l.lost {
				l.close()
			}
		}
		p.resume()
	})
}

func (p *Proxy) set(change func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change()
}

// resume lets go of what is held up; p.mu is held.
func (p *Proxy) resume() {
	select {
	case <-p.paused:
	default:
		close(p.paused)
	}
}

func (p *Proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.pumps.Go(func() { p.serve(client) })
	}
}

func (p *Proxy) serve(client net.Conn) {
	server, err := (&net.Dialer{Timeout: patience}).DialContext(context.Background(), "tcp", p.target)
	if err != nil {
		abort(client)
		return
	}
	l := newLink(p, client, server)
	p.set(func() {
		p.links[l] = true
		if p.cut {
			l.close()
		}
	})
	defer p.set(func() { delete(p.links, l) })
	var pumps sync.WaitGroup
	pumps.Go(l.requests)
	pumps.Go(l.replies)
	pumps.Go(l.deliver)
	pumps.Wait()
	l.settle()
}

// arrived counts a request and returns the rule for it, which is nil for most.
func (p *Proxy) arrived(request []byte) (found *rule, command string) {
	if parts := bytes.SplitN(request, []byte("\r\n"), 4); len(parts) == 4 {
		command = strings.ToUpper(string(parts[2]))
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.counts[command]++
	p.counts[""]++
	p.rules = slices.DeleteFunc(p.rules, func(r *rule) bool {
		if !bytes.Contains(request, r.marker) {
			return false
		}
		r.nth--
		if r.nth > 0 || found != nil {
			return false
		}
		found = r
		return true
	})
	return found, command
}

package torture

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/client"
)

// crashHall has lines whose timers run all the time.
func crashHall() hall {
	h := hall{
		site: fmt.Sprintf(`{"time_zone":%q}`, noon()),
		queues: map[string]string{
			"a": `{"day_end":"keep","call_timeout_seconds":1,"recall_gap_seconds":0.2,"missed":{"penalty_seconds":0.1,"max_misses":3},"groups":{"VIP":{"factor":0.5}}}`,
			"b": `{"day_end":"keep","prefix":"B","call_timeout_seconds":1,"on_call_timeout":"start"}`,
		},
		counters: make(map[string]string),
	}
	for i := range crashClients {
		h.counters[crashCounter(i)] = `{"queues":["a","b"]}`
	}
	return h
}

const crashClients = 16

func crashCounter(i int) string { return fmt.Sprintf("c%d", i) }

// acknowledged is what the server said of a token: the highest version, and
// what it was then.
type acknowledged struct {
	version uint64
	state   dengxu.State
	number  string
}

// witness remembers every answer. No later reading may contradict it.
type witness struct {
	t    *testing.T
	seed uint64

	mu      sync.Mutex // guards everything below
	tokens  map[dengxu.TokenID]acknowledged
	numbers map[string]dengxu.TokenID
	calls   map[uint64]string // call number: token and counter
	answers int
}

func newWitness(t *testing.T, seed uint64) *witness {
	t.Helper()
	return &witness{
		t: t, seed: seed, tokens: make(map[dengxu.TokenID]acknowledged),
		numbers: make(map[string]dengxu.TokenID), calls: make(map[uint64]string),
	}
}

// saw takes in an answer.
func (w *witness) saw(id dengxu.TokenID, a acknowledged) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.answers++
	if other, taken := w.numbers[a.number]; taken && other != id {
		w.t.Errorf("seed %d: the number %s was given to %s and to %s", w.seed, a.number, other, id)
	}
	w.numbers[a.number] = id
	before, known := w.tokens[id]
	switch {
	case known && before.number != a.number:
		w.t.Errorf("seed %d: %s was %s and is %s", w.seed, id, before.number, a.number)
	case known && before.version == a.version && before.state != a.state:
		w.t.Errorf("seed %d: %s at version %d was %s and is %s", w.seed, a.number, a.version, before.state, a.state)
	case !known || a.version > before.version:
		w.tokens[id] = a
	}
}

// called takes in an answer to a call.
func (w *witness) called(t *dengxu.Token) {
	w.saw(t.ID, acknowledged{t.Version, t.State, t.Number})
	if t.State != dengxu.StateCalling {
		return // a repeat tells the token as it is now
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	now := fmt.Sprintf("%s at %s", t.Number, t.CounterID)
	if before, known := w.calls[t.CallNo]; known && before != now {
		w.t.Errorf("seed %d: call %d was of %s and is of %s", w.seed, t.CallNo, before, now)
	}
	w.calls[t.CallNo] = now
}

// snapshot is what was acknowledged until now.
func (w *witness) snapshot() (tokens map[dengxu.TokenID]acknowledged, answers int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return maps.Clone(w.tokens), w.answers
}

// visitor is one client of the crash test: people who come, leave and change
// queues, and a counter that calls.
type visitor struct {
	*client.Client
	rng     *rand.Rand
	counter dengxu.CounterID
	mine    []dengxu.TokenID
	joins   int
	w       *witness
}

// step does one thing with a key of its own until it has an answer.
func (v *visitor) step(ctx context.Context) error {
	roll := v.rng.IntN(10)
	if len(v.mine) == 0 || roll < 4 {
		return v.join(ctx)
	}
	if roll < 7 {
		return v.call(ctx)
	}
	id := v.mine[v.rng.IntN(len(v.mine))]
	req := dengxu.VerbRequest{}
	verb := []dengxu.Verb{dengxu.VerbTransfer, dengxu.VerbCancel, dengxu.VerbComplete, dengxu.VerbMiss, dengxu.VerbUndo}[v.rng.IntN(5)]
	if verb == dengxu.VerbTransfer {
		req.QueueID = []dengxu.QueueID{"a", "b"}[v.rng.IntN(2)]
	}
	t, err := v.Act(ctx, verb, id, req)
	if verb == dengxu.VerbTransfer && dengxu.CodeOf(err) == dengxu.Invalid {
		return nil // it stands there already, which the visitor does not know
	}
	if err == nil {
		v.w.saw(t.ID, acknowledged{t.Version, t.State, t.Number})
	}
	return err
}

func (v *visitor) join(ctx context.Context) error {
	// The name tells one intention to join from another.
	req := dengxu.JoinRequest{Name: fmt.Sprintf("%s/%d", v.counter, v.joins)}
	v.joins++
	if v.rng.IntN(3) == 0 {
		req.BusinessID = fmt.Sprintf("person-%d", v.rng.IntN(40))
	}
	queue := []dengxu.QueueID{"a", "b"}[v.rng.IntN(2)]
	if queue == "a" && v.rng.IntN(3) == 0 {
		req.PriorityGroup = "VIP"
	}
	t, err := v.Join(ctx, queue, req)
	if err == nil {
		v.w.saw(t.ID, acknowledged{t.Version, t.State, t.Number})
		v.mine = append(v.mine[max(0, len(v.mine)-20):], t.ID)
	}
	return err
}

func (v *visitor) call(ctx context.Context) error {
	current := []string{"complete", "complete", "miss", "requeue"}[v.rng.IntN(4)]
	o, err := v.CallNext(ctx, v.counter, client.CallOptions{CallRequest: dengxu.CallRequest{Current: current}})
	if err == nil && o.Token != nil {
		v.w.called(o.Token)
		v.mine = append(v.mine, o.Token.ID)
	}
	return err
}

// TestKilled: a server that is killed at random moments under load forgets
// nothing that it acknowledged and gives no number twice, also where two servers
// share a store and are killed by turns. All of it is 100 kills on each ground,
// of five servers or pairs.
func TestKilled(t *testing.T) {
	t.Parallel()
	for name, ground := range grounds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			seeds(t, rounds(1, 5), func(t *testing.T, seed uint64) {
				url := ground(t)
				servers := []*child{newChild(t, url)}
				if url != "" {
					servers = append(servers, newChild(t, url))
				}
				killed(t, seed, servers)
			})
		})
	}
}

// killed lets visitors come to servers that share a store while these are
// killed.
func killed(t *testing.T, seed uint64, servers []*child) {
	t.Helper()
	first := servers[0]
	crashHall().build(t, remote{first.client(t, 1)})
	w := newWitness(t, seed)
	ctx, cancel := context.WithCancel(t.Context())
	var visitors sync.WaitGroup
	for i := range crashClients {
		v := &visitor{
			Client: servers[i%len(servers)].client(t, 1000), rng: dice(seed, uint64(i)), counter: dengxu.CounterID(crashCounter(i)), w: w,
		}
		visitors.Go(func() { v.work(ctx) })
	}
	w.killing(servers, rounds(6-len(servers), 20)) // an audit of a shared store takes its time
	cancel()
	visitors.Wait()
	tokens, answers := w.snapshot()
	for _, server := range servers {
		w.check(tokens, everyone(t, server.client(t, 1)))
		auditLive(t, seed, server.client(t, 1))
	}
	for _, server := range servers {
		server.kill(t)
	}
	first.audit(t, seed)
	t.Logf("seed %d: %d answers about %d tokens", seed, answers, len(tokens))
}

// killing kills servers n times by turns while the visitors go on, and holds
// what one knows after each start against what was acknowledged before the kill.
func (w *witness) killing(servers []*child, n int) {
	w.t.Helper()
	rng, answers := dice(w.seed, 1000), 0
	for round := range n {
		server := servers[round%len(servers)]
		time.Sleep(time.Duration(100+rng.IntN(500)) * time.Millisecond) // a random moment, not a signal
		auditLive(w.t, w.seed, server.client(w.t, 1))
		server.kill(w.t)
		tokens, now := w.snapshot()
		if now == answers {
			w.t.Errorf("seed %d, round %d: nothing was acknowledged", w.seed, round)
		}
		answers = now
		server.audit(w.t, w.seed)
		server.start(w.t)
		w.check(tokens, everyone(w.t, server.client(w.t, 1)))
	}
}

// work goes on until ctx ends. Refusals are no answers about a token.
func (v *visitor) work(ctx context.Context) {
	for ctx.Err() == nil {
		err := v.step(ctx)
		switch dengxu.CodeOf(err) { //nolint:exhaustive // the others must not be
		case "", dengxu.Conflict, dengxu.Exists, dengxu.Canceled:
		default:
			v.w.t.Errorf("seed %d: %v", v.w.seed, err)
			return
		}
	}
}

// everyone lists the site's tokens in the order of their arrival.
func everyone(t *testing.T, cl *client.Client) []dengxu.Token {
	t.Helper()
	var all []dengxu.Token
	f := dengxu.TokenFilter{Limit: 200}
	for {
		page, err := cl.SiteTokens(t.Context(), hallID, f)
		if err != nil {
			t.Fatalf("list tokens: %v", err)
		}
		all = append(all, page.Items...)
		if page.NextCursor == "" {
			return all
		}
		f.Cursor = page.NextCursor
	}
}

// check holds the server's tokens against what was acknowledged before, and
// their numbers against each other.
func (w *witness) check(before map[dengxu.TokenID]acknowledged, now []dengxu.Token) {
	w.t.Helper()
	found := make(map[dengxu.TokenID]dengxu.Token, len(now))
	last, names := make(map[byte]int), make(map[string]string)
	for _, t := range now {
		found[t.ID] = t
		if other, twice := names[t.Name]; twice {
			w.t.Errorf("seed %d: one join made %s and %s", w.seed, other, t.Number)
		}
		names[t.Name] = t.Number
		series := t.Number[0]
		if n := numberOf(t.Number); n != last[series]+1 {
			w.t.Errorf("seed %d: after %c%d came %s", w.seed, series, last[series], t.Number)
		}
		last[series]++
	}
	var lost []string
	for id, a := range before {
		t, ok := found[id]
		if !ok || t.Version < a.version || t.Number != a.number || t.Version == a.version && t.State != a.state {
			lost = append(lost, fmt.Sprintf("%s %s v%d, found %v %s v%d", a.number, a.state, a.version, ok, t.State, t.Version))
		}
	}
	slices.Sort(lost)
	for _, text := range lost[:min(len(lost), 10)] {
		w.t.Errorf("seed %d: acknowledged and lost: %s", w.seed, text)
	}
	if len(lost) > 10 {
		w.t.Errorf("seed %d: and %d more", w.seed, len(lost)-10)
	}
}

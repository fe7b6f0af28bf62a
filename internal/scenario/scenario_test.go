package scenario_test

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"go.uber.org/goleak"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/redistest"
	"github.com/dengxu/dengxu/internal/scenario"
	"github.com/dengxu/dengxu/internal/store"
	"github.com/dengxu/dengxu/internal/store/memstore"
	"github.com/dengxu/dengxu/internal/store/pebblestore"
	"github.com/dengxu/dengxu/internal/store/redisstore"
	"github.com/dengxu/dengxu/internal/store/storetest"
)

func TestMain(m *testing.M) {
	// Connections to nodes that left a cluster are closed 5 s later, whether
	// the client is closed or not.
	goleak.VerifyTestMain(redistest.Main(m), goleak.IgnoreAnyFunction("github.com/redis/rueidis.(*clusterClient)._refresh.func2"))
}

// clusterShare is how many stories there are for one that is played on a
// cluster too; all are in the long tests. It is the same store over other
// servers, so that a third of them tells whether it works at all.
func clusterShare() int {
	if storetest.Torture() {
		return 1
	}
	return 3
}

// hall is one store and the clock that it reads.
type hall struct {
	clock *storetest.Clock
	asked sync.RWMutex // held while the store is asked over a network, and by whoever turns the clock
	store store.Store
	// open opens the store again after Close; nil means that it must not be
	// closed, because nothing of it would be left.
	open func() (store.Store, error)
}

// still is a store that time stands for while it is asked: an answer that is
// minutes on its way would look like a clock that was set.
type still struct {
	store.Store
	asked *sync.RWMutex
}

func (s still) Commit(ctx context.Context, b store.Batch) (store.Result, error) {
	s.asked.RLock()
	defer s.asked.RUnlock()
	return s.Store.Commit(ctx, b)
}

func (s still) View(ctx context.Context, a store.Ask) (store.View, error) {
	s.asked.RLock()
	defer s.asked.RUnlock()
	return s.Store.View(ctx, a)
}

func (s still) List(ctx context.Context, a store.ListAsk) (store.Page, error) {
	s.asked.RLock()
	defer s.asked.RUnlock()
	return s.Store.List(ctx, a)
}

func (s still) Due(ctx context.Context, p store.Partition, limit int) (store.Due, error) {
	s.asked.RLock()
	defer s.asked.RUnlock()
	return s.Store.Due(ctx, p, limit)
}

// keep is a store that outlives the server over it.
type keep struct{ store.Store }

func (keep) Close() error { return nil }

// halls are the stores that every story is played on.
var halls = map[string]func(*testing.T, *storetest.Clock) (*hall, error){
	"memory": func(_ *testing.T, c *storetest.Clock) (*hall, error) {
		return &hall{clock: c, store: memstore.New(memstore.Options{Wall: c.Wall, Mono: c.Mono})}, nil
	},
	"redis": func(t *testing.T, c *storetest.Clock) (*hall, error) {
		t.Helper()
		return onRedis(t, c, redistest.Shared(t).URL(), 0)
	},
	// Eight partitions have sites of stories in each third of the slots.
	"cluster": func(t *testing.T, c *storetest.Clock) (*hall, error) {
		t.Helper()
		return onRedis(t, c, redistest.SharedCluster(t).URL(), 8)
	},
	"pebble": func(_ *testing.T, c *storetest.Clock) (*hall, error) {
		// In a file system in memory: what a disk does is tested with the store.
		fs := vfs.NewMem()
		open := func() (store.Store, error) {
			return pebblestore.Open(pebblestore.Options{Dir: "store", FS: fs, Wall: c.Wall, Mono: c.Mono})
		}
		s, err := open()
		return &hall{clock: c, store: s, open: open}, err
	},
}

// onRedis is a hall under keys of its own. The story's clock stands in for the
// server's.
func onRedis(t *testing.T, c *storetest.Clock, url string, partitions int) (*hall, error) {
	t.Helper()
	prefix, h := redistest.Prefix(t), &hall{clock: c}
	h.open = func() (store.Store, error) {
		s, err := redisstore.Open(t.Context(), redisstore.Options{
			URL: url, Prefix: prefix, Partitions: partitions, Wall: c.Wall, Mono: c.Mono,
		})
		return still{s, &h.asked}, err
	}
	var err error
	h.store, err = h.open()
	return h, err
}

func (h *hall) reopen() (err error) {
	if h.open == nil {
		return nil
	}
	if err = h.store.Close(); err == nil {
		h.store, err = h.open()
	}
	return err
}

// moveTo lets time pass until t. It stops at each moment at which something is
// due, so that timers act when they should and not at the end of the step.
// Settle does what is due now, and says in how long the next thing is.
func (h *hall) moveTo(ctx context.Context, t time.Time, late bool, settle func(context.Context) (time.Duration, error)) error {
	left := func() time.Duration { return t.Sub(h.clock.Wall()) }
	advance := func(d time.Duration) {
		h.asked.Lock()
		defer h.asked.Unlock()
		h.clock.Advance(d)
	}
	if late {
		advance(left())
		return nil
	}
	for {
		wait, err := settle(ctx)
		if err != nil || left() == 0 {
			return err
		}
		if wait <= 0 || wait > left() {
			wait = left()
		}
		advance(wait)
	}
}

// readLine reads those who wait in a queue, with their ranks.
func readLine(page func(dengxu.TokenFilter) (dengxu.TokenPage, error), one func(dengxu.TokenID) (dengxu.Token, error)) ([]dengxu.Token, error) {
	var all []dengxu.Token
	f := dengxu.TokenFilter{States: []dengxu.State{dengxu.StateWaiting}}
	for {
		p, err := page(f)
		if err != nil {
			return nil, err
		}
		for _, t := range p.Items {
			if t, err = one(t.ID); err != nil {
				return nil, err
			}
			all = append(all, t)
		}
		if p.NextCursor == "" {
			return all, nil
		}
		f.Cursor = p.NextCursor
	}
}

// TestStories plays every story on every store, directly and over HTTP, and
// audits the store afterwards.
func TestStories(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.story")
	if err != nil || len(files) == 0 {
		t.Fatalf("no stories: %v", err)
	}
	if clusterShare() > 1 {
		t.Logf("on a cluster: every %drd story; make torture plays all", clusterShare())
	}
	for i, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		story, err := scenario.Parse(file, string(text))
		if err != nil {
			t.Error(err)
			continue
		}
		name := strings.TrimSuffix(filepath.Base(file), ".story")
		for hall := range halls {
			if hall == "cluster" && i%clusterShare() != 0 {
				continue
			}
			for _, how := range []string{"direct", "http"} {
				if story.Only != "" && story.Only != how {
					continue
				}
				t.Run(name+"/"+hall+"/"+how, func(t *testing.T) {
					t.Parallel()
					playOn(t, story, hall, how)
				})
			}
		}
	}
}

// TestStoriesAndReadmeTellEverything holds the language against its
// documentation, and the stories against both: a word, a state and a refusal
// that no story tells is one that nobody tried here.
func TestStoriesAndReadmeTellEverything(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	files, _ := filepath.Glob("testdata/*.story")
	var stories strings.Builder
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		stories.Write(text)
	}
	told := func(word string) bool {
		return regexp.MustCompile(`\b` + word + `\b`).MatchString(stories.String())
	}
	for _, word := range scenario.Words() {
		if !regexp.MustCompile(`\b` + word + `\b`).Match(readme) {
			t.Errorf("README.md does not tell the word %s", word)
		}
		if !told(word) {
			t.Errorf("no story tells %s", word)
		}
	}
	for _, state := range dengxu.States() {
		if state != dengxu.StateFailed && !told(string(state)) { // tasks fail
			t.Errorf("no story comes to the state %s", state)
		}
	}
	for _, reason := range []string{ // of docs/errors.md, as far as a person in line meets them
		"already_in_line", "paused", "closing", "closed", "before_opening", "last_ticket", "rejoin_after",
		"max_length", "daily_quota", "numbers_used_up", "counter_paused", "counter_busy", "not_served",
		"pick", "move", "state", "other_counter", "stale_version", "max_calls", "defer_max",
		"confirmed_already", "rated_already", "undo_too_late", "no_room", "too_early", "in_use", "not_empty",
		"idempotency_key_reused", "has_tokens", "other_classes_waiting", "queue_paused", "queue_closed",
		"only_absent", "none_waiting", "no_counter_open", "not_enough_data", "not_waiting",
	} {
		if !told(reason) {
			t.Errorf("no story is refused with %s", reason)
		}
	}
}

func playOn(t *testing.T, story *scenario.Story, name, how string) {
	t.Helper()
	clock := storetest.NewClock()
	clock.Advance(story.Starts.Sub(clock.Wall()))
	h, err := halls[name](t, clock)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.store.Close(); err != nil {
			t.Error(err)
		}
	})
	var stage scenario.Stage
	if how == "http" {
		stage = newRemote(t, h, story.Events)
	} else {
		stage = newDirect(t, h)
	}
	if err := scenario.Play(t.Context(), story, stage); err != nil {
		t.Fatal(err)
	}
	found, err := h.store.Audit(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range found {
		t.Errorf("audit: %s: %s", f.Kind, f.Text)
	}
}

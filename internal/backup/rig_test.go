package backup_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.uber.org/goleak"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/backup"
	"github.com/dengxu/dengxu/internal/engine"
	"github.com/dengxu/dengxu/internal/redistest"
	"github.com/dengxu/dengxu/internal/store"
	"github.com/dengxu/dengxu/internal/store/memstore"
	"github.com/dengxu/dengxu/internal/store/pebblestore"
	"github.com/dengxu/dengxu/internal/store/redisstore"
	"github.com/dengxu/dengxu/internal/store/storetest"
)

// rueidis leaves a goroutine asleep for five seconds behind a closed cluster.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(redistest.Main(m), goleak.IgnoreAnyFunction("github.com/redis/rueidis.(*clusterClient)._refresh.func2"))
}

// kinds are stores of all kinds and numbers of partitions.
var kinds = map[string]func(t *testing.T, c *storetest.Clock) store.Store{
	"memory": func(_ *testing.T, c *storetest.Clock) store.Store {
		return memstore.New(memstore.Options{Wall: c.Wall, Mono: c.Mono})
	},
	"memory of 5": func(_ *testing.T, c *storetest.Clock) store.Store {
		return memstore.New(memstore.Options{Wall: c.Wall, Mono: c.Mono, Partitions: 5})
	},
	"pebble": func(t *testing.T, c *storetest.Clock) store.Store {
		t.Helper()
		s, err := pebblestore.Open(pebblestore.Options{Dir: "data", FS: vfs.NewMem(), Wall: c.Wall, Mono: c.Mono})
		if err != nil {
			t.Fatal(err)
		}
		return s
	},
	"redis":      openRedis(alone, 1),
	"redis of 3": openRedis(alone, 3),
	"cluster":    openRedis(inCluster, 6),
}

func alone(t *testing.T) string {
	t.Helper()
	return redistest.Shared(t).URL()
}

func inCluster(t *testing.T) string {
	t.Helper()
	return redistest.SharedCluster(t).URL()
}

func openRedis(url func(*testing.T) string, parts int) func(t *testing.T, c *storetest.Clock) store.Store {
	return func(t *testing.T, c *storetest.Clock) store.Store {
		t.Helper()
		s, err := redisstore.Open(t.Context(), redisstore.Options{
			URL: url(t), Prefix: redistest.Prefix(t), Partitions: parts, Wall: c.Wall, Mono: c.Mono,
		})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
}

// hall is a store with an engine over it.
type hall struct {
	*testing.T
	s     store.Store
	e     *engine.Engine
	clock *storetest.Clock
}

func newHall(t *testing.T, kind string, clock *storetest.Clock) *hall {
	t.Helper()
	s := kinds[kind](t, clock)
	h := &hall{T: t, s: s, clock: clock}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	h.open()
	return h
}

// open reads the store anew, as a server does that starts.
func (h *hall) open() {
	h.Helper()
	e, err := engine.Open(h.Context(), engine.Options{Store: h.s})
	if err != nil {
		h.Fatal(err)
	}
	h.e = e
}

var admin = engine.By{Kind: engine.Admin, Name: "key:test", Scope: "test", Pick: true, Move: true}

func withKey(key string) engine.By {
	by := admin
	by.Key, by.Hash = key, [16]byte{byte(len(key))}
	return by
}

func (h *hall) ok(err error) {
	h.Helper()
	if err != nil {
		h.Fatal(err)
	}
}

// site makes a site with two queues, one with shares and with what its estimates
// have learned, and a counter and lets people through it.
func (h *hall) site(name string, people int) {
	h.Helper()
	ctx, site := h.Context(), dengxu.SiteID(name)
	_, err := h.e.PutSite(ctx, admin, site, dengxu.Site{TimeZone: "Asia/Shanghai"}, 0)
	h.ok(err)
	for _, q := range []string{"a", "b"} {
		set := dengxu.Queue{Site: site}
		if q == "a" {
			set.Ordering, set.Groups = "ratio", map[string]dengxu.Group{"VIP": {Share: new(3)}}
		}
		_, err := h.e.PutQueue(ctx, admin, dengxu.QueueID(name+"-"+q), set, 0)
		h.ok(err)
	}
	desk := dengxu.CounterID(name + "-1")
	_, err = h.e.PutCounter(ctx, admin, desk, dengxu.Counter{Site: site, Queues: []dengxu.CounterQueue{{ID: dengxu.QueueID(name + "-a")}}}, 0)
	h.ok(err)
	for i := range people {
		h.join(name, i)
		h.clock.Advance(time.Second)
	}
	for i := range people / 4 {
		t := h.call(desk)
		_, err = h.e.Act(ctx, admin, dengxu.VerbStart, t.ID, dengxu.VerbRequest{})
		h.ok(err)
		_, err = h.e.Act(ctx, withKey(fmt.Sprint("complete ", name, i)), dengxu.VerbComplete, t.ID, dengxu.VerbRequest{})
		h.ok(err)
	}
	h.call(desk)
	h.bulky(name, name+"-a", 2, 20)
}

// bulky writes bulky documents for a queue of a site, as many and as large as is
// said.
func (h *hall) bulky(site, queue string, n, size int) {
	h.Helper()
	home := engine.Home(dengxu.SiteID(site), h.s.About().Partitions)
	for i := range n {
		key := store.DocKey{Kind: store.DocLesson, ID: fmt.Sprint(queue, "/", i)}
		if i == 0 {
			key = store.DocKey{Kind: store.DocModel, ID: queue}
		}
		body := fmt.Appendf(nil, `{"n":%d,"of":"%s"}`, i, strings.Repeat("x< ", size/5))
		_, err := h.s.Commit(h.Context(), store.Batch{Partition: home, Site: dengxu.SiteID(site), Docs: []store.DocWrite{{
			Doc: store.Doc{Key: key, Site: dengxu.SiteID(site), Body: body},
		}}})
		h.ok(err)
	}
}

// call calls the next and starts its service, so that the counter may call on.
func (h *hall) call(desk dengxu.CounterID) *dengxu.Token {
	h.Helper()
	done, err := h.e.CallNext(h.Context(), admin, desk, "", dengxu.CallRequest{})
	h.ok(err)
	if done.Value.Token == nil {
		h.Fatalf("nobody was called: %s", done.Value.Reason)
	}
	return done.Value.Token
}

// join is the i-th join of a site, the same each time.
func (h *hall) join(site string, i int) engine.Done[dengxu.Ticket] {
	h.Helper()
	queue := dengxu.QueueID(site + "-" + string("ab"[i%3%2]))
	done, err := h.e.Join(h.Context(), withKey(fmt.Sprint("join ", site, i)), queue, dengxu.JoinRequest{
		BusinessID: fmt.Sprint("p", i), Name: "Ann <& 陈>\u2028", ExtAttrs: []byte(`{"a":"<b>","n":1}`),
	})
	h.ok(err)
	return done
}

// export writes a file.
func (h *hall) export(only dengxu.SiteID) []byte {
	h.Helper()
	var file bytes.Buffer
	_, err := backup.Export(h.Context(), &file, h.s, backup.ExportOptions{Site: only, Now: h.clock.Wall()})
	h.ok(err)
	return file.Bytes()
}

// take imports a file and opens the store anew.
func (h *hall) take(file []byte) backup.Imported {
	h.Helper()
	did, err := backup.Import(h.Context(), bytes.NewReader(file), h.s, backup.ImportOptions{})
	h.ok(err)
	h.open()
	return did
}

// rows are all rows of a store, with nothing that is of the store itself.
func (h *hall) rows() map[string]store.Row {
	h.Helper()
	all := make(map[string]store.Row)
	for p := range h.s.About().Partitions {
		_, err := h.s.Dump(h.Context(), store.Partition(p), func(r store.Row) error {
			switch {
			case r.Kind == store.RowNumbers:
				return nil
			case r.Kind == store.RowDoc && r.Site == "" && r.Doc.Key.Kind != store.DocAPIKey:
				return nil // names, records of imports
			}
			if _, twice := all[r.Key()]; twice {
				h.Errorf("%q is in two partitions", r.Key())
			}
			all[r.Key()] = r
			return nil
		})
		h.ok(err)
	}
	return all
}

// alike expects two stores to have the same rows, but for shifted numbers.
func alike(t *testing.T, want, got map[string]store.Row) {
	t.Helper()
	opts := []cmp.Option{
		cmpopts.EquateEmpty(), cmpopts.IgnoreFields(store.Token{}, "Arrival", "Seq", "Compared"), cmpopts.IgnoreFields(store.UndoState{}, "Seq"),
		// cmp compares byte by byte, which is slow where there are many.
		cmp.FilterValues(func(a, b json.RawMessage) bool { return len(a)+len(b) > 0 }, cmp.Comparer(func(a, b json.RawMessage) bool { return bytes.Equal(a, b) })),
	}
	if diff := cmp.Diff(want, got, opts...); diff != "" {
		t.Errorf("rows (-want +got):\n%.3000s", diff)
	}
}

// onlyOf are the rows of one site.
func (h *hall) onlyOf(site string, rows map[string]store.Row) map[string]store.Row {
	of := maps.Clone(rows)
	maps.DeleteFunc(of, func(_ string, r store.Row) bool {
		switch r.Kind { //nolint:exhaustive // the others say their site
		case store.RowTally:
			_, of, _ := strings.Cut(r.Count.Name, "/") // joins/ and owed/
			return !strings.HasPrefix(of, site+"-")
		case store.RowMark:
			return !strings.HasPrefix(string(r.Mark.Queue), site+"-")
		case store.RowOp:
			return !slices.ContainsFunc(r.Op.Tokens, func(id dengxu.TokenID) bool {
				at, known := rows["t"+string(id)]
				return known && at.Site == dengxu.SiteID(site)
			})
		default:
			return r.Site != dengxu.SiteID(site)
		}
	})
	return of
}

// goesOn expects that a site is served as if nothing had happened.
func (h *hall) goesOn(site string, people int, before []engine.Done[dengxu.Ticket]) {
	h.Helper()
	for i := range people {
		again := h.join(site, i)
		if !again.Replayed || again.Value.ID != before[i].Value.ID {
			h.Errorf("the repeat of join %d of %s is %s, replayed %t; want %s", i, site, again.Value.ID.Mask(), again.Replayed, before[i].Value.ID.Mask())
		}
		if _, err := h.e.Position(h.Context(), again.Value.ID); err != nil {
			h.Errorf("position of join %d of %s: %v", i, site, err)
		}
	}
	next := h.join(site, people)
	if next.Replayed || next.Value.Number <= before[people-1].Value.Number && people%3%2 == (people-1)%3%2 {
		h.Errorf("the next of %s has number %s after %s", site, next.Value.Number, before[people-1].Value.Number)
	}
	c, err := h.e.Counter(h.Context(), dengxu.CounterID(site+"-1"))
	h.ok(err)
	if len(c.Tokens) != 1 {
		h.Fatalf("%d tokens are at the counter of %s", len(c.Tokens), site)
	}
	_, err = h.e.Act(h.Context(), admin, dengxu.VerbStart, c.Tokens[0].ID, dengxu.VerbRequest{})
	h.ok(err)
	_, err = h.e.Act(h.Context(), admin, dengxu.VerbComplete, c.Tokens[0].ID, dengxu.VerbRequest{})
	h.ok(err)
	h.call(dengxu.CounterID(site + "-1"))
}

func (h *hall) sound() {
	h.Helper()
	found, err := h.s.Audit(h.Context())
	h.ok(err)
	for _, f := range found {
		h.Errorf("audit: %s: %s", f.Kind, f.Text)
	}
}

package storetest

import (
	"context"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/dengxu/dengxu/internal/store"
	"github.com/dengxu/dengxu/internal/store/memstore"
)

func openModel(_ *testing.T, c *Clock) store.Store {
	return memstore.New(memstore.Options{Wall: c.Wall, Mono: c.Mono})
}

// lying is a store with one defect.
type lying struct {
	store.Store
	view   func(*store.View)
	commit func(*store.Batch)
}

func (l lying) View(ctx context.Context, a store.Ask) (store.View, error) {
	v, err := l.Store.View(ctx, a)
	if l.view != nil {
		l.view(&v)
	}
	return v, err
}

func (l lying) Commit(ctx context.Context, b store.Batch) (store.Result, error) {
	if l.commit != nil {
		l.commit(&b)
	}
	return l.Store.Commit(ctx, b)
}

// TestRandomFindsDefects: a random run notices small defects and cuts them
// down to few steps.
func TestRandomFindsDefects(t *testing.T) {
	t.Parallel()
	for what, defect := range map[string]lying{
		"a rank is one too high in long lines": {view: func(v *store.View) {
			for i, r := range v.Ranks {
				if r > 3 {
					v.Ranks[i]++
				}
			}
		}},
		"an expectation is not checked": {commit: func(b *store.Batch) {
			b.Expect = slices.Clone(b.Expect)
			for i, x := range b.Expect {
				if _, ok := x.(store.RoomAt); ok {
					b.Expect[i] = store.RoomAt{Max: 9}
				}
			}
		}},
		"a mark is not written": {commit: func(b *store.Batch) { b.Marks = nil }},
		"a mark's kind is lost": {commit: func(b *store.Batch) {
			b.Marks = slices.Clone(b.Marks)
			for i := range b.Marks {
				b.Marks[i].Kind = store.MarkEnded
			}
		}},
		"debts are of no day": {commit: func(b *store.Batch) {
			if b.Pick == nil {
				return
			}
			p := *b.Pick
			p.Lines = slices.Clone(p.Lines)
			for i := range p.Lines {
				p.Lines[i].Ordering.Day = 0
			}
			b.Pick = &p
		}},
		"an operation is forgotten": {commit: func(b *store.Batch) { b.Op.Keep = min(b.Op.Keep, 1) }},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			f := Factory{Open: func(t *testing.T, c *Clock) store.Store {
				l := defect
				l.Store = openModel(t, c)
				return l
			}}
			steps, diff := explore(t, f, 1, 3000)
			if diff == "" {
				t.Fatal("3000 steps did not notice it")
			}
			short, diff := shrink(t, f, steps, diff)
			if diff == "" || len(short) > 20 {
				t.Errorf("%d steps were cut down to %d, difference %q", len(steps), len(short), diff)
			}
		})
	}
}

// TestRandomReachesEverything: a random run is worth little if it never gets
// to what it should compare.
func TestRandomReachesEverything(t *testing.T) {
	t.Parallel()
	seen := make(map[string]int)
	f := Factory{Open: func(t *testing.T, c *Clock) store.Store {
		return counting{openModel(t, c), seen}
	}}
	d := newDuel(t, f)
	defer d.close()
	g := newGenerator(rand.New(rand.NewPCG(1, 0)), false)
	for n := range 5000 {
		st := g.step()
		want, diff := d.do(st)
		if diff != "" {
			t.Fatalf("memstore differs from itself after %d steps:\n%s", n, diff)
		}
		g.learn(st.given, want)
		if a, ok := st.given.(frozenAsk); ok {
			seen["called one by one in "+string(a.Line.Queue)] += len(want.Value.(frozenAnswer).Ranks)
		}
	}
	seen["passes"] = d.witness.passes
	for _, what := range []string{
		"written", "picked", "replayed", "refused by DocAt", "refused by TokenAt", "refused by HolderFree",
		"refused by MarkOlder", "refused by CountBelow", "refused by TallyBelow", "refused by RoomAt",
		"refused by LaneOpen", "refused by NotBefore", "refused by Before", "refused by SeriesBelow",
		"refused by OpReused", "refused by MarkAt", "ranks", "documents", "charged", "passes",
		"called one by one in clinic", "called one by one in epoch", "called one by one in strict", "called one by one in ratio",
	} {
		if seen[what] == 0 {
			t.Errorf("never: %s", what)
		}
	}
	if failed := seen["failed"]; failed > seen["written"]/10 {
		t.Errorf("%d batches failed and %d were written", failed, seen["written"])
	}
	t.Log(seen)
}

// counting notes what commits answer.
type counting struct {
	store.Store
	seen map[string]int
}

func (c counting) Commit(ctx context.Context, b store.Batch) (store.Result, error) {
	r, err := c.Store.Commit(ctx, b)
	a := answered(r, err)
	switch {
	case a.Refused != nil:
		c.seen["refused by "+reflect.TypeOf(a.Refused.By).Name()]++
	case a.Failed:
		c.seen["failed"]++
	case r.Replayed:
		c.seen["replayed"]++
	default:
		c.seen["written"]++
		c.seen["picked"] += r.Picked
		if b.Pick != nil && slices.ContainsFunc(r.Tokens[len(r.Tokens)-r.Picked:], func(t store.Token) bool { return t.Queue == "ratio" }) {
			c.seen["charged"]++
		}
		c.seen["ranks"] += len(r.Ranks)
		c.seen["documents"] += len(r.Docs)
	}
	return r, err
}

func TestDescribe(t *testing.T) {
	t.Parallel()
	b := store.Batch{
		Site: site, Op: store.Op{Key: "a", Hash: [16]byte{}},
		Expect: []store.Expectation{store.Before{At: store.Now - 5}, store.OpReused{}},
		Tokens: []store.TokenWrite{{Token: store.Token{ID: "t1", Due: store.Now + 7, Attrs: []byte("{}")}, Series: &store.Series{Name: "A"}}},
	}
	want := `Batch{Site:north Op:Op{Key:a} Expect:[Before{At:Now-5} OpReused] ` +
		`Tokens:[TokenWrite{Token:Token{ID:t1 Due:Now+7 Attrs:"{}"} Series:Series{Name:A}}]}`
	if got := describe(b); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

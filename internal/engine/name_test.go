package engine

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/store"
	"github.com/dengxu/dengxu/internal/store/memstore"
	"github.com/dengxu/dengxu/internal/store/storetest"
)

// peers are engines over one store of four partitions, each as if it were a
// process of its own.
func peers(t *testing.T, n int, wrap func(store.Store) store.Store) []*rig {
	t.Helper()
	clock := storetest.NewClock()
	s := memstore.New(memstore.Options{Wall: clock.Wall, Mono: clock.Mono, Partitions: 4, Shared: true})
	t.Cleanup(func() { _ = s.Close() })
	rigs := make([]*rig, n)
	for i := range rigs {
		var over store.Store = s
		if wrap != nil {
			over = wrap(s)
		}
		rigs[i] = rigOver(t, over, clock)
	}
	return rigs
}

// sitesApart are two sites of different partitions, neither of which is the
// first.
func (r *rig) sitesApart() (one, two dengxu.SiteID) {
	r.Helper()
	var found []dengxu.SiteID
	for i := 0; len(found) < 2; i++ {
		id := dengxu.SiteID(fmt.Sprint("site-", i))
		p := r.PartitionOf(id)
		if p != 0 && !slices.ContainsFunc(found, func(o dengxu.SiteID) bool { return r.PartitionOf(o) == p }) {
			found = append(found, id)
			r.site(id, `{"time_zone":"UTC"}`)
		}
	}
	return found[0], found[1]
}

// siteIn is a site in a given partition.
func (r *rig) siteIn(p store.Partition) dengxu.SiteID {
	r.Helper()
	for i := 0; ; i++ {
		if id := dengxu.SiteID(fmt.Sprint("in-", p, "-", i)); r.PartitionOf(id) == p {
			r.site(id, `{"time_zone":"UTC"}`)
			return id
		}
	}
}

// owners are the sites that have a queue, by the documents of all partitions.
func (r *rig) owners(id dengxu.QueueID) (sites []dengxu.SiteID) {
	r.Helper()
	for p := range r.parts {
		docs, err := r.store.Docs(context.WithoutCancel(r.Context()), store.Partition(p))
		if err != nil {
			r.Fatal(err)
		}
		for _, d := range docs {
			if d.Key.Kind == store.DocQueue && d.Key.ID == string(id) {
				sites = append(sites, d.Site)
			}
		}
	}
	return sites
}

func TestOneOfTwoSitesGetsAnID(t *testing.T) {
	t.Parallel()
	for round := range 50 {
		r := peers(t, 2, nil)
		one, two := r[0].sitesApart()
		var makers sync.WaitGroup
		errs := make([]error, 2)
		for i, site := range []dengxu.SiteID{one, two} {
			makers.Go(func() { _, errs[i] = r[i].PutQueue(t.Context(), staffer, "main", dengxu.Queue{Site: site}, 0) })
		}
		makers.Wait()
		won := slices.IndexFunc(errs, func(err error) bool { return err == nil })
		if won < 0 {
			t.Fatalf("round %d: nobody got the id: %v", round, errs)
		}
		wantInvalid(t, errs[1-won], "site") // the site never changes, as where there is one partition
		if owners := r[0].owners("main"); len(owners) != 1 || owners[0] != []dengxu.SiteID{one, two}[won] {
			t.Fatalf("round %d: %v have the queue, %d won", round, owners, won)
		}
		for _, p := range r {
			p.join("main", dengxu.JoinRequest{})
		}
	}
}

// TestACrashBetweenNameAndQueue loses or fails each commit of making a queue in
// turn. A repeat makes it, and so does another site that wants the id, but for
// when the queue is there already.
func TestACrashBetweenNameAndQueue(t *testing.T) {
	t.Parallel()
	for _, lost := range []bool{false, true} {
		for n := 1; n <= 2; n++ {
			for _, again := range []string{"the same", "another site"} {
				t.Run(fmt.Sprint("commit ", n, " lost ", lost, ", then ", again), func(t *testing.T) {
					t.Parallel()
					var faults []*storetest.Faulty
					r := peers(t, 2, func(s store.Store) store.Store {
						faults = append(faults, storetest.NewFaulty(s))
						return faults[len(faults)-1]
					})
					one, two := r[0].sitesApart()
					if lost {
						faults[0].LoseCommit(n)
					} else {
						faults[0].FailCommit(n)
					}
					by := keyed("make", 1)
					_, err := r[0].PutQueue(t.Context(), by, "main", dengxu.Queue{Site: one}, 0)
					made := lost && n == 2 // and it finds its operation done
					want := dengxu.Unavailable
					if lost {
						want = dengxu.Deadline
					}
					if made {
						want = ""
					}
					if dengxu.CodeOf(err) != want {
						t.Fatalf("the first was answered %v, want %s", err, want)
					}
					site, by2 := one, by
					if again == "another site" {
						site, by2 = two, keyed("other", 2)
					}
					done, err := r[1].PutQueue(t.Context(), by2, "main", dengxu.Queue{Site: site}, 0)
					if made && site == two {
						wantInvalid(t, err, "site")
						return
					}
					if err != nil || done.Replayed != made || done.Value.Site != site || done.Value.Version != 1 {
						t.Fatalf("%+v, %v", done, err)
					}
					if owners := r[0].owners("main"); len(owners) != 1 || owners[0] != site {
						t.Fatalf("%v have the queue", owners)
					}
					r[0].join("main", dengxu.JoinRequest{})
				})
			}
		}
	}
}

// TestADeletedIDIsFree, in every partition, also when freeing it fails.
func TestADeletedIDIsFree(t *testing.T) {
	t.Parallel()
	var faults []*storetest.Faulty
	r := peers(t, 2, func(s store.Store) store.Store {
		faults = append(faults, storetest.NewFaulty(s))
		return faults[len(faults)-1]
	})
	at := 0
	for round := range 8 {
		site := r[0].siteIn(store.Partition(round % 4))
		if _, err := r[at].PutQueue(t.Context(), staffer, "main", dengxu.Queue{Site: site}, 0); err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		if _, err := r[at].PutCounter(t.Context(), staffer, "1", dengxu.Counter{Site: site}, 0); err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		at = 1 - at
		if round >= 4 {
			r[at].Refresh(t.Context())
			faults[at].FailCommit(2) // that raises the fence
		}
		if err := r[at].DeleteQueue(t.Context(), staffer, "main", 0); err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		if err := r[at].DeleteCounter(t.Context(), staffer, "1", 0); err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		if owners := r[0].owners("main"); len(owners) != 0 {
			t.Fatalf("round %d: %v still have it", round, owners)
		}
	}
}

// turns lets others go first between reads and commits, where races are, and
// loses some answers.
type turns struct {
	store.Store
	mu  sync.Mutex // guards rng
	rng *rand.Rand
}

func (s *turns) yield() int {
	s.mu.Lock()
	n := s.rng.IntN(100)
	s.mu.Unlock()
	for range n % 5 {
		runtime.Gosched()
	}
	return n
}

func (s *turns) View(ctx context.Context, a store.Ask) (store.View, error) {
	v, err := s.Store.View(ctx, a)
	s.yield()
	return v, err
}

func (s *turns) Commit(ctx context.Context, b store.Batch) (store.Result, error) {
	n := s.yield()
	if n < 5 {
		return store.Result{}, store.ErrUnavailable
	}
	res, err := s.Store.Commit(ctx, b)
	if n < 10 {
		return store.Result{}, store.ErrUnknown
	}
	return res, err
}

// TestAnIDIsNeverGivenTwice lets four processes make and delete one queue in
// sites of all partitions, over a store that fails. Each makes a queue whenever
// it can; at no look are there two of them.
func TestAnIDIsNeverGivenTwice(t *testing.T) {
	t.Parallel()
	for seed := range uint64(12) {
		t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) {
			t.Parallel()
			n := uint64(0)
			r := peers(t, 4, func(s store.Store) store.Store {
				n++
				return &turns{Store: s, rng: rand.New(rand.NewPCG(seed, n))}
			})
			calm := rigOver(t, r[0].store.(*turns).Store, r[0].clock)
			var sites []dengxu.SiteID
			for p := range store.Partition(4) {
				sites = append(sites, calm.siteIn(p))
			}
			var all sync.WaitGroup
			var mu sync.Mutex // guards made, and what an owner is seen to be
			made := 0
			for i, p := range r {
				all.Go(func() {
					rng := rand.New(rand.NewPCG(seed, uint64(100+i)))
					for range 40 {
						if rng.IntN(3) == 0 {
							_ = p.DeleteQueue(t.Context(), staffer, "main", 0)
							continue
						}
						_, err := p.PutQueue(t.Context(), staffer, "main", dengxu.Queue{Site: sites[rng.IntN(4)]}, 0)
						if dengxu.CodeOf(err) == dengxu.Internal {
							t.Errorf("seed %d: %v", seed, errors.Unwrap(err))
						}
						mu.Lock()
						if err == nil {
							made++
						}
						mu.Unlock()
					}
				})
			}
			all.Wait()
			if owners := calm.owners("main"); len(owners) > 1 || made == 0 {
				t.Fatalf("seed %d: %v have the queue, it was made %d times", seed, owners, made)
			}
			// Whatever was left half done, the id can be had.
			calm.Refresh(t.Context())
			if err := calm.DeleteQueue(t.Context(), staffer, "main", 0); err != nil && dengxu.CodeOf(err) != dengxu.NotFound {
				t.Fatal(err)
			}
			calm.queue("main", fmt.Sprintf(`{"site":%q}`, sites[seed%4]))
			if owners := calm.owners("main"); len(owners) != 1 {
				t.Fatalf("seed %d: %v have the queue in the end", seed, owners)
			}
		})
	}
}

// before does something before the n-th commit.
type before struct {
	store.Store
	n  int
	do func()
}

func (s *before) Commit(ctx context.Context, b store.Batch) (store.Result, error) {
	if s.n--; s.n == 0 {
		s.do()
	}
	return s.Store.Commit(ctx, b)
}

// TestAMakerThatWasOvertaken has the name and lost it before it makes the
// queue: the fence is what it meets.
func TestAMakerThatWasOvertaken(t *testing.T) {
	t.Parallel()
	var gate *before
	r := peers(t, 2, func(s store.Store) store.Store {
		if gate != nil {
			return s
		}
		gate = &before{Store: s}
		return gate
	})
	one, two := r[0].sitesApart()
	gate.n, gate.do = 2, func() { // 1 gives the name
		if _, err := r[1].PutQueue(t.Context(), staffer, "main", dengxu.Queue{Site: two}, 0); err != nil {
			t.Errorf("taking over: %v", err)
		}
	}
	_, err := r[0].PutQueue(t.Context(), staffer, "main", dengxu.Queue{Site: one}, 0)
	wantInvalid(t, err, "site")
	if owners := r[0].owners("main"); len(owners) != 1 || owners[0] != two {
		t.Errorf("%v have the queue", owners)
	}
}

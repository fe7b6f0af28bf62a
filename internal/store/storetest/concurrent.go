package storetest

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/store"
)

// workers is how many callers there are at once.
const workers = 8

// RunConcurrent checks what must hold when many callers commit at once.
func RunConcurrent(t *testing.T, open Opener) {
	t.Helper()
	runExamples(t, open, []example{
		{"no token is called twice and none is lost", raceCalls},
		{"of those who change one version one wins", raceVersions},
		{"one of many holders joins", raceHolder},
		{"a counter never holds more than it has room for", raceRoom},
		{"a line never grows beyond its limit", raceCount},
		{"a series has no gap", raceSeries},
		{"an operation repeated at once has one effect", raceOp},
		{"shares are kept whichever counters call", raceShares},
		{"readers see whole commits and time that rises", raceReaders},
	})
}

// rounds is how often each worker tries.
func rounds() int {
	if Torture() {
		return 500
	}
	return 40
}

// race runs work in all workers at once; each gets its number.
func race(work func(worker int)) {
	var wg sync.WaitGroup
	start := make(chan struct{})
	for w := range workers {
		wg.Go(func() {
			<-start
			work(w)
		})
	}
	close(start)
	wg.Wait()
}

// try commits and reports success; only a refusal may be the reason why not.
func (k *kit) try(b store.Batch) (store.Result, bool) {
	r, err := k.s.Commit(k.t.Context(), k.at(b))
	if err == nil {
		return r, true
	}
	if _, refused := errors.AsType[*store.Refused](err); !refused {
		k.t.Errorf("commit: %v", err)
	}
	return r, false
}

// name is a token id of one worker's n-th try.
func name(worker, n int) dengxu.TokenID { return dengxu.TokenID(fmt.Sprintf("t-%d-%d", worker, n)) }

func raceCalls(k *kit) {
	var joined, called [workers][]store.Token
	race(func(w int) {
		for n := range rounds() {
			if r, ok := k.try(writing(fresh(name(w, n)))); ok {
				joined[w] = append(joined[w], r.Tokens...)
			}
			if r, ok := k.try(calling(1 + n%3)); ok {
				called[w] = append(called[w], r.Tokens...)
			}
		}
	})
	var all []store.Token
	for w := range workers {
		all = append(all, called[w]...)
		if len(joined[w]) != rounds() {
			k.t.Errorf("worker %d joined %d of %d", w, len(joined[w]), rounds())
		}
	}
	for {
		r, _ := k.try(calling(store.MaxTokens))
		if r.Picked == 0 {
			break
		}
		all = append(all, r.Tokens...)
	}
	slices.SortFunc(all, func(a, b store.Token) int { return int(a.CallNo) - int(b.CallNo) })
	seen := make(map[dengxu.TokenID]bool)
	for i, t := range all {
		if seen[t.ID] || t.Version != 2 || t.CallNo != uint64(i)+1 {
			k.t.Fatalf("call %d is number %d: %s in version %d, seen before %t", i+1, t.CallNo, t.ID, t.Version, seen[t.ID])
		}
		seen[t.ID] = true
	}
	if len(seen) != workers*rounds() {
		k.t.Errorf("called %d tokens of %d", len(seen), workers*rounds())
	}
}

func raceVersions(k *kit) {
	k.join("t1")
	var won, lost atomic.Int64
	race(func(int) {
		for range rounds() {
			v, err := k.s.View(k.t.Context(), store.Ask{Tokens: []dengxu.TokenID{"t1"}})
			if err != nil {
				k.t.Error(err)
				return
			}
			if _, ok := k.try(writing(changed(*v.Tokens[0], func(t *store.Token) { t.Misses++ }))); ok {
				won.Add(1)
			} else {
				lost.Add(1)
			}
		}
	})
	t := k.token("t1")
	if won.Load()+lost.Load() != int64(workers*rounds()) || won.Load() == 0 {
		k.t.Errorf("%d won, %d lost of %d", won.Load(), lost.Load(), workers*rounds())
	}
	if t.Version != uint64(won.Load())+1 || int64(t.Misses) != won.Load() {
		k.t.Errorf("%d won, but the version is %d and the count %d", won.Load(), t.Version, t.Misses)
	}
}

func raceHolder(k *kit) {
	won := make([]atomic.Int64, rounds())
	race(func(w int) {
		for n := range rounds() {
			t := fresh(name(w, n), func(t *store.Token) { t.Business, t.Unique = fmt.Sprint("holder-", n), true })
			b := writing(t)
			if w%2 == 0 { // the others rely on the store alone
				b.Expect = []store.Expectation{store.HolderFree{Holder: store.HolderKey{Line: line, Business: t.Business}}}
			}
			if _, ok := k.try(b); ok {
				won[n].Add(1)
			}
		}
	})
	for n := range won {
		if got := won[n].Load(); got != 1 {
			k.t.Errorf("holder %d joined %d times", n, got)
		}
	}
	if got := k.lineView(line).Counts[dengxu.StateWaiting]; got != rounds() {
		k.t.Errorf("%d wait, want %d", got, rounds())
	}
}

func raceRoom(k *kit) {
	const room = 3
	for n := range rounds() {
		k.join(name(0, n))
	}
	race(func(int) {
		for range rounds() {
			b := calling(1)
			b.Expect = []store.Expectation{store.RoomAt{Counter: desk, Max: room}}
			r, ok := k.try(b)
			v, err := k.s.View(k.t.Context(), store.Ask{Counters: []dengxu.CounterID{desk}})
			if err != nil || len(v.Counters[0]) > room {
				k.t.Errorf("the counter holds %d, room for %d: %v", len(v.Counters[0]), room, err)
			}
			if ok && r.Picked == 1 {
				k.try(writing(changed(r.Tokens[0], func(t *store.Token) { t.State = dengxu.StateCompleted })))
			}
		}
	})
}

func raceCount(k *kit) {
	limit := rounds() * 3
	states := []dengxu.State{dengxu.StateWaiting, dengxu.StateScheduled}
	var won atomic.Int64
	race(func(w int) {
		for n := range rounds() {
			b := writing(fresh(name(w, n), func(t *store.Token) { t.State = states[n%2] }))
			b.Expect = []store.Expectation{store.CountBelow{Line: line, States: states, Max: limit}}
			b.Tallies = []store.TallyAdd{{Key: tally(today), N: 1}}
			if _, ok := k.try(b); ok {
				won.Add(1)
			}
		}
	})
	if won.Load() != int64(limit) {
		k.t.Errorf("%d joined a line of at most %d", won.Load(), limit)
	}
	k.wantTallies(int64(limit), 0)
}

func raceSeries(k *kit) {
	var got [workers][]int64
	race(func(w int) {
		for n := range rounds() {
			b := store.Batch{Tokens: []store.TokenWrite{{
				Token: fresh(name(w, n)), Series: &store.Series{Name: "A", Day: today, First: 1},
			}}}
			if n%5 == 4 {
				b.Expect = []store.Expectation{store.TokenAt{ID: "nobody", Version: 1}}
			}
			if r, ok := k.try(b); ok {
				got[w] = append(got[w], r.Tokens[0].Number)
			}
		}
	})
	var all []int64
	for w := range workers {
		if !slices.IsSorted(got[w]) {
			k.t.Errorf("numbers of one caller fall: %v", got[w])
		}
		all = append(all, got[w]...)
	}
	slices.Sort(all)
	for i, n := range all {
		if n != int64(i)+1 {
			k.t.Fatalf("the numbers have a gap or repeat at %d: %d", i+1, n)
		}
	}
}

func raceOp(k *kit) {
	for n := range rounds() {
		k.join(name(9, n))
		var first atomic.Int64
		var got [workers]store.Result
		race(func(w int) {
			b := withOp(calling(1), op(fmt.Sprint("call-", n)))
			r, ok := k.try(b)
			if got[w] = r; ok && !r.Replayed {
				first.Add(1)
			}
		})
		if first.Load() != 1 {
			k.t.Fatalf("%d of %d repeats had an effect", first.Load(), workers)
		}
		for w := range workers {
			same(k.t, "a repeat's tokens", got[0].Tokens, got[w].Tokens)
		}
	}
}

// raceReaders changes two tokens in one commit each time; no reader may see
// one without the other.
func raceReaders(k *kit) {
	pair := k.commit(writing(fresh("a"), fresh("b"))).Tokens
	start := k.end()
	done := make(chan struct{})
	var wg sync.WaitGroup
	for range workers - 1 {
		wg.Go(func() { k.readPairs(done) })
	}
	wg.Go(func() { k.readLog(start, 2*rounds()) })
	for range rounds() {
		b := writing(changed(pair[0]), changed(pair[1]))
		b.Events = []store.EventSpec{{Type: dengxu.EventEdited, Token: 1}, {Type: dengxu.EventEdited, Token: 2}}
		r, ok := k.try(b)
		if !ok {
			k.t.Error("a write by the only writer was refused")
			break
		}
		pair = r.Tokens
		k.clock.Advance(time.Millisecond)
	}
	close(done)
	wg.Wait()
}

func (k *kit) readPairs(done <-chan struct{}) {
	var now int64
	var version uint64
	for {
		v, err := k.s.View(k.t.Context(), store.Ask{Tokens: []dengxu.TokenID{"a", "b"}})
		if err != nil {
			k.t.Error(err)
			return
		}
		a, b := v.Tokens[0].Version, v.Tokens[1].Version
		if a != b || a < version || v.Now < now {
			k.t.Errorf("versions %d and %d after %d, time %d after %d", a, b, version, v.Now, now)
			return
		}
		version, now = a, v.Now
		select {
		case <-done:
			return
		default:
		}
	}
}

// readLog follows the log until it has seen n events.
func (k *kit) readLog(from store.Cursor, n int) {
	hint, stop := k.s.Watch(from.Partition)
	defer stop()
	deadline := time.After(within)
	for seen := 0; seen < n; {
		p, err := k.s.Events(k.t.Context(), from, 7)
		if err != nil || p.Reset {
			k.t.Errorf("events: %v, reset %t", err, p.Reset)
			return
		}
		for _, ev := range p.Events {
			if from.Number++; ev.Number != from.Number {
				k.t.Errorf("event %d follows %d", ev.Number, from.Number-1)
				return
			}
			seen++
		}
		if len(p.Events) > 0 {
			continue
		}
		select {
		case <-hint:
		case <-deadline:
			k.t.Errorf("saw %d of %d events, and no hint came", seen, n)
			return
		}
	}
}

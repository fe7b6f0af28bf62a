package pebblestore_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/go-cmp/cmp"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/order"
	"github.com/dengxu/dengxu/internal/store"
	"github.com/dengxu/dengxu/internal/store/pebblestore"
	"github.com/dengxu/dengxu/internal/store/storetest"
)

// state is everything that a store can be asked for.
type state struct {
	Live     []store.Token
	Archived []*store.Token
	Docs     []store.Doc
	Events   store.EventPage
	Due      store.Due
	View     store.View
}

// archivedIDs are the tokens that smallStore archived.
type smallStore struct {
	disk     *vfs.MemFS
	clock    *storetest.Clock
	archived []dengxu.TokenID
	ops      []store.Op
	state    state
}

// newSmallStore makes a folder with one of everything, partly in tables and
// partly in pebble's log, and closes it.
func newSmallStore(t *testing.T) *smallStore {
	t.Helper()
	x := &smallStore{disk: vfs.NewCrashableMem(), clock: storetest.NewClock()}
	s := x.open(t, x.disk)
	a := newAcks()
	for n := range 24 {
		b := joinBatch(uint64(n))
		b.Docs = []store.DocWrite{{Doc: store.Doc{
			Key: store.DocKey{Kind: store.DocCounter, ID: fmt.Sprint("desk-", n)}, Site: "main",
			Due: store.Now + int64(n)*1000, Body: []byte(`{"name":"Desk"}`),
		}}}
		if _, err := s.Commit(t.Context(), b); err != nil {
			t.Fatal(err)
		}
		x.ops = append(x.ops, b.Op)
		work(t, s, a, 1, n)
	}
	for _, b := range owingBatches() {
		if _, err := s.Commit(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	for id := range a.versions {
		v, err := s.View(t.Context(), store.Ask{Tokens: []dengxu.TokenID{id}})
		if err != nil {
			t.Fatal(err)
		}
		if v.Tokens[0].State.Ended() {
			x.archived = append(x.archived, id)
		}
	}
	slices.Sort(x.archived)
	if len(x.archived) < 3 {
		t.Fatal("hardly anything was archived")
	}
	var err error
	if x.state, err = x.dump(t, s); err != nil {
		t.Fatal(err)
	}
	if v := x.state.View; v.Tallies[1] != 3 || v.Marks[1] == 0 {
		t.Fatalf("nothing is owed, or nobody was served: %+v", v)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return x
}

// owingBatches join and call in a line with shares, so that a group owes.
func owingBatches() []store.Batch {
	join := joinBatch(9_000_000)
	t := &join.Tokens[0].Token
	t.Queue, t.Lane = "shares", order.Lane{Group: "vip"}
	call := callBatch("2")
	call.Pick.Lines[0] = store.PickLine{
		Line: store.LineKey{Queue: "shares", Gen: day}, Ordering: store.Ordering{Day: day, Rule: order.Rule{
			Discipline: order.Ratio, Groups: []order.Group{{Name: "vip", Share: 2}, {Name: "ordinary", Share: 3}},
		}},
	}
	return []store.Batch{join, call}
}

func (x *smallStore) open(t *testing.T, disk vfs.FS) *pebblestore.Store {
	t.Helper()
	s, err := x.tryOpen(disk)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func (x *smallStore) tryOpen(disk vfs.FS) (*pebblestore.Store, error) {
	return pebblestore.Open(pebblestore.Options{Dir: "data", FS: disk, Wall: x.clock.Wall, Mono: x.clock.Mono}.WithMemtable(8 << 10))
}

// copy copies the folder.
func (x *smallStore) copy() *vfs.MemFS { return x.disk.CrashClone(vfs.CrashCloneCfg{}) }

func (x *smallStore) dump(t *testing.T, s *pebblestore.Store) (st state, err error) {
	t.Helper()
	ctx := t.Context()
	page, err1 := s.List(ctx, store.ListAsk{Limit: 1000})
	line := store.LineKey{Queue: "clinic", Gen: day}
	ask := store.Ask{
		Tokens: x.archived, Lines: []store.LineKey{line}, Counters: []dengxu.CounterID{"1"},
		Tallies: []store.TallyKey{{Name: "joins/clinic", Day: day}, {Name: store.OwedTally("shares", "", "vip"), Day: day}},
		Marks: []store.MarkKey{
			{Queue: "clinic", Business: "customer-000000000"}, {Queue: "clinic", Business: "customer-000000000", Kind: store.MarkServed},
		},
		Op: x.ops[3],
	}
	view, err2 := s.View(ctx, ask)
	for _, op := range x.ops {
		if v, err := s.View(ctx, store.Ask{Op: op}); err != nil {
			err2 = errors.Join(err2, err)
		} else if v.Op == nil {
			t.Error("an operation is forgotten")
		}
	}
	docs, err3 := s.Docs(ctx, 0)
	end, err4 := s.Events(ctx, store.Cursor{}, 0)
	events, err5 := s.Events(ctx, store.Cursor{Epoch: end.End.Epoch}, 1000)
	due, err6 := s.Due(ctx, 0, 1000)
	return state{page.Tokens, view.Tokens, docs, events, due, view}, errors.Join(err1, err2, err3, err4, err5, err6)
}

// files are all files of the folder with something in them.
func (x *smallStore) files(t *testing.T) map[string]int {
	t.Helper()
	files := map[string]int{}
	for _, dir := range []string{"data", "data/db"} {
		names, err := x.disk.List(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			path := dir + "/" + name
			if info, err := x.disk.Stat(path); err == nil && !info.IsDir() && info.Size() > 0 {
				files[path] = int(info.Size())
			}
		}
	}
	return files
}

// check opens a damaged folder: it is refused as damaged, or a read is, or
// everything is as it was.
func (x *smallStore) check(t *testing.T, disk *vfs.MemFS, what string) (refused bool) {
	t.Helper()
	s, err := x.tryOpen(disk)
	if err != nil {
		if !errors.Is(err, store.ErrDamaged) && !strings.Contains(err.Error(), "newer dengxu") {
			t.Errorf("%s: %v", what, err)
		}
		return true
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Errorf("%s: close: %v", what, err)
		}
	}()
	st, err := x.dump(t, s)
	if err != nil {
		if !errors.Is(err, store.ErrDamaged) {
			t.Errorf("%s: %v", what, err)
		}
		return true
	}
	if diff := cmp.Diff(x.state, st); diff != "" {
		t.Errorf("%s: silently another state:\n%s", what, diff)
	}
	return false
}

// stride is how far apart the damages of a sweep are; DENGXU_TORTURE=1 sweeps
// every byte.
func stride(size int) int {
	if storetest.Torture() {
		return 1
	}
	return max(1, size/12) | 1
}

// TestBitFlips flips one bit at a time in every file of a small store.
func TestBitFlips(t *testing.T) {
	t.Parallel()
	x := newSmallStore(t)
	refused, tried := 0, 0
	for path, size := range x.files(t) {
		for at := 0; at < size; at += stride(size) {
			disk := x.copy()
			buf, err := disk.UnsafeGetFileDataBuffer(path)
			if err != nil {
				t.Fatal(err)
			}
			buf[at] ^= 1 << (at % 8)
			tried++
			if x.check(t, disk, fmt.Sprintf("%s, byte %d of %d", path, at, size)) {
				refused++
			}
		}
	}
	t.Logf("%d of %d damages were refused, the others changed nothing", refused, tried)
	if refused < tried/4 {
		t.Errorf("only %d of %d damages were refused", refused, tried)
	}
}

// TestTruncation cuts every file of a small store at many lengths.
func TestTruncation(t *testing.T) {
	t.Parallel()
	x := newSmallStore(t)
	for path, size := range x.files(t) {
		for at := 0; at < size; at += stride(size) {
			disk := x.copy()
			buf, err := disk.UnsafeGetFileDataBuffer(path)
			if err != nil {
				t.Fatal(err)
			}
			f, err := disk.Create(path, vfs.WriteCategoryUnspecified)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := f.Write(buf[:at]); err != nil {
				t.Fatal(err)
			}
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
			x.check(t, disk, fmt.Sprintf("%s, cut at %d of %d", path, at, size))
		}
	}
}

// TestMissingFiles takes every file of a small store away.
func TestMissingFiles(t *testing.T) {
	t.Parallel()
	x := newSmallStore(t)
	for path := range x.files(t) {
		disk := x.copy()
		if err := disk.Remove(path); err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(path, "/SYNCED") {
			// What an operator does to go on without the end of the log: the
			// state is the same, but cursors must not fit any more.
			s := x.open(t, disk)
			p, err := s.Events(t.Context(), x.state.Events.End, 10)
			if err != nil || !p.Reset {
				t.Errorf("without %s an old cursor fits: %+v, %v", path, p, err)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			continue
		}
		x.check(t, disk, path+" missing")
	}
}

// TestOldDatabase: a database that is put back without the rest of its folder
// is older than what was acknowledged, which is refused and left alone.
func TestOldDatabase(t *testing.T) {
	t.Parallel()
	x := newSmallStore(t)
	later := x.copy()
	s := x.open(t, later)
	if _, err := s.Commit(t.Context(), joinBatch(999)); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	synced, err := later.UnsafeGetFileDataBuffer("data/SYNCED")
	if err != nil {
		t.Fatal(err)
	}
	old := x.copy()
	target, err := old.UnsafeGetFileDataBuffer("data/SYNCED")
	if err != nil {
		t.Fatal(err)
	}
	copy(target, synced)
	before := old.String()
	_, err = x.tryOpen(old)
	if !errors.Is(err, store.ErrDamaged) || !strings.Contains(err.Error(), "restore a backup") {
		t.Errorf("open: %v", err)
	}
	if after := old.String(); after != before {
		t.Errorf("a refused folder was changed:\n%s", cmp.Diff(before, after))
	}
}

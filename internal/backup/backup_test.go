package backup_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/backup"
	"github.com/dengxu/dengxu/internal/engine"
	"github.com/dengxu/dengxu/internal/store"
	"github.com/dengxu/dengxu/internal/store/storetest"
)

var towns = []string{"north", "south", "east", "west"}

const people = 9

// fill makes all towns.
func (h *hall) fill() map[string][]engine.Done[dengxu.Ticket] {
	h.Helper()
	_, err := h.e.SetAdminSecret(h.Context(), "dx_a-secret-that-is-long-enough-to-do")
	h.ok(err)
	tickets := make(map[string][]engine.Done[dengxu.Ticket])
	for _, town := range towns {
		h.site(town, people)
		for i := range people {
			tickets[town] = append(tickets[town], h.join(town, i))
		}
	}
	return tickets
}

// TestEverywhere: all sites go from each kind of store into each, keep what they
// have, and are served as before.
func TestEverywhere(t *testing.T) {
	t.Parallel()
	for from := range kinds {
		for to := range kinds {
			t.Run(from+" to "+to, func(t *testing.T) {
				t.Parallel()
				clock := storetest.NewClock()
				a, b := newHall(t, from, clock), newHall(t, to, clock)
				tickets := a.fill()
				did := b.take(a.export(""))
				if did.Totals.Sites != len(towns) || did.Totals.Keys != 1 || did.Totals.Live+did.Totals.Archived != len(towns)*people {
					t.Errorf("imported %+v", did)
				}
				alike(t, a.rows(), b.rows())
				b.sound()
				for _, town := range towns {
					b.goesOn(town, people, tickets[town])
				}
				b.sound()
			})
		}
	}
}

// TestOneSite: the file of a site has that and nothing else, and goes into a
// store that has others; then back out of it.
func TestOneSite(t *testing.T) {
	t.Parallel()
	for kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			clock := storetest.NewClock()
			a, b := newHall(t, "memory", clock), newHall(t, kind, clock)
			tickets := a.fill()
			b.site("harbour", people)
			harbour := b.rows()
			did := b.take(a.export("south"))
			if did.Totals.Sites != 1 || did.Totals.Keys != 0 || !did.Shifted && b.s.About().Partitions == 1 {
				t.Errorf("imported %+v", did)
			}
			alike(t, a.onlyOf("south", a.rows()), b.onlyOf("south", b.rows()))
			alike(t, b.onlyOf("harbour", harbour), b.onlyOf("harbour", b.rows()))
			b.goesOn("south", people, tickets["south"])
			b.sound()
			c := newHall(t, "memory of 5", clock)
			c.take(b.export("south"))
			alike(t, b.onlyOf("south", b.rows()), c.rows())
		})
	}
}

// TestBulky: documents that are larger all together than what is loaded at once
// come whole; those of a queue that is no more, or was in another site, stay.
func TestBulky(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"memory of 5", "pebble", "redis of 3", "cluster"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			clock := storetest.NewClock()
			a, b := newHall(t, "pebble", clock), newHall(t, kind, clock)
			a.site("north", 3)
			a.site("south", 3)
			a.bulky("north", "north-b", 20, 200<<10)
			want := a.rows()
			a.bulky("north", "gone", 2, 20)
			a.bulky("north", "south-b", 2, 20)
			b.take(a.export("north"))
			alike(t, a.onlyOf("north", want), b.rows())
			b.sound()
			c := newHall(t, kind, clock)
			c.take(a.export(""))
			alike(t, want, c.rows())
			again := newHall(t, "memory", clock)
			again.take(c.export(""))
			alike(t, want, again.rows())
		})
	}
}

// TestExists: what the store has is never touched, and the refusal names it.
func TestExists(t *testing.T) {
	t.Parallel()
	for kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			clock := storetest.NewClock()
			a, b := newHall(t, "memory", clock), newHall(t, kind, clock)
			a.site("north", people)
			file := a.export("")
			b.take(file)
			before := b.rows()
			_, err := backup.Import(t.Context(), bytes.NewReader(file), b.s, backup.ImportOptions{})
			if dengxu.CodeOf(err) != dengxu.Exists {
				t.Errorf("a second import: %v", err)
			}
			alike(t, before, b.rows())
			// A queue of another site has the id.
			c := newHall(t, kind, clock)
			_, err = c.e.PutSite(t.Context(), admin, "other", dengxu.Site{}, 0)
			c.ok(err)
			_, err = c.e.PutQueue(t.Context(), admin, "north-a", dengxu.Queue{Site: "other"}, 0)
			c.ok(err)
			before = c.rows()
			for _, dry := range []bool{true, false} {
				_, err = backup.Import(t.Context(), bytes.NewReader(file), c.s, backup.ImportOptions{DryRun: dry})
				if dengxu.CodeOf(err) != dengxu.Exists {
					t.Errorf("an import of a queue that another site has: %v", err)
				}
			}
			alike(t, before, c.rows())
		})
	}
}

// TestDryRun writes nothing.
func TestDryRun(t *testing.T) {
	t.Parallel()
	clock := storetest.NewClock()
	a, b := newHall(t, "memory", clock), newHall(t, "pebble", clock)
	a.site("north", people)
	did, err := backup.Import(t.Context(), bytes.NewReader(a.export("")), b.s, backup.ImportOptions{DryRun: true})
	if err != nil || did.Totals.Sites != 1 {
		t.Errorf("%+v, %v", did, err)
	}
	if rows := b.rows(); len(rows) != 0 {
		t.Errorf("%d rows were written", len(rows))
	}
}

// dying fails every write from the n-th on, as a process that was killed does;
// the n-th itself may have been carried out.
type dying struct {
	store.Store
	left int
	done bool // the one that fails was carried out
}

var errKilled = errors.New("killed")

func (d *dying) step(do func() error) error {
	d.left--
	if d.left > 0 {
		return do()
	}
	if d.left == 0 && d.done {
		if err := do(); err != nil {
			return err
		}
	}
	return errKilled
}

func (d *dying) Load(ctx context.Context, p store.Partition, rows []store.Row) error {
	return d.step(func() error { return d.Store.Load(ctx, p, rows) })
}

func (d *dying) Commit(ctx context.Context, b store.Batch) (r store.Result, err error) {
	err = d.step(func() (e error) { r, e = d.Store.Commit(ctx, b); return e })
	return r, err
}

// TestInterrupted kills an import at each of its writes, before or after it was
// carried out, and repeats it: the end is that of one that was not killed.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"memory of 5", "pebble", "redis of 3"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			clock := storetest.NewClock()
			a := newHall(t, "memory", clock)
			for _, town := range towns {
				a.site(town, 5)
			}
			file := a.export("")
			for writes := 1; ; writes++ {
				b := newHall(t, kind, clock)
				whole := true
				for _, done := range []bool{true, false} {
					d := &dying{Store: b.s, left: writes, done: done}
					_, err := backup.Import(t.Context(), bytes.NewReader(file), d, backup.ImportOptions{})
					if err == nil {
						break
					}
					whole = false
					if !errors.Is(err, errKilled) && dengxu.CodeOf(err) != dengxu.Exists {
						t.Fatalf("killed at write %d: %v", writes, err)
					}
				}
				if whole {
					if writes < 5 {
						t.Errorf("an import has only %d writes", writes)
					}
					return
				}
				did, err := backup.Import(t.Context(), bytes.NewReader(file), b.s, backup.ImportOptions{})
				// Killed behind the last row, it was complete.
				if err != nil && dengxu.CodeOf(err) != dengxu.Exists {
					t.Fatalf("repeated after %d writes: %v", writes, err)
				}
				if err == nil && !did.Resumed && writes > 12 {
					t.Errorf("repeated after %d writes, it did not go on", writes)
				}
				alike(t, a.rows(), b.rows())
				b.sound()
			}
		})
	}
}

// TestDamage flips each byte of a file and cuts it after each, and expects that
// nothing is imported.
func TestDamage(t *testing.T) {
	t.Parallel()
	clock := storetest.NewClock()
	a := newHall(t, "memory", clock)
	a.site("north", 3)
	file := a.export("")
	b := newHall(t, "memory", clock)
	refused := func(what string, bad []byte) {
		_, err := backup.Import(t.Context(), bytes.NewReader(bad), b.s, backup.ImportOptions{})
		if dengxu.CodeOf(err) != dengxu.Invalid {
			t.Fatalf("%s: %v", what, err)
		}
	}
	for i := range file {
		bad := bytes.Clone(file)
		bad[i] ^= 1
		refused(fmt.Sprint("byte ", i, " flipped"), bad)
		refused(fmt.Sprint("cut after byte ", i), file[:i])
	}
	refused("twice the same", append(bytes.Clone(file), file...))
	refused("nothing", nil)
	refused("a field to come", bytes.Replace(file, []byte(`"kind":"token"`), []byte(`"kind":"token","new":1`), 1))
	if rows := b.rows(); len(rows) != 0 {
		t.Errorf("%d rows were written", len(rows))
	}
}

// TestExportOfNothing: a site that is not there is no empty file.
func TestExportOfNothing(t *testing.T) {
	t.Parallel()
	a := newHall(t, "memory", storetest.NewClock())
	var file bytes.Buffer
	_, err := backup.Export(t.Context(), &file, a.s, backup.ExportOptions{Site: "nowhere"})
	if dengxu.CodeOf(err) != dengxu.NotFound {
		t.Errorf("got %v", err)
	}
}

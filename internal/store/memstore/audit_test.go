package memstore

import (
	"testing"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/store"
)

// TestAuditFinds breaks each index in turn: an audit that cannot find anything
// proves nothing.
func TestAuditFinds(t *testing.T) {
	t.Parallel()
	key := store.LineKey{Queue: "clinic"}
	for kind, damage := range map[string]func(*part){
		"arrivals": func(s *part) { s.index.arrivals.shift() },
		"counts":   func(s *part) { s.index.lines[key].counts[dengxu.StateWaiting]++ },
		"lanes": func(s *part) {
			l := s.index.lines[key]
			for at := range l.lanes {
				l.enter(at, member{id: "ghost"})
			}
		},
		"holders":  func(s *part) { clear(s.index.holders) },
		"counters": func(s *part) { s.index.counters["desk"][0].fills = false },
		"persons":  func(s *part) { delete(s.index.persons, store.Person{Site: "north", Business: "ann"}) },
		"due":      func(s *part) { s.index.due.insert(store.DueEntry{At: 1, Doc: store.DocKey{Kind: "queue", ID: "x"}}) },
		"events":   func(s *part) { s.events[1].Number++ },
		"versions": func(s *part) { s.events[0].Version = 9 },
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s := New(Options{})
			b := store.Batch{Site: "north", Events: []store.EventSpec{
				{Type: dengxu.EventJoined, Token: 1}, {Type: dengxu.EventJoined, Token: 2}, {Type: dengxu.EventQueueChanged},
			}}
			for _, tk := range []store.Token{
				{ID: "t1", State: dengxu.StateWaiting, Business: "ann", Unique: true, Due: store.Now},
				{ID: "t2", State: dengxu.StateServing, Counter: "desk"},
			} {
				tk.Site, tk.Queue, tk.Version, tk.Lane.K = "north", "clinic", 1, 20
				b.Tokens = append(b.Tokens, store.TokenWrite{Token: tk})
			}
			if _, err := s.Commit(t.Context(), b); err != nil {
				t.Fatal(err)
			}
			if found, err := s.Audit(t.Context()); err != nil || len(found) > 0 {
				t.Fatalf("a sound store: %v, %v", found, err)
			}
			damage(s.parts[0])
			found, err := s.Audit(t.Context())
			if err != nil || len(found) == 0 || found[0].Kind != kind {
				t.Errorf("found %v, %v; want %s", found, err, kind)
			}
		})
	}
}

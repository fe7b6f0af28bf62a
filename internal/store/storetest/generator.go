package storetest

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/store"
)

// The little world of random runs.
var (
	someQueues   = []dengxu.QueueID{"clinic", "lab", "epoch", "strict", "ratio"}
	someCounters = []dengxu.CounterID{"desk-1", "desk-2", "desk-3"}
	someHolders  = []string{"ann", "bob", "eve", "joe", "kim", "lee", "max", "tom", "yan", "zoe"}
	someClasses  = []string{"", "", "", "cash", "@desk-1"}
	someReasons  = []string{"", "late", "rule: vip_priority"}
)

// generator makes steps that are mostly sensible, from what the model said.
type generator struct {
	rnd     *rand.Rand
	classes []string
	reopens bool // the store may be opened again; then the wall clock does not jump
	calm    bool // nearly all join and call, in one line of one lane
	now     int64
	made    int
	live    map[dengxu.TokenID]store.Token
	ids     []dengxu.TokenID // live, for choice
	gone    []dengxu.TokenID // archived
	docs    map[store.DocKey]uint64
	marks   map[store.MarkKey]int64
	ops     []store.Batch // that carried an operation
}

func newGenerator(rnd *rand.Rand, reopens bool) *generator {
	return &generator{
		rnd: rnd, classes: someClasses, reopens: reopens, now: NewClock().Now(),
		live: make(map[dengxu.TokenID]store.Token), docs: make(map[store.DocKey]uint64),
		marks: make(map[store.MarkKey]int64),
	}
}

// chance is true in n of a hundred cases.
func (g *generator) chance(n int) bool { return g.rnd.IntN(100) < n }

func one[T any](g *generator, of []T) T { return of[g.rnd.IntN(len(of))] }

// ms is a duration of up to ten minutes, mostly short.
func (g *generator) ms() int64 {
	if g.chance(70) {
		return g.rnd.Int64N(5_000)
	}
	return g.rnd.Int64N(600_000)
}

// step makes the next step.
func (g *generator) step() step {
	switch n := g.rnd.IntN(100); {
	case n < 15:
		d := time.Duration(g.ms()) * time.Millisecond
		return step{what: "time passes", given: d, move: func(c *Clock) { c.Advance(d) }}
	case n < 16 && g.reopens:
		return step{what: "open again", reopen: true}
	case n < 16:
		d := time.Duration(g.ms()-300_000) * 10 * time.Millisecond
		return step{what: "wall jumps", given: d, move: func(c *Clock) { c.JumpWall(d) }}
	case n < 65:
		return commitStep(g.batch())
	case n < 80:
		return viewStep(g.ask())
	case n < 85:
		return frozenStep(g.frozen())
	case n < 90:
		return listStep(g.listAsk())
	case n < 94:
		return dueStep(1 + g.rnd.IntN(4)*20)
	case n < 98:
		return eventStep(1 + g.rnd.IntN(20))
	case n < 99:
		return step{what: "docs", ask: func(t *testing.T, s *side) answer {
			docs, err := s.s.Docs(t.Context(), 0)
			return answered(docs, err)
		}}
	default:
		return auditStep()
	}
}

func commitStep(b store.Batch) step {
	return step{what: "commit", given: b, ask: func(t *testing.T, s *side) answer {
		r, err := s.s.Commit(t.Context(), b)
		r.Last.Epoch = 0 // of each log alone
		return answered(r, err)
	}}
}

func viewStep(a store.Ask) step {
	return step{what: "view", given: a, ask: func(t *testing.T, s *side) answer {
		v, err := s.s.View(t.Context(), a)
		for i := range v.Lines { // lanes come in no promised order
			slices.SortFunc(v.Lines[i].Lanes, func(a, b store.LaneView) int {
				return a.Lane.Compare(b.Lane)
			})
		}
		return answered(v, err)
	}}
}

// listStep reads all pages: where one ends is the store's business.
func listStep(a store.ListAsk) step {
	return step{what: "list", given: a, ask: func(t *testing.T, s *side) answer {
		all, err := drain(&kit{t: t, s: s.s}, a)
		return answered(all, err)
	}}
}

func dueStep(limit int) step {
	return step{what: "due", given: limit, ask: func(t *testing.T, s *side) answer {
		d, err := s.s.Due(t.Context(), 0, limit)
		return answered(d, err)
	}}
}

func eventStep(limit int) step {
	return step{what: "events", given: limit, ask: func(t *testing.T, s *side) answer {
		p, err := s.s.Events(t.Context(), s.cursor, limit)
		s.cursor = p.End
		p.End.Epoch = 0
		return answered(p, err)
	}}
}

func auditStep() step {
	return step{what: "audit", ask: func(t *testing.T, s *side) answer {
		found, err := s.s.Audit(t.Context())
		return answered(found, err)
	}}
}

// learn takes in what the model answered to what was given.
func (g *generator) learn(given any, a answer) {
	switch v := a.Value.(type) {
	case store.View:
		g.now = v.Now
	case store.Result:
		g.now = v.Now
		for _, t := range v.Tokens {
			g.learnToken(t)
		}
		for _, d := range v.Docs {
			g.docs[d.Key] = d.Version
		}
		if b, ok := given.(store.Batch); ok && !v.Replayed {
			for _, m := range b.Marks {
				g.marks[m.MarkKey] = store.Resolve(m.At, v.Now)
			}
		}
	}
	if a.Refused != nil {
		g.now = a.Refused.Now
	}
}

func (g *generator) learnToken(t store.Token) {
	if _, known := g.live[t.ID]; !known && !slices.Contains(g.gone, t.ID) {
		g.ids = append(g.ids, t.ID)
	}
	if !slices.Contains(g.gone, t.ID) {
		g.live[t.ID] = t
	}
}

// forget moves a token to the archived ones. If the batch that archives it is
// refused, it is only left alone from then on. An operation that brought it is not
// repeated any more if it may be forgotten by then: it would bring the id again,
// and ids come once.
func (g *generator) forget(id dengxu.TokenID) {
	g.ops = slices.DeleteFunc(g.ops, func(b store.Batch) bool {
		return b.Op.Keep < 2*3_600_000 && slices.ContainsFunc(b.Tokens, func(w store.TokenWrite) bool { return w.Token.ID == id })
	})
	delete(g.live, id)
	g.ids = slices.DeleteFunc(g.ids, func(o dengxu.TokenID) bool { return o == id })
	g.gone = append(g.gone, id)
}

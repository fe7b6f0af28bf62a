package torture

import (
	"cmp"
	"slices"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/store"
)

// picture is everything that the store knows of the walk's hall at a moment.
type picture struct {
	now    int64
	tokens map[dengxu.TokenID]*store.Token // live and archived
	door   map[dengxu.QueueID]dengxu.QueueView
	desk   map[dengxu.CounterID]dengxu.CounterView
	day    int // the generation of lines that are emptied
	ends   int64
	marks  map[store.MarkKey]int64
	closed map[dengxu.TokenID]bool // archived
	joins  map[dengxu.QueueID]int64
}

// look takes a picture.
func (w *walk) look() *picture {
	w.Helper()
	site, err := w.Site(w.Context(), hallID)
	if err != nil {
		w.fatal("site: %v", err)
	}
	day, err := dayNumber(site.Day)
	if err != nil {
		w.fatal("day: %v", err)
	}
	p := &picture{
		tokens: make(map[dengxu.TokenID]*store.Token), day: day, ends: site.DayEndsAt.UnixMilli(),
		door: make(map[dengxu.QueueID]dengxu.QueueView), desk: make(map[dengxu.CounterID]dengxu.CounterView),
		joins: make(map[dengxu.QueueID]int64),
	}
	v, err := w.store.View(w.Context(), store.Ask{Tokens: w.ids})
	if err != nil {
		w.fatal("view: %v", err)
	}
	p.now = v.Now
	for i, t := range v.Tokens {
		if t == nil {
			w.fatal("token %s is gone", w.ids[i])
		}
		p.tokens[t.ID] = t
	}
	for id := range walkRules {
		if p.door[id], err = w.Queue(w.Context(), id); err != nil {
			w.fatal("queue: %v", err)
		}
		p.joins[id] = p.door[id].JoinsToday
	}
	for id := range walkDesks {
		if p.desk[id], err = w.Counter(w.Context(), id); err != nil {
			w.fatal("counter: %v", err)
		}
	}
	return p
}

// gen is the generation of a queue's present line.
func (p *picture) gen(q dengxu.QueueID) int {
	if walkRules[q].keep {
		return 0
	}
	return p.day
}

// over reports whether the token's line was emptied at the end of a day.
func (p *picture) over(t *store.Token) bool { return t.Gen != p.gen(t.Queue) }

// sorted are the tokens in the order of their arrival.
func (p *picture) sorted() []*store.Token {
	all := make([]*store.Token, 0, len(p.tokens))
	for _, t := range p.tokens {
		all = append(all, t)
	}
	slices.SortFunc(all, func(a, b *store.Token) int { return cmp.Compare(a.Arrival, b.Arrival) })
	return all
}

// count counts tokens of a queue's present line.
func (p *picture) count(q dengxu.QueueID, states ...dengxu.State) int {
	n := 0
	for _, t := range p.tokens {
		if t.Queue == q && !p.over(t) && slices.Contains(states, t.State) {
			n++
		}
	}
	return n
}

// at are the tokens that fill a counter.
func (p *picture) at(id dengxu.CounterID) []*store.Token {
	var at []*store.Token
	for _, t := range p.tokens {
		if t.Counter == id && t.State.AtCounter() {
			at = append(at, t)
		}
	}
	return at
}

// holder is the active token of a business id in a line.
func (p *picture) holder(q dengxu.QueueID, gen int, business string) *store.Token {
	for _, t := range p.tokens {
		if business != "" && t.Business == business && t.Queue == q && t.Gen == gen && !t.State.Ended() {
			return t
		}
	}
	return nil
}

// rank counts who is ahead of a waiting token and competes with it.
func (p *picture) rank(t *store.Token) int {
	r, n := walkRules[t.Queue], 0
	for _, o := range p.tokens {
		if o.State != dengxu.StateWaiting || o.Line() != t.Line() || o.ID == t.ID {
			continue
		}
		if rival(t, o) && r.ahead(p.now, o, t) {
			n++
		}
	}
	return n
}

// rival reports whether o competes with t: some counter that may call t may
// call o; who is bound to a counter competes with nobody who is not.
func rival(t, o *store.Token) bool {
	bound, other := store.BoundClass(t.Lane), store.BoundClass(o.Lane)
	switch {
	case other != "":
		return other == bound
	case bound != "":
		return walkDesks[dengxu.CounterID(bound[1:])].serves(o.Queue, o.Class)
	}
	return len(walkRules[t.Queue].classes) == 0 || compete(t.Queue, t.Class, o.Class)
}

// next is whom a counter has to call, nil = nobody.
func (p *picture) next(id dengxu.CounterID, queue dengxu.QueueID, class string, not dengxu.TokenID) *store.Token {
	d := walkDesks[id]
	var best *store.Token
	for _, name := range d.queues {
		q := dengxu.QueueID(name)
		door, classless := p.door[q].Door, class != "" && !slices.Contains(walkRules[q].classes, class)
		if queue != "" && q != queue || classless || door == dengxu.DoorPaused || door == dengxu.DoorClosed {
			continue
		}
		winner := p.first(id, q, class, not)
		switch r := walkRules[q]; {
		case winner == nil:
		case best == nil:
			best = winner
		case !d.listed && older(p.now, winner, r.pace(winner), best, walkRules[best.Queue].pace(best)):
			best = winner
		}
	}
	return best
}

// first is the first of a line whom a counter may call.
func (p *picture) first(id dengxu.CounterID, q dengxu.QueueID, class string, not dengxu.TokenID) *store.Token {
	var best *store.Token
	for _, t := range p.tokens {
		if t.State != dengxu.StateWaiting || t.Queue != q || p.over(t) || t.ID == not || !walkDesks[id].sees(id, t) {
			continue
		}
		if class != "" && t.Class != class && store.BoundClass(t.Lane) == "" {
			continue
		}
		if best == nil || walkRules[q].ahead(p.now, t, best) {
			best = t
		}
	}
	return best
}

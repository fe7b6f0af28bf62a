package pebblestore

import (
	"context"
	"fmt"
	"slices"

	"github.com/dengxu/dengxu/internal/store"
)

// List answers one page of live tokens. It looks at MaxExamined tokens at the
// most; only those whose place in the indexes fits the question are read.
func (s *Store) List(ctx context.Context, a store.ListAsk) (page store.Page, err error) {
	if a.Limit < 1 {
		return store.Page{}, fmt.Errorf("pebblestore: list of %d tokens", a.Limit)
	}
	if err := s.enter(ctx, a.Partition); err != nil {
		return store.Page{}, err
	}
	defer s.life.RUnlock()
	l := s.look()
	defer l.end(&err)
	page.Now = l.now
	found, next := s.candidates(l, &a)
	l.leave()
	for i, w := range found {
		if err := l.read(w); err != nil {
			return store.Page{}, err
		}
		if a.Match(w.token) {
			page.Tokens = append(page.Tokens, *w.token)
		}
		if len(page.Tokens) == a.Limit && i+1 < len(found) {
			next = w.token.Arrival
			break
		}
	}
	page.Next = next
	l.wants = nil // all that is needed was read
	return page, l.settle(ctx)
}

// candidates are the next tokens that a page may hold, by what the indexes
// know of them, and where the page after it begins if it takes all of them.
func (s *Store) candidates(l *look, a *store.ListAsk) (found []*want, next uint64) {
	// What only a record can tell makes more of them needed.
	enough := a.Limit
	if a.Counter != "" || a.Label != "" || a.Text != "" {
		enough = store.MaxExamined
	}
	run := s.index.run(a)
	var last uint64
	for n := 0; ; n++ {
		e := run.next()
		if e == nil {
			return found, 0
		}
		if n == store.MaxExamined || len(found) == enough {
			return found, last
		}
		last = uint64(e.arrival)
		if (a.Site == "" || *e.site == a.Site) &&
			(len(a.States) == 0 || slices.Contains(a.States, stateNames[e.state])) {
			found = append(found, l.want(e.id))
		}
	}
}

// run yields the tokens of several lines in arrival order.
type run struct {
	newest bool
	lines  []*lineRun
}

// lineRun is what is left of one line: the next few tokens, and after them
// what follows at.
type lineRun struct {
	line *line
	few  []*entry
	at   arrival // the last one taken in
}

// fewTokens is how many tokens of a line are looked up at once.
const fewTokens = 64

// run begins a page in the lines that it may come from.
func (x *index) run(a *store.ListAsk) *run {
	r := &run{newest: a.Newest}
	for k, l := range x.lines {
		if a.Queue != "" && k.Queue != a.Queue || a.Gen != nil && k.Gen != *a.Gen {
			continue
		}
		in := &lineRun{line: l, at: arrival(a.After)}
		if r.newest {
			in.at = arrival(a.Before)
			if in.at == 0 {
				in.at = ^arrival(0)
			}
		}
		if in.fill(r.newest) {
			r.lines = append(r.lines, in)
		}
	}
	slices.SortFunc(r.lines, func(a, b *lineRun) int {
		if r.before(a, b) {
			return -1
		}
		return 1
	})
	return r
}

func (r *run) before(a, b *lineRun) bool {
	return a.few[0].arrival < b.few[0].arrival != r.newest
}

// fill takes the next few tokens in, and reports whether there are any.
func (in *lineRun) fill(newest bool) bool {
	in.few = make([]*entry, 0, min(fewTokens, in.line.arrivals.Len()))
	from := in.line.arrivals.Before(in.at)
	if !newest {
		from = in.line.arrivals.From(in.at + 1)
	}
	for n, e := range from {
		in.few = append(in.few, e)
		in.at = n
		if len(in.few) == fewTokens {
			break
		}
	}
	return len(in.few) > 0
}

// next is the next token, or nil. The line that it came from goes back to
// where it belongs among the others, which is mostly near the front.
func (r *run) next() *entry {
	if len(r.lines) == 0 {
		return nil
	}
	in := r.lines[0]
	e := in.few[0]
	if in.few = in.few[1:]; len(in.few) == 0 && !in.fill(r.newest) {
		r.lines = r.lines[1:]
		return e
	}
	for i := 1; i < len(r.lines) && r.before(r.lines[i], in); i++ {
		r.lines[i-1], r.lines[i] = r.lines[i], in
	}
	return e
}

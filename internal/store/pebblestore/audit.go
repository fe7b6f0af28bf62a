package pebblestore

import (
	"context"
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/order"
	"github.com/dengxu/dengxu/internal/store"
	"github.com/dengxu/dengxu/internal/store/ledger"
)

// Audit compares the indexes with the records, and the log with both. Commits
// wait while the indexes are compared, about 3 s of processor time for a million tokens.
func (s *Store) Audit(ctx context.Context) (found []store.Finding, err error) {
	if err := s.enter(ctx, 0); err != nil {
		return nil, err
	}
	defer s.life.RUnlock()
	var a store.Auditor
	var snap *pebble.Snapshot
	var at meta
	// Without ctx: an errand that was left would leave its snapshot behind.
	err = s.errand(context.WithoutCancel(ctx), func(*group) error {
		at, snap = s.meta, s.db.NewSnapshot()
		err := s.compare(snap, &a)
		if err != nil {
			err = errors.Join(err, snap.Close())
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, snap.Close()) }()
	if err := auditRules(snap, &at, &a); err != nil {
		return nil, err
	}
	return a.Findings(), nil
}

// compare reads every record and looks for it in every index. The counts at
// the end find what is in an index and has no record.
func (s *Store) compare(r pebble.Reader, a *store.Auditor) error {
	c := newComparison(s.index, a)
	steps := []struct {
		prefix byte
		each   func(key, value []byte) error
	}{
		{prefixToken, c.token},
		{prefixDoc, c.doc},
		{prefixTally, c.tally},
		{prefixSeries, c.oneSeries},
		{prefixMark, c.mark},
	}
	for _, step := range steps {
		if err := scan(r, step.prefix, step.each); err != nil {
			return err
		}
	}
	c.totals()
	if c.sum != s.meta.Sum {
		a.Report("sum", "what is stored has the sum %016x, not %016x", c.sum, s.meta.Sum)
	}
	return nil
}

// comparison is an audit of indexes on its way through the records.
type comparison struct {
	*store.Auditor
	x    *index
	sum  uint64
	want sizes
	// lines are the counts that the records make.
	lines map[store.LineKey]map[dengxu.State]int
}

// sizes is how many entries each index has.
type sizes struct{ tokens, arrivals, lanes, persons, counters, busy, due, docs, docDue, tallies, series int }

func newComparison(x *index, a *store.Auditor) *comparison {
	return &comparison{Auditor: a, x: x, lines: make(map[store.LineKey]map[dengxu.State]int)}
}

func (c *comparison) add(key, value []byte) uint64 {
	hash := hashOf(key, value)
	c.sum += hash
	return hash
}

func (c *comparison) token(key, value []byte) error {
	t, err := store.DecodeToken(dengxu.TokenID(key[1:]), value)
	if err != nil {
		return err
	}
	hash := c.add(key, value)
	c.want.tokens++
	e := c.x.tokens[t.ID]
	if e == nil {
		c.Report("records", "%s is in no index", t.ID.Mask())
		return nil
	}
	if e.hash != hash {
		c.Report("records", "%s is not the record that was written", t.ID.Mask())
	}
	c.inLine(e, t)
	c.elsewhere(e, t)
	return nil
}

// inLine looks for a token in its line.
func (c *comparison) inLine(e *entry, t *store.Token) {
	ix, l := t.Indexes(), c.x.line(t.Line())
	counts := c.lines[ix.Line]
	if counts == nil {
		counts = make(map[dengxu.State]int)
		c.lines[ix.Line] = counts
	}
	counts[t.State]++
	c.want.arrivals++
	if got, _ := l.arrivals.Get(arrival(t.Arrival)); got != e {
		c.Report("arrivals", "missing %d %s", t.Arrival, t.ID.Mask())
	}
	if e.line != l || *e.site != t.Site || stateNames[e.state] != t.State {
		c.Report("records", "%s stands in the indexes with another line, site or state", t.ID.Mask())
	}
	if ix.InLane {
		c.want.lanes++
		if l.at(t.Member()) != e {
			c.Report("lanes", "missing %v %v %s", ix.Line, t.Member(), t.ID.Mask())
		}
	}
}

// elsewhere looks for a token in the indexes that are not by line.
func (c *comparison) elsewhere(e *entry, t *store.Token) {
	ix, id := t.Indexes(), t.ID.Mask()
	if ix.Person != "" {
		c.want.persons++
		if !c.x.inRing(ix.Person, e) {
			c.Report("persons", "missing %s", id)
		}
	}
	if holds := ix.Holder.Business != ""; holds != e.unique || holds && c.x.holder(ix.Holder) != e {
		c.Report("holders", "missing %v: %s", ix.Holder.Line, id)
	}
	if ix.Counter != "" {
		c.want.counters++
		if ix.Busy {
			c.want.busy++
		}
		if got, _ := c.x.desk(ix.Counter).tokens.Get(callKey{t.CallNo, arrival(t.Arrival)}); got != e {
			c.Report("counters", "missing %s: %s", ix.Counter, id)
		}
	}
	if ix.Due != 0 {
		c.want.due++
		if _, ok := c.x.due.Get(dueKey{ix.Due, e}); !ok {
			c.Report("due", "missing %d %s", ix.Due, id)
		}
	}
}

// inRing reports whether e is among the tokens of a business id.
func (x *index) inRing(business string, e *entry) bool {
	head := x.persons[business]
	for at := head; at != nil; {
		if at == e {
			return true
		}
		if at = at.next; at == head {
			break
		}
	}
	return false
}

func (c *comparison) doc(key, value []byte) error {
	kind, id, err := splitPair(key)
	if err != nil {
		return err
	}
	k := store.DocKey{Kind: store.DocKind(kind), ID: id}
	d, err := store.DecodeDoc(k, value)
	if err != nil {
		return err
	}
	c.want.docs++
	hash := c.add(key, value)
	if got := c.x.docs[k]; got == nil || got.hash != hash || got.Version != d.Version {
		c.Report("docs", "%v is not what is in memory", k)
	}
	if d.Due != 0 {
		c.want.docDue++
		if _, ok := c.x.docDue.Get(docDueKey{d.Due, k}); !ok {
			c.Report("due", "missing %d %v", d.Due, k)
		}
	}
	return nil
}

func (c *comparison) tally(key, value []byte) error {
	c.want.tallies++
	return c.count("tallies", key, value, c.x.tallies[string(key[1:])])
}

func (c *comparison) oneSeries(key, value []byte) error {
	site, name, err := splitPair(key)
	if err != nil {
		return err
	}
	c.want.series++
	k := ledger.SeriesKey{Site: dengxu.SiteID(site), Name: name}
	return c.count("series", key, value, c.x.series[k])
}

func (c *comparison) count(kind string, key, value []byte, have *daily) error {
	v, err := decodeDaily(value)
	if hash := c.add(key, value); err == nil && (have == nil || have.hash != hash || have.Daily != v) {
		c.Report(kind, "%q is not what is in memory", key[1:])
	}
	return err
}

func (c *comparison) mark(key, value []byte) error {
	c.add(key, value)
	_, err := decodeMark(value)
	return err
}

// totals finds entries without records.
func (c *comparison) totals() {
	x := c.x
	have := sizes{
		tokens: len(x.tokens), due: x.due.Len(), docs: len(x.docs), docDue: x.docDue.Len(),
		tallies: len(x.tallies), series: len(x.series),
	}
	for k, l := range x.lines {
		have.arrivals += l.arrivals.Len()
		for at := range l.Lanes() {
			have.lanes += l.Len(at)
			if n := l.Below(at, order.Key{Place: 1<<63 - 1, Seq: 1<<64 - 1}); n != l.Len(at) {
				c.Report("lanes", "%v %v has %d members and counts %d", k, at, l.Len(at), n)
			}
		}
		for state, n := range l.states() {
			if want := c.lines[k][state]; n != want {
				c.Report("counts", "%v counts %d %s, not %d", k, n, state, want)
			}
		}
	}
	for _, head := range x.persons {
		for e := head; ; {
			have.persons++
			if e = e.next; e == head || e == nil {
				break
			}
		}
	}
	for _, d := range x.counters {
		have.counters += d.tokens.Len()
		have.busy += d.busy
	}
	if have != c.want {
		c.Report("totals", "the indexes have %+v entries, the records make %+v", have, c.want)
	}
}

// auditRules reads everything once more and holds records, counts and log
// against each other.
func auditRules(r pebble.Reader, at *meta, a *store.Auditor) error {
	record := func(archived bool) func(key, value []byte) error {
		return func(key, value []byte) error {
			t, err := store.DecodeToken(dengxu.TokenID(key[1:]), value)
			if err == nil {
				a.Token(t, archived)
			}
			return err
		}
	}
	// The archive first: a live record counts, should one have the same id.
	steps := []struct {
		prefix byte
		each   func(key, value []byte) error
	}{
		{prefixArchive, record(true)},
		{prefixToken, record(false)},
		{prefixEvent, func(key, value []byte) error {
			n, err := eventNumber(key)
			if err != nil {
				return err
			}
			ev, err := store.DecodeEvent(n, value)
			if err != nil {
				return fmt.Errorf("event %d: %w", n, err)
			}
			a.Event(ev)
			return nil
		}},
		{prefixSeries, func(key, value []byte) error {
			site, name, err := splitPair(key)
			if err != nil {
				return err
			}
			v, err := decodeDaily(value)
			a.SeriesCount(dengxu.SiteID(site), name, v.Day, v.N)
			return err
		}},
		{prefixTally, func(key, value []byte) error {
			v, err := decodeDaily(value)
			a.TallyCount(string(key[1:]), v.N)
			return err
		}},
	}
	for _, step := range steps {
		if err := scan(r, step.prefix, step.each); err != nil {
			return err
		}
	}
	a.Numbers(at.Arrival, at.Event)
	return nil
}

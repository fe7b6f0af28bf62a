package redisstore

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/maphash"
	"strconv"
	"strings"

	"github.com/redis/rueidis"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/store"
)

// comparison is one reading of a partition. What the records make and what the
// indexes have is told apart by hashes, for there are many of both: an entry
// that only one side has keeps its hash. Who is suspected in a second reading is
// kept in words.
type comparison struct {
	p       *part
	rules   store.Auditor
	diff    map[uint64]int // wanted - had, by hash; no zeros
	suspect map[uint64]int // diff of the first reading
	words   map[uint64]store.Finding

	lines   map[string]*[10]int // by packed line: what the records make
	sums    map[string]uint64   // of the versions of a line's records
	counted map[uint64]string   // the lines of suspected counts
	buckets map[string]bool     // that have a list
	seen    map[uint64]struct{} // a scan may answer one twice
}

// seed makes hashes of both readings alike.
var seed = maphash.MakeSeed()

const placeholder = "\xff~" // keeps sorted sets existing

func newComparison(p *part, rules store.Auditor) *comparison {
	return &comparison{
		p: p, rules: rules, diff: make(map[uint64]int), words: make(map[uint64]store.Finding),
		lines: make(map[string]*[10]int), sums: make(map[string]uint64), counted: make(map[uint64]string), buckets: make(map[string]bool), seen: make(map[uint64]struct{}),
	}
}

// again reports whether a scan has answered an element of a key before.
func (c *comparison) again(key int, element string) bool {
	h := hashOf(keyNames[key-1], element)
	_, seen := c.seen[h]
	c.seen[h] = struct{}{}
	return seen
}

// want and have take in an entry of an index; text says in words what it is.
func (c *comparison) want(kind, entry string, text func() string) { c.weigh(kind, entry, 1, text) }

func (c *comparison) have(kind, entry string, text func() string) { c.weigh(kind, entry, -1, text) }

func (c *comparison) weigh(kind, entry string, n int, text func() string) {
	h := hashOf(kind, entry)
	if c.diff[h] += n; c.diff[h] == 0 {
		delete(c.diff, h)
	}
	if c.suspect[h] != 0 {
		c.words[h] = store.Finding{Kind: kind, Text: text()}
	}
}

func hashOf(kind, entry string) uint64 { return maphash.String(seed, kind+"\x00"+entry) }

func (c *comparison) clean() bool { return len(c.diff) == 0 && len(c.rules.Findings()) == 0 }

// named are the entries that differ as they did in the first reading. Counts
// may return to what they were, so they count where the line stood still: its
// records have the same versions.
func (c *comparison) named(first *comparison) []store.Finding {
	var found []store.Finding
	for h, n := range c.diff {
		line, counted := c.counted[h]
		if c.suspect[h] != n || counted && c.sums[line] != first.sums[line] {
			continue
		}
		f := c.words[h]
		if n > 0 {
			f.Text = "missing " + f.Text
		} else {
			f.Text = "no record for " + f.Text
		}
		found = append(found, f)
	}
	return found
}

// read reads everything: records first, what is made of them then, numbers and
// log last, so that what a living store adds meanwhile is not taken for damage
// more often than need be.
func (c *comparison) read(ctx context.Context) error {
	for _, key := range []int{keyArchive, keyEnded, keyLive} {
		if err := c.p.scan(ctx, key, func(id, rec string) error { return c.record(key, id, rec) }); err != nil {
			return err
		}
	}
	if err := c.p.scan(ctx, keyDocs, c.doc); err != nil {
		return err
	}
	sets := []struct {
		key  int
		kind string
	}{{keyLines, "lanes"}, {keyDue, "due"}, {keyBuckets, "buckets"}}
	for _, set := range sets {
		err := c.p.scanSet(ctx, set.key, func(member string, score float64) error {
			if c.again(set.key, member) {
				return nil
			}
			entry := member + "\x00" + strconv.FormatFloat(score, 'f', -1, 64)
			c.have(set.kind, entry, func() string { return setText(set.kind, member, score) })
			return nil
		})
		if err != nil {
			return err
		}
	}
	return c.rest(ctx)
}

// rest reads the log, the state and the numbers.
func (c *comparison) rest(ctx context.Context) error {
	err := c.p.eachEvent(ctx, func(ev *store.Event) error {
		c.rules.Event(ev)
		return nil
	})
	if err != nil {
		return err
	}
	var tallies []func()
	err = c.p.scan(ctx, keyState, func(field, value string) error { return c.state(field, value, &tallies) })
	if err != nil {
		return err
	}
	for _, tally := range tallies {
		tally()
	}
	for line, counts := range c.lines {
		c.counted[hashOf("counts", line+fmt.Sprint(*counts))] = line
		c.want("counts", line+fmt.Sprint(*counts), func() string { return lineText(line) + " counting " + fmt.Sprint(*counts) })
	}
	raw, err := c.p.call(ctx, soon(), func(ctx context.Context, r rueidis.Client) ([]byte, error) {
		return r.Do(ctx, r.B().Hget().Key(c.p.key(keyState)).Field("m").Build()).AsBytes()
	})
	if err != nil {
		return err
	}
	r := &reader{buf: raw, ok: true}
	r.number(6)
	arrival, _, event := r.number(6), r.number(6), r.number(6)
	if !r.ok {
		return fmt.Errorf("numbers of the partition are cut off: %w", store.ErrDamaged)
	}
	c.rules.Numbers(arrival, event)
	return nil
}

// record takes in a record and what it makes in the indexes.
func (c *comparison) record(key int, id, rec string) error {
	if c.again(key, id) {
		return nil
	}
	t, err := decodeRecord(id, []byte(rec))
	if err != nil {
		c.rules.Report("records", "%v", err)
		return nil
	}
	c.rules.Token(t, key == keyArchive)
	if key == keyArchive {
		return nil
	}
	name, ix := t.ID.Mask(), t.Indexes()
	if t.State.Ended() != (key == keyEnded) {
		c.rules.Report("records", "%s is %s and stands among the %s", name, t.State, keyNames[key-1])
	}
	if h := (&reader{buf: []byte(rec), ok: true}).head(); h.flags&^asStamped != flags(&ix, t.State) {
		c.rules.Report("records", "%s has flags that do not follow from it", name)
	}
	line := packLine(t.Line())
	counts := c.lines[line]
	if counts == nil {
		counts = new([10]int)
		c.lines[line] = counts
	}
	counts[stateCode(t.State)-1]++
	c.sums[line] += t.Version
	if ix.InLane {
		member := line + packMember(t.Member()) + id
		c.want("lanes", member+"\x000", func() string { return setText("lanes", member, 0) })
	}
	if ix.Due != 0 {
		c.want("due", id+"\x00"+strconv.FormatInt(ix.Due, 10), func() string { return setText("due", id, float64(ix.Due)) })
	}
	c.listed(t, id, line)
	return nil
}

// listed takes in the lists that a record stands in.
func (c *comparison) listed(t *store.Token, id, line string) {
	ix, name := t.Indexes(), t.ID.Mask()
	if ix.Person != "" {
		unique := "\x00"
		if ix.Holder.Business != "" {
			unique = "\x01"
		}
		c.want("persons", ix.Person+"\x00"+unique+string([]byte{byte(len(id))})+id+line, func() string { return name })
	}
	if ix.Counter != "" {
		busy := "\x00"
		if ix.Busy {
			busy = "\x01"
		}
		c.want("counters", string(ix.Counter)+"\x00"+busy+id, func() string { return string(ix.Counter) + ": " + name })
	}
	list, bucket := "i", strconv.FormatUint(t.Arrival/64, 10)
	if t.State.Ended() {
		list = "j"
	}
	c.want("arrivals", list+bucket+"\x00"+id, func() string { return bucket + ": " + name })
}

func (c *comparison) doc(field, raw string) error {
	if c.again(keyDocs, field) {
		return nil
	}
	d, err := decodeDoc(unpackKey(field), []byte(raw))
	if err != nil {
		c.rules.Report("docs", "%v", err)
		return nil
	}
	c.want("docs", field+"\x00"+strconv.FormatUint(d.Version, 10), func() string { return docText(d.Key, d.Version) })
	if d.Due != 0 {
		member := "\x00" + field
		c.want("due", member+"\x00"+strconv.FormatInt(d.Due, 10), func() string { return setText("due", member, float64(d.Due)) })
	}
	return nil
}

// state takes in a field of the state, by its first letter (meta.lua).
func (c *comparison) state(field, value string, tallies *[]func()) error {
	if c.again(keyState, field) {
		return nil
	}
	kind, name := field[0], field[1:]
	switch {
	case kind == 'v':
		c.have("docs", name+"\x00"+value, func() string { return fmt.Sprintf("version %s of %v", value, unpackKey(name)) })
	case kind == 'c':
		c.counts(name, value)
	case kind == 'p':
		c.list("persons", name, value, func(e string) string { return tokenOf(e[2:]) })
	case kind == 'b':
		c.list("counters", name, value, func(e string) string { return name + ": " + tokenOf(e[1:]) })
	case kind == 'i' || kind == 'j':
		c.list("arrivals", field, value, func(e string) string { return name + ": " + tokenOf(e) })
		c.bucket(name)
	case strings.HasPrefix(field, "ns") || strings.HasPrefix(field, "nt"):
		r := &reader{buf: []byte(value), ok: true}
		day, n := int(int32(r.number(4))), r.time()
		if !r.ok {
			c.rules.Report("series", "%q is cut off", name)
			return nil
		}
		if field[1] == 't' {
			// After the log, which is read before but tells the joins of today.
			*tallies = append(*tallies, func() { c.rules.TallyCount(field[2:], n) })
			return nil
		}
		site, series, _ := strings.Cut(field[2:], "\x00")
		c.rules.SeriesCount(dengxu.SiteID(site), series, day, n)
	}
	return nil
}

// bucket wants the number of a list of arrivals, once.
func (c *comparison) bucket(name string) {
	if c.buckets[name] {
		return
	}
	c.buckets[name] = true
	n, err := strconv.ParseFloat(name, 64)
	if err != nil {
		c.rules.Report("arrivals", "a list is called %q", name)
		return
	}
	c.want("buckets", name+"\x00"+strconv.FormatFloat(n, 'f', -1, 64), func() string { return setText("buckets", name, n) })
}

func (c *comparison) counts(line, value string) {
	var counts [10]int
	if len(value) != 4*len(counts) {
		c.rules.Report("counts", "%s has %d bytes", lineText(line), len(value))
		return
	}
	for i := range counts {
		counts[i] = int(binary.BigEndian.Uint32([]byte(value[4*i:])))
	}
	c.counted[hashOf("counts", line+fmt.Sprint(counts))] = line
	c.have("counts", line+fmt.Sprint(counts), func() string { return lineText(line) + " counting " + fmt.Sprint(counts) })
}

// list takes in a list of entries, each with its length before it.
func (c *comparison) list(kind, name, all string, text func(entry string) string) {
	for r := (&reader{buf: []byte(all), ok: true}); len(r.buf) > 0; {
		e := r.text(1)
		if !r.ok || len(e) < 2 {
			c.rules.Report(kind, "the list %q is cut off", name)
			return
		}
		c.have(kind, name+"\x00"+e, func() string { return text(e) })
	}
}

// tokenOf is the token whose packed id is the beginning of an entry.
func tokenOf(e string) string {
	if !strings.HasPrefix(e, rawID) {
		e = e[:min(len(e), 17)]
	}
	return unpackID(e).Mask()
}

func lineText(line string) string {
	queue, gen, _ := strings.Cut(line, "\x00")
	return fmt.Sprintf("%s of %d", queue, int32(big([]byte(gen))))
}

func docText(k store.DocKey, version uint64) string {
	return fmt.Sprintf("version %d of %v", version, k)
}

// setText says in words what a member of a sorted set is.
func setText(kind, member string, score float64) string {
	switch {
	case kind == "buckets":
		return member
	case kind == "due" && strings.HasPrefix(member, "\x00"):
		return fmt.Sprintf("%.0f %v", score, unpackKey(member[1:]))
	case kind == "due":
		return fmt.Sprintf("%.0f %s", score, unpackID(member).Mask())
	}
	queue, rest, _ := strings.Cut(member, "\x00")
	if len(rest) < 4 {
		return fmt.Sprintf("%q", member)
	}
	lane, rest, ok := unpackLane(rest[4:])
	if !ok || len(rest) < keySize {
		return fmt.Sprintf("%q", member)
	}
	return fmt.Sprintf("%s of %d, %+v: %s", queue, int32(big([]byte(member[len(queue)+1:][:4]))), lane, unpackID(rest[keySize:]).Mask())
}

func parseScore(s string) (float64, error) {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return 0, fmt.Errorf("score %q: %w", s, store.ErrDamaged)
	}
	return f, nil
}

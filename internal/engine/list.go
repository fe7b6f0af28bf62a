package engine

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"
	"time"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/store"
)

// Limits of lists.
const (
	pageSize    = 50
	maxPageSize = 200
)

// QueueTokens lists the tokens of a queue in arrival order. Codes: not_found,
// invalid (cursor, limit, state).
func (e *Engine) QueueTokens(ctx context.Context, id dengxu.QueueID, f dengxu.TokenFilter) (dengxu.TokenPage, error) {
	q, err := e.queue(ctx, id)
	if err != nil {
		return dengxu.TokenPage{}, err
	}
	return e.list(ctx, store.ListAsk{Partition: q.site.partition, Site: q.site.id, Queue: id}, f)
}

// SiteTokens lists the tokens of all queues of a site in arrival order. Codes:
// as QueueTokens.
func (e *Engine) SiteTokens(ctx context.Context, id dengxu.SiteID, f dengxu.TokenFilter) (dengxu.TokenPage, error) {
	s, err := e.site(ctx, id)
	if err != nil {
		return dengxu.TokenPage{}, err
	}
	return e.list(ctx, store.ListAsk{Partition: s.partition, Site: id}, f)
}

func (e *Engine) list(ctx context.Context, ask store.ListAsk, f dengxu.TokenFilter) (dengxu.TokenPage, error) {
	if f.Limit < 0 || f.Limit > maxPageSize {
		return dengxu.TokenPage{}, dengxu.Fieldf(dengxu.Invalid, "limit", "limit is from 1 to %d", maxPageSize)
	}
	for _, s := range f.States {
		if !s.Valid() {
			return dengxu.TokenPage{}, dengxu.Fieldf(dengxu.Invalid, "state", "there is no state %q", s)
		}
	}
	after, err := readCursor(listOf(ask), f.Cursor)
	if err != nil {
		return dengxu.TokenPage{}, err
	}
	ask.States, ask.Label, ask.Counter, ask.Text = f.States, f.Number, f.CounterID, f.Text
	ask.After, ask.Limit = after, f.Limit
	if ask.Limit == 0 {
		ask.Limit = pageSize
	}
	page, err := e.store.List(ctx, ask)
	if err != nil {
		return dengxu.TokenPage{}, storeError("list", err)
	}
	out := dengxu.TokenPage{Items: make([]dengxu.Token, len(page.Tokens)), AsOf: at(page.Now)}
	for i := range page.Tokens {
		out.Items[i] = staff(&page.Tokens[i], ask.Partition, page.Now)
	}
	if page.Next != 0 {
		out.NextCursor = writeCursor(listOf(ask), page.Next)
	}
	return out, nil
}

// listOf names a list, so that a cursor of another one is noticed.
func listOf(ask store.ListAsk) uint32 {
	return crc32.ChecksumIEEE([]byte(string(ask.Site) + "/" + string(ask.Queue)))
}

func writeCursor(list uint32, n uint64) string {
	b := binary.BigEndian.AppendUint32(nil, list)
	return base64.RawURLEncoding.EncodeToString(binary.AppendUvarint(b, n))
}

func readCursor(list uint32, s string) (uint64, error) {
	if s == "" {
		return 0, nil
	}
	b, err := base64.RawURLEncoding.DecodeString(s)
	if err == nil && len(b) > 4 && binary.BigEndian.Uint32(b) == list {
		if n, used := binary.Uvarint(b[4:]); used == len(b)-4 && used > 0 {
			return n, nil
		}
	}
	return 0, dengxu.Fieldf(dengxu.Invalid, "cursor", "this is not a cursor of this list").Because("cursor")
}

// Bounds of a stats question.
const (
	maxBuckets   = 400
	maxStatsRead = 200_000 // records
)

// Stats is a queue's recent past in equal intervals from from (zero: a day before
// to) to to (zero: now), as far as its records are retained, and of those the
// latest 200,000; and what holders were told about their wait on the business days
// that these touch. Codes: not_found, invalid, unavailable.
func (e *Engine) Stats(ctx context.Context, id dengxu.QueueID, from, to time.Time, bucket time.Duration) (dengxu.Stats, error) {
	q, err := e.queue(ctx, id)
	if err != nil {
		return dengxu.Stats{}, err
	}
	if to.IsZero() {
		v, err := e.view(ctx, store.Ask{Partition: q.site.partition})
		if err != nil {
			return dengxu.Stats{}, err
		}
		to = at(v.Now)
	}
	if from.IsZero() {
		from = to.Add(-24 * time.Hour)
	}
	// Times of answers have milliseconds, as those of records.
	from, to, bucket = from.Truncate(time.Millisecond), to.Truncate(time.Millisecond), bucket.Truncate(time.Millisecond)
	if err := checkBuckets(from, to, bucket); err != nil {
		return dengxu.Stats{}, err
	}
	t := newTally(from, to, bucket)
	ask := store.ListAsk{Partition: q.site.partition, Site: q.site.id, Queue: id, Newest: true, Limit: maxPageSize}
	for read := 0; read < maxStatsRead; read += maxPageSize {
		page, err := e.store.List(ctx, ask)
		if err != nil {
			return dengxu.Stats{}, storeError("stats", err)
		}
		for i := range page.Tokens {
			t.add(&page.Tokens[i])
		}
		t.now = page.Now
		if page.Next == 0 {
			break
		}
		ask.Before = page.Next
	}
	promises, err := e.estimateStats(ctx, q, from, to)
	if err != nil {
		return dengxu.Stats{}, err
	}
	return dengxu.Stats{QueueID: id, Buckets: t.finish(), Estimates: promises, AsOf: at(t.now)}, nil
}

// checkBuckets refuses a question that makes no buckets, or too many.
func checkBuckets(from, to time.Time, bucket time.Duration) error {
	switch {
	case !from.Before(to):
		return dengxu.Fieldf(dengxu.Invalid, "from", "from must be before to")
	case from.UnixMilli() < 0:
		return dengxu.Fieldf(dengxu.Invalid, "from", "from is in or after 1970")
	case to.Year() >= 2200: // the longest Duration is 292 years
		return dengxu.Fieldf(dengxu.Invalid, "to", "to is before 2200")
	case bucket < time.Second:
		return dengxu.Fieldf(dengxu.Invalid, "bucket", "a bucket is at least a second")
	case (to.Sub(from)-1)/bucket >= maxBuckets: // a product could overflow
		return dengxu.Fieldf(dengxu.Invalid, "bucket", "that makes more than %d buckets", maxBuckets)
	}
	return nil
}

// tally counts records into buckets.
type tally struct {
	from, width       int64
	buckets           []dengxu.StatsBucket
	wait, most, serve []int64
	served            []int
	now               int64
}

func newTally(from, to time.Time, bucket time.Duration) *tally {
	t := &tally{from: from.UnixMilli(), width: bucket.Milliseconds()}
	for at := from; at.Before(to); at = at.Add(bucket) {
		t.buckets = append(t.buckets, dengxu.StatsBucket{From: at.UTC(), To: at.Add(bucket).UTC()})
	}
	n := len(t.buckets)
	t.wait, t.most, t.serve, t.served = make([]int64, n), make([]int64, n), make([]int64, n), make([]int, n)
	return t
}

// in finds the bucket of an instant, -1 outside.
func (t *tally) in(ms int64) int {
	if ms == 0 || ms < t.from {
		return -1
	}
	if i := int((ms - t.from) / t.width); i < len(t.buckets) {
		return i
	}
	return -1
}

func (t *tally) add(r *store.Token) {
	if i := t.in(r.JoinedAt); i >= 0 {
		t.buckets[i].Joined++
	}
	if i := t.in(r.FirstCalled); i >= 0 {
		w := max(0, r.FirstCalled-waitsFrom(r))
		t.buckets[i].Called++
		t.wait[i] += w
		t.most[i] = max(t.most[i], w)
	}
	for _, s := range r.Spans {
		if i := t.in(s.To); i >= 0 && s.Verb == dengxu.VerbMiss {
			t.buckets[i].Missed++
		}
	}
	i := t.in(r.EndedAt)
	if i < 0 {
		return
	}
	switch r.State { //nolint:exhaustive // ends only
	case dengxu.StateCompleted:
		t.buckets[i].Completed++
		if s := r.Spans[len(r.Spans)-1]; s.State == dengxu.StateServing && !s.Implicit {
			t.serve[i] += s.To - s.From
			t.served[i]++
		}
	case dengxu.StateCancelled:
		t.buckets[i].Cancelled++
	case dengxu.StateAbandoned:
		t.buckets[i].Abandoned++
	}
}

func (t *tally) finish() []dengxu.StatsBucket {
	for i := range t.buckets {
		b := &t.buckets[i]
		if b.Called > 0 {
			b.MeanWaitSeconds = new(seconds(t.wait[i]) / float64(b.Called))
			b.MaxWaitSeconds = new(seconds(t.most[i]))
		}
		if t.served[i] > 0 {
			b.MeanServiceSeconds = new(seconds(t.serve[i]) / float64(t.served[i]))
		}
	}
	return t.buckets
}

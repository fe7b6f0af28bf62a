package redisstore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/rueidis"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/store"
	"github.com/dengxu/dengxu/internal/store/ledger"
)

// Bounds of a group: what a script judges in about a millisecond.
const (
	groupMost   = 64
	groupTokens = 256
)

func isUnknown(err error) bool     { return errors.Is(err, store.ErrUnknown) }
func isUnavailable(err error) bool { return errors.Is(err, store.ErrUnavailable) }

// commitCall is one batch on its way.
type commitCall struct {
	batch store.Batch
	until time.Time     // when it should have its answer
	done  chan struct{} // closed when result and err are set
	res   store.Result
	err   error
	// replay are the ids of a remembered operation, still to be read.
	replay []dengxu.TokenID
}

// Commit checks and writes one batch, as store.Store promises. Once it was sent,
// the end of ctx is store.ErrUnknown. It is store.ErrUnavailable when nothing was
// written, also because too many commits wait.
func (s *Store) Commit(ctx context.Context, b store.Batch) (store.Result, error) {
	p, err := s.ready(ctx, b.Partition)
	if err != nil {
		return store.Result{}, err
	}
	if err := errors.Join(ledger.Check(b.Partition, &b), checkOp(b.Op)); err != nil {
		return store.Result{}, err
	}
	if p.waiting.Add(1) > waitingMost {
		p.waiting.Add(-1)
		return store.Result{}, fmt.Errorf("%w: %d commits wait already", store.ErrUnavailable, waitingMost)
	}
	defer p.waiting.Add(-1)
	c := &commitCall{batch: b, until: soon(), done: make(chan struct{})}
	switch taken, err := handOver(ctx, s, p.commits, c, c.done); {
	case taken && err != nil:
		return store.Result{}, fmt.Errorf("%w: %w", store.ErrUnknown, err)
	case err != nil:
		return store.Result{}, err
	}
	if c.err == nil && c.res.Replayed {
		c.res.Tokens, c.err = p.known(ctx, c.replay)
	}
	return c.res, c.err
}

// handOver gives a call to the loop that takes it, and waits for its answer. When
// ctx ends before, taken says whether the call was given away: then it may still
// be carried out.
func handOver[C any](ctx context.Context, s *Store, to chan<- C, c C, done <-chan struct{}) (taken bool, err error) {
	select {
	case to <- c:
	case <-ctx.Done():
		return false, ctx.Err()
	case <-s.closing.Done():
		return false, store.ErrClosed
	}
	select {
	case <-done:
		return true, nil
	case <-ctx.Done():
		return true, ctx.Err()
	case <-s.stopped:
	}
	select {
	case <-done:
		return true, nil
	default: // nobody took it any more
		return false, store.ErrClosed
	}
}

// commitLoop sends what waits, in groups. It never waits for a group to fill:
// what has come when a slot is free goes together.
func (p *part) commitLoop() {
	for {
		var first *commitCall
		select {
		case first = <-p.commits:
		case <-p.s.closing.Done():
			return
		}
		at := <-p.slots
		group := p.gather(first)
		if len(group) == 0 {
			p.slots <- at
			continue
		}
		p.s.running.Go(func() {
			p.send(at, group)
			p.slots <- at
		})
	}
}

// gather takes what waits behind the first. What has waited too long, because
// nothing was answered, is refused.
func (p *part) gather(first *commitCall) []*commitCall {
	group := make([]*commitCall, 0, groupMost)
	tokens, now := 0, time.Now() //nolint:forbidigo // how long to wait, no time of a record
	add := func(c *commitCall) {
		if now.After(c.until) {
			c.err = fmt.Errorf("%w: redis gave no answer", store.ErrUnavailable)
			close(c.done)
			return
		}
		group = append(group, c)
		tokens += len(c.batch.Tokens) + c.batch.Picks()
	}
	add(first)
	for len(group) < groupMost && tokens < groupTokens {
		select {
		case c := <-p.commits:
			add(c)
		default:
			return group
		}
	}
	return group
}

// send has one group judged and hands out the answers.
func (p *part) send(at *slot, group []*commitCall) {
	defer func() {
		for _, c := range group {
			close(c.done)
		}
	}()
	at.call++
	if err := p.judge(at, group); err != nil {
		for _, c := range group {
			c.err = err
		}
	}
}

// judge runs the script until the group is judged. Another epoch, or a server
// that lost commits, judges nothing: the partition is fenced, and it is tried
// again.
func (p *part) judge(at *slot, group []*commitCall) error {
	s := p.scriptFor(group)
	until := atLeast(group[0].until)
	for range 4 {
		packed := p.packGroup(at, group)
		reply, err := p.call(p.s.working, until, func(ctx context.Context, c rueidis.Client) ([]byte, error) {
			if p.s.opts.Replicated {
				return p.runReplicated(ctx, c, s, packed, p.try())
			}
			return s.run(ctx, c, p.keys, packed, p.try())
		})
		if err != nil {
			return err
		}
		u := &unpacker{buf: reply}
		u.array()
		switch word := u.text(); word {
		case "ok":
			at.answered.Store(at.call)
			p.wrote.Store(true)
			return p.deliver(u, at, group)
		case "epoch", "behind":
			// An earlier attempt may have been judged before.
			if err := p.fence(p.s.working); err != nil {
				return fmt.Errorf("%w: %v", store.ErrUnknown, err) //nolint:errorlint // whatever it is
			}
		case "stale":
			return store.ErrUnknown
		default:
			return fmt.Errorf("commit script answers %q: %w", word, store.ErrDamaged)
		}
	}
	return fmt.Errorf("partition %d is fenced again and again: %w", p.id, store.ErrUnknown)
}

// scriptFor is the script for a group: one without new tokens must go on when
// the memory is full.
func (p *part) scriptFor(group []*commitCall) *script {
	for _, c := range group {
		for i := range c.batch.Tokens {
			if c.batch.Tokens[i].Token.Version == 1 {
				return p.s.scripts.commit
			}
		}
	}
	return p.s.scripts.free
}

func (p *part) packGroup(at *slot, group []*commitCall) string {
	batches := &packer{buf: make([]byte, 0, 1024*len(group))}
	batches.array(len(group))
	need := cells{}
	need.add(keyState, "m")
	need.add(keyState, "s")
	need.add(keyState, "D")
	bucket := p.marks.lastArrival() + 1
	need.add(keyState, fmt.Sprint("i", bucket/64))
	var common shared
	for _, c := range group {
		packBatch(batches, need, &common, &c.batch)
	}
	w := &packer{buf: make([]byte, 0, len(batches.buf)+2048)}
	w.fields(10 + common.rules.some() + common.columns.some() + common.turns.some())
	w.fieldInt("epoch", int64(p.epoch.Load()))
	w.fieldInt("event", p.marks.lastEvent())
	w.fieldText("process", at.name)
	w.fieldInt("call", at.call)
	p.packSlots(w, need)
	w.text("fields")
	need.pack(w, common.columns.cells())
	common.expect.pack(w, "shared")
	common.lines.pack(w, "lines")
	common.asks.pack(w, "asks")
	common.rules.packSome(w, "rules")
	common.kinds.packSome(w, "kinds")
	common.columns.packSome(w)
	common.turns.packSome(w)
	w.text("batches")
	w.buf = append(w.buf, batches.buf...)
	return string(w.buf)
}

// deliver reads the answers of a group.
func (p *part) deliver(u *unpacker, at *slot, group []*commitCall) error {
	now := p.readHead(u)
	if n := u.array(); n != len(group) {
		u.fail(fmt.Sprintf("%d answers for %d batches", n, len(group)))
	}
	for _, c := range group {
		c.res, c.err = p.answer(u, c, now)
		if u.err != nil {
			return u.err
		}
		p.recent.keep(at, c)
	}
	p.watch.hint()
	return nil
}

// answer reads the answer to one batch.
func (p *part) answer(u *unpacker, c *commitCall, now int64) (store.Result, error) {
	u.array()
	b := &c.batch
	refuse := func(by store.Expectation) *store.Refused { return &store.Refused{By: by, Now: now} }
	switch word := u.text(); word {
	case "ok":
		return p.result(u, b, now)
	case "turn":
		return p.turned(u, b, now)
	case "replay":
		res := store.Result{Now: now, Replayed: true, Note: u.text(), Picked: int(u.int())}
		for r := (&reader{buf: u.bytes(), ok: true}); r.ok && len(r.buf) > 0; {
			c.replay = append(c.replay, unpackID(r.text(1)))
		}
		res.Last = store.Cursor{Partition: p.id, Epoch: p.epoch.Load(), Number: uint64(u.int())}
		return res, nil
	case "reused":
		return store.Result{}, refuse(store.OpReused{})
	case "refused":
		return store.Result{}, readRefusal(u, b, now)
	case "doc":
		d := *nth(u, b.Docs)
		r := refuse(store.DocAt{Key: d.Doc.Key, Version: d.Expect})
		r.Have = uint64(u.int())
		return store.Result{}, r
	case "token":
		t := &nth(u, b.Tokens).Token
		r := refuse(store.TokenAt{ID: t.ID, Version: t.Version - 1})
		r.Have = uint64(u.int())
		return store.Result{}, r
	case "holder":
		t := &nth(u, b.Tokens).Token
		r := refuse(store.HolderFree{Holder: t.Indexes().Holder, Not: t.ID})
		r.Token = unpackID(u.text())
		return store.Result{}, r
	case "series":
		s := nth(u, b.Tokens).Series
		if s == nil {
			u.fail("a series that the batch does not have")
			return store.Result{}, u.err
		}
		return store.Result{}, refuse(store.SeriesBelow{Name: s.Name})
	case "wrong":
		return store.Result{}, fmt.Errorf("redisstore: %s", u.text())
	default:
		u.fail("unknown answer " + word)
		return store.Result{}, u.err
	}
}

// nth is what a number in an answer stands for, from 1.
func nth[T any](u *unpacker, all []T) *T {
	if n := u.int(); n >= 1 && n <= int64(len(all)) {
		return &all[n-1]
	}
	u.fail("a number of what the batch does not have")
	return new(T)
}

// readRefusal reads which expectation did not hold.
func readRefusal(u *unpacker, b *store.Batch, now int64) error {
	r := &store.Refused{By: *nth(u, b.Expect), Now: now}
	switch r.By.(type) {
	case store.DocAt, store.TokenAt:
		r.Have = uint64(u.int())
	case store.HolderFree:
		r.Token = unpackID(u.text())
	case store.MarkOlder, store.MarkAt:
		r.At = u.int()
	default:
		u.int()
	}
	return r
}

// result reads what a batch that stands did.
func (p *part) result(u *unpacker, b *store.Batch, now int64) (store.Result, error) {
	last := u.int()
	p.marks.see(0, 0, last)
	res := store.Result{
		Now: now, Picked: int(u.int()),
		Last: store.Cursor{Partition: p.id, Epoch: p.epoch.Load(), Number: uint64(last)},
	}
	res.Tokens = make([]store.Token, 0, len(b.Tokens)+res.Picked)
	var err error
	for i := range b.Tokens {
		t, wrong := p.resultToken(u, &b.Tokens[i], now)
		err = errors.Join(err, wrong)
		res.Tokens = append(res.Tokens, t)
	}
	for range res.Picked {
		t, wrong := p.picked(u)
		if wrong != nil {
			return res, errors.Join(err, wrong)
		}
		res.Tokens = append(res.Tokens, *t)
	}
	for range b.Ranks {
		res.Ranks = append(res.Ranks, int(u.int()))
	}
	for i := range b.Docs {
		d := b.Docs[i].Doc
		if b.Docs[i].Delete {
			d = store.Doc{Key: d.Key, Site: d.Site}
		} else {
			d.Version, d.Due = b.Docs[i].Expect+1, store.Resolve(d.Due, now)
		}
		res.Docs = append(res.Docs, d)
	}
	return res, err
}

// picked reads a picked token.
func (p *part) picked(u *unpacker) (*store.Token, error) {
	id := u.text()
	t, err := decodeRecord(id, u.bytes())
	if err == nil {
		p.marks.see(0, int64(t.CallNo), 0)
	}
	return t, err
}

// resultToken is a written record with what the script filled in.
func (p *part) resultToken(u *unpacker, w *store.TokenWrite, now int64) (store.Token, error) {
	if w.Archive {
		t, err := decodeRecord(packID(w.Token.ID), u.bytes())
		if err != nil {
			return store.Token{}, err
		}
		return *t, nil
	}
	t := w.Token.Clone()
	t.ResolveTimes(now)
	t.Arrival, t.Seq, t.CallNo = uint64(u.int()), uint64(u.int()), uint64(u.int())
	t.Number, t.Place, t.Due = u.int(), u.int(), u.int()
	p.marks.see(int64(max(t.Arrival, t.Seq)), int64(t.CallNo), 0)
	if s := w.Series; s != nil && s.At != "wrap" { // those repeat numbers anyway
		p.marks.number(seriesField(t.Site, s.Name), s.Day, t.Number)
	}
	return t, nil
}

package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/announce"
	"github.com/dengxu/dengxu/internal/estimate"
	"github.com/dengxu/dengxu/internal/store"
)

// What of a queue's estimates is kept in the store.
const (
	// promiseDays is how many days of what was told are kept.
	promiseDays = 35
	// othersEvery is how often one looks for what other processes have kept, in
	// ms.
	othersEvery = 30_000
)

func outlookKey(id dengxu.QueueID) store.DocKey {
	return store.DocKey{Kind: store.DocOutlook, ID: string(id)}
}

func modelKey(id dengxu.QueueID) store.DocKey {
	return store.DocKey{Kind: store.DocModel, ID: string(id)}
}

func promiseKey(id dengxu.QueueID, day int) store.DocKey {
	return store.DocKey{Kind: store.DocPromise, ID: string(id) + "/" + strconv.Itoa(day)}
}

// keptModel is the document of what was learned.
type keptModel struct {
	Model    *estimate.Model    `json:"model"` // nil: nothing beat the base
	At       int64              `json:"at"`
	By       string             `json:"by"`
	Lessons  int                `json:"lessons"` // that there were
	Verdicts []estimate.Verdict `json:"verdicts"`
}

// readDoc reads the body of a document into a value; nil leaves it as it is. It
// returns the version, 0 of none.
func readDoc(d *store.Doc, to any) (uint64, error) {
	if d == nil {
		return 0, nil
	}
	if err := json.Unmarshal(d.Body, to); err != nil {
		return d.Version, fmt.Errorf("document %s %s: %w", d.Key.Kind, d.Key.ID, errors.Join(store.ErrDamaged, err))
	}
	return d.Version, nil
}

// keptOutlook reads an outlook and its version. It is empty beside an error: it
// is damaged.
func keptOutlook(d *store.Doc, now int64) (kept announce.Outlook, version uint64, err error) {
	if version, err = readDoc(d, &kept); err == nil {
		if err = kept.Check(now); err == nil {
			return kept, version, nil
		}
	}
	return announce.Outlook{}, version, err
}

// restore brings in what was kept of a queue, once.
func (e *Engine) restore(ctx context.Context, q *queue, o *outlook) error {
	if o.Restored() {
		return nil
	}
	o.restoring.Lock()
	defer o.restoring.Unlock()
	if o.Restored() {
		return nil
	}
	kept, _, m, err := e.readOutlook(ctx, q)
	if err != nil {
		return err
	}
	o.Restore(&kept)
	o.Kept(&kept, m)
	o.looked.Store(e.nowIn(q.site.partition))
	return nil
}

// keptEstimates is what the store has of a queue's estimates at one moment.
type keptEstimates struct {
	learned      keptModel
	modelVersion uint64 // 0: there is none
	outlook      announce.Outlook
	version      uint64 // of the outlook; 0: there is none
}

// readKept reads it in one snapshot. What is damaged is left out, and said, but
// keeps its version.
func (e *Engine) readKept(ctx context.Context, q *queue) (keptEstimates, error) {
	var k keptEstimates
	v, err := e.view(ctx, store.Ask{Partition: q.site.partition, Docs: []store.DocKey{outlookKey(q.id), modelKey(q.id)}})
	if err != nil {
		return k, err
	}
	if k.outlook, k.version, err = keptOutlook(v.Docs[0], v.Now); err != nil {
		e.log.ErrorContext(ctx, "what a queue's estimates go by was left out", "queue", q.id, "err", err)
	}
	if k.modelVersion, err = readDoc(v.Docs[1], &k.learned); err != nil {
		e.log.ErrorContext(ctx, "what a queue's estimates learned was left out", "queue", q.id, "err", err)
		k.learned = keptModel{}
	}
	if k.outlook.Model != k.modelVersion {
		// They are written together; one that came back by itself, of an import that
		// was cut off or a document that was damaged, goes with no calibration.
		k.outlook.Estimator.Learned, k.outlook.Model = [3]estimate.Calibration{}, k.modelVersion
	}
	return k, nil
}

// readOutlook reads what is kept of a queue and the model that goes with it, which
// is large and mostly the one that is known. A model that this version cannot use
// is left out, and said.
func (e *Engine) readOutlook(ctx context.Context, q *queue) (kept announce.Outlook, version uint64, m *estimate.Model, err error) {
	if o := e.outlook(q.id); o.Restored() {
		v, err := e.view(ctx, store.Ask{Partition: q.site.partition, Docs: []store.DocKey{outlookKey(q.id)}})
		if err != nil {
			return kept, 0, nil, err
		}
		kept, version, err = keptOutlook(v.Docs[0], v.Now)
		if m, known := o.Model(); err == nil && known == kept.Model {
			return kept, version, m, nil
		}
	}
	k, err := e.readKept(ctx, q)
	if err != nil {
		return kept, 0, nil, err
	}
	if m = k.learned.Model; m != nil {
		if err := m.Check(); err != nil {
			e.log.WarnContext(ctx, "what a queue's estimates learned is of no use", "queue", q.id, "err", err)
			m = nil
		}
	}
	return k.outlook, k.version, m, nil
}

// KeepEstimates writes down what the queues of a partition have learned since
// it was last called, and takes over what other processes have. Codes:
// unavailable; what could not be kept is kept the next time.
func (e *Engine) KeepEstimates(ctx context.Context, p store.Partition) error {
	var errs []error
	for _, q := range e.queuesIn(p) {
		o := e.outlook(q.id)
		if !o.Restored() {
			continue
		}
		o.Retain(func(c string) bool { return q.site.counter(dengxu.CounterID(c)) != nil })
		errs = append(errs, e.keepPending(ctx, q, o))
	}
	return errors.Join(errs...)
}

// keepPending keeps what a queue has that is not kept yet, or takes over what
// others have.
func (e *Engine) keepPending(ctx context.Context, q *queue, o *outlook) error {
	o.keeping.Lock()
	defer o.keeping.Unlock()
	now := e.nowIn(q.site.partition)
	if pending, ok := o.Take(now); ok {
		return e.keepEstimates(ctx, q, o, pending)
	}
	if e.shared && now-o.looked.Load() >= othersEvery {
		return e.adoptOthers(ctx, q, o)
	}
	return nil
}

// queuesIn are the queues of a partition, in order.
func (e *Engine) queuesIn(p store.Partition) []*queue {
	w := e.world.Load()
	var queues []*queue
	for _, id := range sortedKeys(w.queues) {
		if q := w.queues[id]; q.site.partition == p && q.set.Kind != dengxu.KindTask {
			queues = append(queues, q)
		}
	}
	return queues
}

func (e *Engine) adoptOthers(ctx context.Context, q *queue, o *outlook) error {
	kept, _, m, err := e.readOutlook(ctx, q)
	if err == nil {
		o.Kept(&kept, m)
		o.looked.Store(e.nowIn(q.site.partition))
	}
	return err
}

// keepEstimates adds what a queue has learned to what is kept of it. Where
// others have written meanwhile, it is added to theirs.
func (e *Engine) keepEstimates(ctx context.Context, q *queue, o *outlook, pending announce.Pending) error {
	for range maxTries {
		kept, version, m, err := e.readOutlook(ctx, q)
		if err != nil {
			o.Return(pending)
			return err
		}
		was := kept.Lessons
		o.Merge(&kept, &pending)
		b, err := e.keepBatch(ctx, q, &kept, version, was, &pending)
		if err == nil {
			_, err = e.store.Commit(ctx, b)
		}
		if _, refused := errors.AsType[*store.Refused](err); refused {
			continue
		}
		if errors.Is(err, store.ErrUnknown) && e.isKept(ctx, q, &kept) {
			err = nil
		}
		if err != nil {
			o.Return(pending)
			return storeError("keep estimates", err)
		}
		o.Kept(&kept, m)
		o.looked.Store(e.nowIn(q.site.partition))
		return nil
	}
	o.Return(pending)
	return errContention("keep estimates")
}

// isKept reports whether an outlook whose outcome was unknown is in the store.
func (e *Engine) isKept(ctx context.Context, q *queue, kept *announce.Outlook) bool {
	now, _, _, err := e.readOutlook(ctx, q)
	return err == nil && now.Seen == kept.Seen && now.Lessons == kept.Lessons
}

// keepBatch is the batch that keeps an outlook, its new lessons and its days.
func (e *Engine) keepBatch(ctx context.Context, q *queue, kept *announce.Outlook, version uint64, was int, pending *announce.Pending) (store.Batch, error) {
	b := store.Batch{Partition: q.site.partition, Site: q.site.id}
	var parts []int
	if kept.Lessons > was {
		parts = partsOf(was, kept.Lessons)
	}
	days := pending.DaysInOrder()
	var keys []store.DocKey
	for _, part := range parts {
		keys = append(keys, lessonKey(q.id, part%lessonParts))
	}
	for _, day := range days {
		keys = append(keys, promiseKey(q.id, day))
	}
	v, err := e.view(ctx, store.Ask{Partition: q.site.partition, Docs: keys})
	if err != nil {
		return b, err
	}
	put := func(key store.DocKey, body any, expect uint64) error {
		w, err := docWrite(key.Kind, key.ID, q.site.id, body, 0, expect)
		b.Docs = append(b.Docs, w)
		return err
	}
	lessons := pending.Lessons()
	for i, part := range parts {
		if err := e.keepLessons(q, put, v.Docs[i], part, was, lessons); err != nil {
			return b, err
		}
	}
	begun, err := keepDays(q, put, v.Docs[len(parts):], days, pending)
	if err != nil {
		return b, err
	}
	if begun != 0 {
		old, err := e.oldPromises(ctx, q, begun)
		if err != nil {
			return b, err
		}
		b.Docs = append(b.Docs, old...)
	}
	return b, put(outlookKey(q.id), kept, version)
}

// keepDays adds what was told on days to what is kept of them. begun is the last
// of which nothing was; 0 for none.
func keepDays(q *queue, put func(store.DocKey, any, uint64) error, docs []*store.Doc, days []int, pending *announce.Pending) (begun int, err error) {
	for i, day := range days {
		var sum announce.Day
		had, err := readDoc(docs[i], &sum)
		if err != nil {
			sum = announce.Day{} // a day that is damaged begins again
		}
		if had == 0 {
			begun = day
		}
		sum.Merge(pending.Days[day])
		if err := put(promiseKey(q.id, day), &sum, had); err != nil {
			return 0, err
		}
	}
	return begun, nil
}

// oldPromises removes the days that are not kept any more once a day has begun.
// It looks back as far again as they are kept: between them were days on which
// nobody was told anything, and which removed nothing. A queue that rests for longer
// leaves some behind, which nobody reads.
func (e *Engine) oldPromises(ctx context.Context, q *queue, begun int) ([]store.DocWrite, error) {
	ask := store.Ask{Partition: q.site.partition}
	for day := begun - 2*promiseDays; day <= begun-promiseDays; day++ {
		ask.Docs = append(ask.Docs, promiseKey(q.id, day))
	}
	v, err := e.view(ctx, ask)
	if err != nil {
		return nil, err
	}
	var gone []store.DocWrite
	for _, d := range v.Docs {
		if d != nil {
			gone = append(gone, deletion(d.Key.Kind, d.Key.ID, q.site.id, d.Version))
		}
	}
	return gone, nil
}

// forgetEstimates removes what was kept of a queue that is gone. What a crash
// leaves behind is in nobody's way: a queue of the same name would go on from
// it.
func (e *Engine) forgetEstimates(ctx context.Context, site dengxu.SiteID, id dengxu.QueueID) {
	e.outlooks.queues.Delete(id)
	p := partitionOfSite(site, e.parts)
	keys := []store.DocKey{outlookKey(id), modelKey(id)}
	for part := range lessonParts {
		keys = append(keys, lessonKey(id, part))
	}
	if s := e.world.Load().sites[site]; s != nil {
		for day := range promiseDays + 1 {
			keys = append(keys, promiseKey(id, s.state.Day-day))
		}
	}
	const atOnce = 20 // they may be large
	for some := range slices.Chunk(keys, atOnce) {
		v, err := e.view(ctx, store.Ask{Partition: p, Docs: some})
		b := store.Batch{Partition: p, Site: site}
		for _, d := range v.Docs {
			if d != nil {
				b.Docs = append(b.Docs, deletion(d.Key.Kind, d.Key.ID, site, d.Version))
			}
		}
		if err == nil && len(b.Docs) > 0 {
			_, err = e.store.Commit(ctx, b)
		}
		if err != nil {
			e.log.WarnContext(ctx, "what a deleted queue had learned stays in the store", "queue", id, "err", err)
			return
		}
	}
}

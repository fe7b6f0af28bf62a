package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/estimate"
	"github.com/dengxu/dengxu/internal/store"
)

// When a queue learns by itself.
const (
	// learnAfter is the share of new lessons after which learning again is worth
	// it, and learnLeast how many it takes at least.
	learnAfter = 0.1
	learnLeast = 200
)

// errFewLessons says that there is too little to learn from.
func errFewLessons(have int) error {
	return dengxu.Errorf(dengxu.Conflict, "it takes %d resolved tokens to learn, and there are %d", estimate.MinToLearn, have).Because("too_few_lessons")
}

// Model is what a queue's estimates have learned; its Model field is nil. Codes:
// not_found, unavailable.
func (e *Engine) Model(ctx context.Context, id dengxu.QueueID) (dengxu.Model, error) {
	q, k, err := e.keptOf(ctx, id)
	if err != nil {
		return dengxu.Model{}, err
	}
	return modelView(q, k.learned, k.modelVersion, k.outlook.Lessons), nil
}

// ExportModel is Model with what LoadModel takes. Codes: those of Model, and
// conflict when nothing was learned.
func (e *Engine) ExportModel(ctx context.Context, id dengxu.QueueID) (dengxu.Model, error) {
	q, k, err := e.keptOf(ctx, id)
	if err != nil {
		return dengxu.Model{}, err
	}
	if k.learned.Model == nil {
		return dengxu.Model{}, dengxu.Errorf(dengxu.Conflict, "the estimates of queue %s have no model", id).Because("no_model")
	}
	out := modelView(q, k.learned, k.modelVersion, k.outlook.Lessons)
	out.Model, err = k.learned.Model.Save()
	return out, err
}

// keptOf is a queue with what is kept of its estimates.
func (e *Engine) keptOf(ctx context.Context, id dengxu.QueueID) (*queue, keptEstimates, error) {
	q, err := e.queue(ctx, id)
	if err != nil {
		return nil, keptEstimates{}, err
	}
	k, err := e.readKept(ctx, q)
	return q, k, err
}

func modelView(q *queue, learned keptModel, version uint64, lessons int) dengxu.Model {
	out := dengxu.Model{
		QueueID: q.id, Version: version, Method: estimate.MethodErlang, TrainedAt: at(learned.At),
		Lessons: min(lessons, estimate.MaxToLearn),
	}
	if m := learned.Model; m != nil {
		out.Method, out.Rows, out.From, out.To = m.Method, m.Rows, at(m.From), at(m.To)
	}
	for _, v := range learned.Verdicts {
		out.Verdicts = append(out.Verdicts, dengxu.ModelVerdict{
			Method: v.Method, N: v.N, Pinball: v.Pinball, Coverage: v.Coverage, Kept: v.Method == out.Method,
		})
	}
	return out
}

// Lessons are the resolved tokens that a queue has to learn from, the oldest
// first. Codes: not_found, unavailable.
func (e *Engine) Lessons(ctx context.Context, id dengxu.QueueID) ([]estimate.Resolved, error) {
	q, k, err := e.keptOf(ctx, id)
	if err != nil {
		return nil, err
	}
	return e.lessons(ctx, q, k.outlook.Lessons)
}

// Train learns from all that a queue has, and keeps what came of it: the method
// that was best on the newest fifth, or none when nothing beat position and
// rate. It takes up to two seconds of a processor. Codes: not_found, conflict
// when there is too little to learn from, unavailable.
func (e *Engine) Train(ctx context.Context, by By, id dengxu.QueueID) (dengxu.Model, error) {
	q, err := e.queue(ctx, id)
	if err != nil {
		return dengxu.Model{}, err
	}
	if err := e.KeepEstimates(ctx, q.site.partition); err != nil { // what was resolved a moment ago counts too
		return dengxu.Model{}, err
	}
	return e.train(ctx, by, q)
}

func (e *Engine) train(ctx context.Context, by By, q *queue) (dengxu.Model, error) {
	k, err := e.readKept(ctx, q)
	if err != nil {
		return dengxu.Model{}, err
	}
	lessons, err := e.lessons(ctx, q, k.outlook.Lessons)
	if err != nil {
		return dengxu.Model{}, err
	}
	if len(lessons) < estimate.MinToLearn {
		return dengxu.Model{}, errFewLessons(len(lessons))
	}
	learned, err := estimate.Learn(lessons)
	if err != nil {
		return dengxu.Model{}, dengxu.Errorf(dengxu.Internal, "learn from queue %s: %w", q.id, err)
	}
	return e.keepModel(ctx, q, keptModel{
		Model: learned.Model, Verdicts: learned.Verdicts, Lessons: k.outlook.Lessons, By: by.Name,
	}, learned.Calibrations)
}

// LoadModel takes a model that ExportModel gave, of this or another queue, in
// place of what was learned. It is calibrated anew by what it says from now on,
// and replaced at the next training. Codes: not_found, invalid, unavailable.
func (e *Engine) LoadModel(ctx context.Context, by By, id dengxu.QueueID, text json.RawMessage) (dengxu.Model, error) {
	q, k, err := e.keptOf(ctx, id)
	if err != nil {
		return dengxu.Model{}, err
	}
	m, err := estimate.Load(text)
	if err != nil {
		return dengxu.Model{}, dengxu.Fieldf(dengxu.Invalid, "model", "%w", err)
	}
	return e.keepModel(ctx, q, keptModel{Model: m, By: by.Name, Lessons: k.outlook.Lessons}, [3]estimate.Calibration{})
}

// ForgetModel goes back to position and rate until the next training. Codes:
// not_found, unavailable.
func (e *Engine) ForgetModel(ctx context.Context, by By, id dengxu.QueueID) (dengxu.Model, error) {
	q, k, err := e.keptOf(ctx, id)
	if err != nil {
		return dengxu.Model{}, err
	}
	return e.keepModel(ctx, q, keptModel{By: by.Name, Lessons: k.outlook.Lessons}, [3]estimate.Calibration{})
}

// keepModel writes a model, and with it the calibration that it begins with, and
// goes by it from now on.
func (e *Engine) keepModel(ctx context.Context, q *queue, learned keptModel, begins [3]estimate.Calibration) (dengxu.Model, error) {
	o := e.outlook(q.id)
	if err := e.restore(ctx, q, o); err != nil {
		return dengxu.Model{}, err
	}
	o.keeping.Lock()
	defer o.keeping.Unlock()
	for range maxTries {
		k, err := e.readKept(ctx, q)
		if err != nil {
			return dengxu.Model{}, err
		}
		learned.At = e.nowIn(q.site.partition)
		kept, version := &k.outlook, k.modelVersion+1
		kept.Estimator.Learned, kept.Model, kept.LearnedFrom = begins, version, learned.Lessons
		b := store.Batch{Partition: q.site.partition, Site: q.site.id}
		model, err := docWrite(store.DocModel, string(q.id), q.site.id, &learned, 0, k.modelVersion)
		if err != nil {
			return dengxu.Model{}, err
		}
		outlook, err := docWrite(store.DocOutlook, string(q.id), q.site.id, kept, 0, k.version)
		if err != nil {
			return dengxu.Model{}, err
		}
		b.Docs = []store.DocWrite{model, outlook}
		b.Events = []store.EventSpec{{
			Type: dengxu.EventQueueChanged, Queue: q.id, Actor: learned.By,
			Data: fmt.Appendf(nil, `{"version":%d,"model":%d}`, q.version, version),
		}}
		_, err = e.store.Commit(ctx, b)
		if _, refused := errors.AsType[*store.Refused](err); refused {
			continue
		}
		if err != nil {
			return dengxu.Model{}, storeError("keep a model", err)
		}
		o.Kept(kept, learned.Model)
		return modelView(q, learned, version, kept.Lessons), nil
	}
	return dengxu.Model{}, errContention("keep a model")
}

// learnable reports whether so many lessons, of which some were not learned from
// yet, are worth a training.
func learnable(all, unlearned int) bool {
	return all >= estimate.MinToLearn && unlearned >= max(learnLeast, int(learnAfter*float64(min(all, estimate.MaxToLearn))))
}

// LearnNext trains one queue of a partition that has enough new to learn from,
// and reports whether there was one. Whoever calls it minds the cost. Codes:
// unavailable.
func (e *Engine) LearnNext(ctx context.Context, p store.Partition) (learned bool, err error) {
	for _, q := range e.queuesIn(p) {
		if o := e.outlook(q.id); q.set.Estimates.Method != dengxu.EstimatesAuto || !o.Restored() || !learnable(o.Learnable()) {
			continue
		}
		k, err := e.readKept(ctx, q) // another process may have trained meanwhile
		if err != nil {
			return false, err
		}
		if !learnable(k.outlook.Lessons, k.outlook.Lessons-k.outlook.LearnedFrom) {
			continue
		}
		m, err := e.train(ctx, byTimer, q)
		if dengxu.CodeOf(err) == dengxu.Conflict {
			continue // lessons were lost: there are fewer than were counted
		}
		if err != nil {
			return false, err
		}
		e.log.InfoContext(ctx, "a queue's estimates have learned", "queue", q.id, "method", m.Method, "rows", m.Rows)
		return true, nil
	}
	return false, nil
}

package engine

import (
	"context"
	"slices"
	"strconv"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/estimate"
	"github.com/dengxu/dengxu/internal/store"
)

// lessonsInPart is how many resolved waits one document has, lessonParts how many
// documents there are: a ring of the newest, which are learned from.
const (
	lessonsInPart = 200
	lessonParts   = estimate.MaxToLearn / lessonsInPart
)

func lessonKey(id dengxu.QueueID, part int) store.DocKey {
	return store.DocKey{Kind: store.DocLesson, ID: string(id) + "/" + strconv.Itoa(part)}
}

// partsOf are the parts that lessons fill from was to count of them: not more
// than there are documents.
func partsOf(was, count int) []int {
	first, last := was/lessonsInPart, count/lessonsInPart
	if count-was > estimate.MaxToLearn {
		first = last - lessonParts + 1
	}
	parts := make([]int, 0, last-first+1)
	for part := first; part <= last; part++ {
		parts = append(parts, part)
	}
	return parts
}

// keepLessons writes the lessons of one part: those from was on are new.
func (e *Engine) keepLessons(q *queue, put func(store.DocKey, any, uint64) error, doc *store.Doc, part, was int, lessons []estimate.Resolved) error {
	var have []estimate.Resolved
	version, err := readDoc(doc, &have)
	begins, ends := part*lessonsInPart, (part+1)*lessonsInPart
	// The ring has come round to a part that is full, or one could not be read.
	if err != nil || begins >= was || len(have) > was-begins {
		have = have[:0:0]
	}
	from, to := max(begins-was, 0), min(ends-was, len(lessons))
	if from >= to {
		return nil
	}
	return put(lessonKey(q.id, part%lessonParts), slices.Concat(have, lessons[from:to]), version)
}

// lessons are all that are kept of a queue, the oldest first.
func (e *Engine) lessons(ctx context.Context, q *queue, count int) ([]estimate.Resolved, error) {
	var all []estimate.Resolved
	last := count / lessonsInPart
	const atOnce = 10 // parts a read
	for part := max(0, last-lessonParts+1); part <= last; part += atOnce {
		var keys []store.DocKey
		for n := part; n <= min(last, part+atOnce-1); n++ {
			keys = append(keys, lessonKey(q.id, n%lessonParts))
		}
		v, err := e.view(ctx, store.Ask{Partition: q.site.partition, Docs: keys})
		if err != nil {
			return nil, err
		}
		for _, d := range v.Docs {
			var lessons []estimate.Resolved
			if _, err := readDoc(d, &lessons); err != nil {
				e.log.WarnContext(ctx, "lessons were left out", "queue", q.id, "err", err)
				continue
			}
			all = append(all, lessons...)
		}
	}
	return all, nil
}

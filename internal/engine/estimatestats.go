package engine

import (
	"context"
	"time"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/announce"
	"github.com/dengxu/dengxu/internal/estimate"
	"github.com/dengxu/dengxu/internal/store"
)

// estimateStats sums up what the holders of a queue were told on the business
// days that a range touches, and what it came to: what is kept, by every
// process, and what this one is still to keep. It is nil when nothing was scored.
func (e *Engine) estimateStats(ctx context.Context, q *queue, from, to time.Time) (*dengxu.EstimateStats, error) {
	first, _ := dayAt(q.site.zone, q.site.dayStart, from.UnixMilli())
	last, _ := dayAt(q.site.zone, q.site.dayStart, to.UnixMilli()-1)
	last = min(last, q.site.state.Day)
	first = max(first, last-promiseDays+1, q.site.state.Day-promiseDays+1)
	if first > last {
		return nil, nil //nolint:nilnil // no estimates are no error
	}
	o := e.outlook(q.id)
	o.keeping.Lock()
	sum := o.Unkept(first, last)
	err := e.addKept(ctx, q, first, last, &sum)
	o.keeping.Unlock()
	if err != nil {
		return nil, err
	}
	return shownStats(&sum), nil
}

// addKept adds the days from first to last that are in the store. One that is
// damaged is left out, and said.
func (e *Engine) addKept(ctx context.Context, q *queue, first, last int, sum *announce.Day) error {
	ask := store.Ask{Partition: q.site.partition}
	for day := first; day <= last; day++ {
		ask.Docs = append(ask.Docs, promiseKey(q.id, day))
	}
	v, err := e.view(ctx, ask)
	if err != nil {
		return err
	}
	for _, d := range v.Docs {
		var day announce.Day
		if _, err := readDoc(d, &day); err != nil {
			e.log.WarnContext(ctx, "a day of estimates was left out", "queue", q.id, "err", err)
			continue
		}
		sum.Merge(&day)
	}
	return nil
}

// shownStats is a sum of days as people get it: nil of nothing, and without
// positions and hours at which nothing was told.
func shownStats(sum *announce.Day) *dengxu.EstimateStats {
	all := sum.ByPosition.All()
	if all.N == 0 && sum.Free.N == 0 {
		return nil
	}
	out := &dengxu.EstimateStats{EstimateScore: shownScore(&all), Free: sum.Free.N, FreeWait: mean(sum.Free.Wait, sum.Free.N)}
	for i := range sum.ByPosition {
		if s := &sum.ByPosition[i]; s.N > 0 {
			shown := shownScore(s)
			shown.Ahead, shown.FloorWAPE = estimate.Buckets[i], s.Floor()
			out.ByPosition = append(out.ByPosition, shown)
		}
	}
	for hour := range sum.ByHour {
		if s := &sum.ByHour[hour]; s.N > 0 {
			shown := shownScore(s)
			shown.Hour = new(hour)
			out.ByHour = append(out.ByHour, shown)
		}
	}
	return out
}

func shownScore(s *estimate.Score) dengxu.EstimateScore {
	return dengxu.EstimateScore{
		N: s.N, Coverage: s.Coverage(), MeanWait: mean(s.Wait, s.N), BiasSeconds: s.Bias(), WAPE: s.WAPE(),
	}
}

func mean(sum float64, n int) float64 {
	if n == 0 {
		return 0
	}
	return sum / float64(n)
}

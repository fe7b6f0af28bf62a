package announce

import (
	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/estimate"
)

// What is remembered of those who were told something and wait. A queue in which
// more wait scores the first of them only.
const (
	maxTold = 20_000
	// forgetAfter is when somebody of whom nothing was heard is forgotten, in ms.
	forgetAfter = 7 * 24 * 3600 * 1000
	// maxOutcomes is how many are learned from between two times of keeping: the
	// others are scored only. A line that moves faster needs no more of them.
	maxOutcomes = 400
)

// stay is what one holder was told.
type stay struct {
	joined *Answer  // at the join; nil when that was not here
	last   *Answer  // that was known
	at     int64    // of the last
	said   []saying // the first at each bucket of positions
}

// saying is one announcement that is going to be scored.
type saying struct {
	at       int64
	day      int
	hour     int
	position float64
	seconds  [3]float64 // low, recommended, high
	free     bool       // a counter was free, and would call at once
}

// Moment is when something is told.
type Moment struct {
	At   int64
	Day  int // business day, days since 1970-01-01
	Hour int // of the site's clock, 0 to 23
}

// TellFirst remembers what the holder of a token is told at the join: what is
// learned from.
func (q *Queue) TellFirst(id dengxu.TokenID, m Moment, f *Answer) *Answer {
	q.mu.Lock()
	defer q.mu.Unlock()
	f = q.tell(id, m, f)
	if s := q.told[id]; s != nil {
		s.joined = f
	}
	return f
}

// Tell remembers what the holder of a token is told, and returns it as it is to
// be told: held to what the same holder was told before.
func (q *Queue) Tell(id dengxu.TokenID, m Moment, f *Answer) *Answer {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.tell(id, m, f)
}

// tell is Tell for whoever holds mu.
func (q *Queue) tell(id dengxu.TokenID, m Moment, f *Answer) *Answer {
	if !f.Known {
		return f
	}
	s := q.told[id]
	if s == nil {
		if len(q.told) >= maxTold {
			return f
		}
		s = new(stay)
		if q.told == nil {
			q.told = make(map[dengxu.TokenID]*stay)
		}
		q.told[id] = s
	}
	if s.last != nil {
		if steady := estimate.Steady(&s.last.Forecast, &f.Forecast); steady != &f.Forecast {
			f = answer(*steady, m.At)
		}
	}
	s.last, s.at = f, m.At
	free := f.Method == estimate.MethodIdle
	for i := range s.said {
		if s.said[i].free == free && estimate.Bucket(s.said[i].position) == estimate.Bucket(f.Position) {
			return f
		}
	}
	s.said = append(s.said, saying{
		at: m.At, day: m.Day, hour: m.Hour, position: f.Position,
		seconds: [3]float64{f.Low, f.Recommended, f.High}, free: free,
	})
	return f
}

// score holds what a holder was told against the first call. The caller holds
// mu.
func (q *Queue) score(s *stay, called int64) {
	for _, said := range s.said {
		wait := float64(max(0, called-said.at)) / 1000
		q.pending.day(said.day).add(&said, wait)
		q.total.add(&said, wait)
	}
	if s.joined != nil && len(s.said) > 0 {
		o := Outcome{Forecast: s.joined, Wait: float64(max(0, called-s.said[0].at)) / 1000}
		q.estimator.Resolve(o.Forecast.Forecast, o.Wait)
		if len(q.pending.Outcomes) < maxOutcomes {
			q.pending.Outcomes = append(q.pending.Outcomes, o)
		}
	}
}

// sweep forgets those of whom nothing was heard for long. The caller holds mu.
func (q *Queue) sweep(now int64) {
	for id, s := range q.told {
		if now-s.at > forgetAfter {
			delete(q.told, id)
		}
	}
}

package estimate

import (
	"math"
	"testing"

	"github.com/dengxu/dengxu/internal/order"
)

// The month: three counters, days of eight hours, learning on the eighth day and
// every fourth one after it.
const (
	monthService  = 180.0 // mean, seconds
	monthDay      = 8 * 3600.0
	monthDays     = 24
	monthLearns   = 8
	monthEvery    = 4
	monthLoad     = 0.8
	monthCounters = 3
	monthBegins   = 1e6 // when a hall begins
)

func monthHour(at float64) float64 { return math.Mod(at-monthBegins, monthDay) / 3600 }
func monthDayOf(ms int64) int      { return int((float64(ms)/1000 - monthBegins) / monthDay) }

// month is a site that tells its estimator everything, as a server would.
type month struct {
	*testing.T
	e             *Estimator
	told          map[uint64]Forecast
	resolved      []Resolved
	learned       int // the day of the last training
	before, after Card
	byGroup       map[string]*Card
}

func (m *month) join(now int64, line lanes, me order.Member, desks []Counter) {
	h := &m.e.History
	rate, oldest := 0.0, now
	for _, c := range desks {
		rate += h.PerSecond(c.ID, monthService)
	}
	for _, keys := range line.Sorted {
		oldest = min(oldest, keys[0].Place)
	}
	l := Line{
		Now: now, Order: order.Line{Index: line}, Crews: []Crew{{PerSecond: rate}},
		Flows: h.Flows(now), GiveUp: h.GiveUpPerSecond(),
	}
	place, _ := l.Place(me)
	m.told[me.Key.Seq] = m.e.Forecast(State{
		Now: now, Hour: 9 + monthHour(float64(now)/1000), Weekday: 1 + monthDayOf(now)%5, Group: me.Lane.Group,
		Position: place.Services, Length: line.len(), Oldest: float64(now-oldest) / 1000, Counters: desks, Prior: monthService,
	})
	h.Joined(now, me.Lane, 0)
}

func (m *month) called(now int64, me order.Member, wait float64) {
	f, day := m.told[me.Key.Seq], monthDayOf(now)
	m.e.History.Called(now, wait)
	m.e.Resolve(f, wait)
	m.resolved = append(m.resolved, Resolved{Sample: f.Sample, Wait: wait})
	said := [3]float64{f.Low, f.Recommended, f.High}
	switch {
	case day < 1:
	case day < monthLearns:
		m.before.Add(f.Position, wait, said)
	default:
		m.after.Add(f.Position, wait, said)
		m.byGroup[me.Lane.Group].Add(f.Position, wait, said)
	}
	if day < monthLearns || day%monthEvery != 0 || day == m.learned {
		return
	}
	m.learned = day
	learned, err := Learn(m.resolved)
	if err != nil {
		m.Error(err)
		return
	}
	m.e.Adopt(learned)
}

// TestAMonth has a rush hour, a counter that leaves after it, members whose wait
// counts double, and people who give up.
func TestAMonth(t *testing.T) {
	t.Parallel()
	m := &month{T: t, e: new(Estimator), told: map[uint64]Forecast{}, byGroup: map[string]*Card{"ordinary": {}, "member": {}}}
	const perSecond = monthLoad * monthCounters / monthService
	h := &hall{
		counters: monthCounters, service: lognormal(monthService, 0.8), patience: exponential(2400),
		flows: []Flow{{Lane: lane("ordinary", 20), PerSecond: 0.8 * perSecond}, {Lane: lane("member", 10), PerSecond: 0.2 * perSecond}},
		day: func(at float64) (factor float64, open int) {
			switch hour := monthHour(at); {
			case hour >= 3 && hour < 4.5:
				return 1.5, monthCounters
			case hour >= 5 && hour < 7:
				return 0.85, monthCounters - 1
			}
			return 1, monthCounters
		},
		joins: m.join, called: m.called,
		atOnce: func(now int64, me order.Member) {
			m.e.History.Joined(now, me.Lane, 0)
			m.e.History.Called(now, 0)
		},
		gaveUp: func(_ int64, wait float64) { m.e.History.GaveUp(wait) },
		served: func(now int64, desk int, seconds float64) {
			m.e.History.Served(now, string(rune('a'+desk)), seconds)
		},
	}
	h.run(31, int(monthDays*monthDay*perSecond))
	for name, c := range map[string]*Card{"before": &m.before, "after": &m.after, "ordinary": m.byGroup["ordinary"], "member": m.byGroup["member"]} {
		s := c.All()
		cov := s.Coverage()
		t.Logf("%s: n %d, mean %.0f s, covers %.3f, pinball %.1f, bias %.0f s, WAPE %.3f", name, s.N, s.Wait/float64(s.N), cov, s.Pinball(), s.Bias(), s.WAPE())
		least, most := 0.88, 0.92
		if name == "ordinary" || name == "member" {
			least, most = 0.85, 0.95 // a part is calibrated with the whole
		}
		if s.N < 200 || cov[2] < least || cov[2] > most {
			t.Errorf("%s: n %d, P90 covers %.3f", name, s.N, cov[2])
		}
	}
	if a, b := m.after.All(), m.before.All(); a.WAPE() > b.WAPE()+0.02 {
		t.Errorf("learning made it worse: WAPE %.3f, before %.3f", a.WAPE(), b.WAPE())
	}
}

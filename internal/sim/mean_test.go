package sim

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"sync"
	"testing"

	"github.com/dengxu/dengxu"
)

// stream is Poisson people of one group: rate in people a mean service.
type stream struct {
	group   string
	rate    float64
	service Law
	set     dengxu.Group
}

func exponential() Law { return Law{MeanSeconds: unit / 1000} }

// scenarioOf is c counters for streams, one seed.
func scenarioOf(c, customers int, streams ...stream) *Scenario {
	q := dengxu.Queue{DayEnd: "keep", OnCallTimeout: "ask", Groups: map[string]dengxu.Group{}, MinFactor: new(0.05)}
	s := &Scenario{Customers: customers, Runs: 1, Counters: []Counters{{Count: &c}}}
	for _, st := range streams {
		q.Groups[st.group] = st.set
		if st.set.Rank != nil {
			q.Ordering, q.EscalateAfterSeconds = "strict", new(2_592_000.0)
		}
		s.Streams = append(s.Streams, Stream{
			Group: st.group, Arrivals: Arrivals{PerHour: st.rate * 3_600_000 / unit}, Service: st.service,
		})
	}
	s.Queues = map[dengxu.QueueID]dengxu.Queue{"main": q}
	return s
}

func factor(f float64) dengxu.Group { return dengxu.Group{Factor: &f} }

// rank is a group of ordering strict, in which nobody is ever overdue.
func rank(n int) dengxu.Group { return dengxu.Group{Rank: &n} }

func ahead(seconds float64) dengxu.Group { return dengxu.Group{HeadStartSeconds: seconds} }

// formula is a case whose mean waits are known: by stream, in mean services.
type formula struct {
	name    string
	c       int
	streams []stream
	want    []float64
	// control is the mean of what the recursion measures on the same people, and
	// which recursion: see controls.
	control string
	known   float64
	// times is by how much a case plays more runs than others in torture, because
	// its controls explain less; 0 = 1.
	times int
}

// control values of one run: of everybody from first on.
func (f *formula) controls(people []person, first int) []float64 {
	var value float64
	switch f.control {
	case "fifo":
		value = mean(fifo(people, f.c, 1), first) / unit
	case "fast": // one server of c times the speed
		value = mean(fifo(people, 1, float64(f.c)), first) / unit
	case "found":
		value = mean(found(people), first)
	default:
		panic(f.control)
	}
	service, rate, m1 := 0.0, 0.0, 0.0
	for _, p := range people[first:] {
		service += float64(p.service) / unit / float64(len(people)-first)
	}
	for _, st := range f.streams {
		rate += st.rate
	}
	for _, st := range f.streams {
		m1 += st.rate / rate * st.service.MeanSeconds * 1000 / unit
	}
	span := float64(people[len(people)-1].at-people[first-1].at) / unit / float64(len(people)-first)
	return []float64{value - f.known, service - m1, span - 1/rate}
}

// run plays one seed and returns the mean waits by stream and the controls.
func (f *formula) run(ctx context.Context, seed uint64, customers, warmup int) (y, x []float64, err error) {
	s := scenarioOf(f.c, customers, f.streams...)
	s.Seed = seed
	if err := s.check(); err != nil {
		return nil, nil, err
	}
	p, err := s.plan()
	if err != nil {
		return nil, nil, err
	}
	people := p.people(0)
	p.warmup = people[warmup].at
	m, err := p.play(ctx, &p.Policies[0], 0, func(int) {})
	if err != nil {
		return nil, nil, err
	}
	for i := range m.lines {
		y = append(y, meanOf(m.lines[i].waits)/unit)
	}
	first := warmup
	for people[first-1].at >= p.warmup {
		first--
	}
	return y, f.controls(people, first), nil
}

// size is how much a case plays: runs of so many people, of which the first are
// the warm-up.
func (f *formula) size() (runs, customers, warmup int) {
	if torture() {
		return 30 * max(1, f.times), 22_000, 2_000
	}
	return 12, 1_600, 400
}

// hold plays a case and holds the mean of each stream against its formula. Cases
// are played one after the other: the runs of each take all processors.
func hold(t *testing.T, f *formula) {
	t.Helper()
	t.Run(f.name, func(t *testing.T) {
		f.hold(t)
	})
}

func (f *formula) hold(t *testing.T) {
	t.Helper()
	runs, customers, warmup := f.size()
	y, x := make([][]float64, len(f.streams)), make([][]float64, runs)
	for i := range y {
		y[i] = make([]float64, runs)
	}
	var wg sync.WaitGroup
	turns := make(chan int)
	errs := make(chan error, runs)
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for n := range turns {
				means, controls, err := f.run(t.Context(), uint64(1000+n), customers, warmup)
				if err != nil {
					errs <- err
					continue
				}
				x[n] = controls
				for i := range means {
					y[i][n] = means[i]
				}
			}
		})
	}
	for n := range runs {
		turns <- n
	}
	close(turns)
	wg.Wait()
	select {
	case err := <-errs:
		t.Fatal(err)
	default:
	}
	for i, want := range f.want {
		compare(t, f.streams[i].group, y[i], x, want)
	}
	if f.control == "fifo" {
		compare(t, "conserved", f.together(y), x, f.known)
	}
}

// together are the mean waits of all streams, each by the work that it brings:
// whatever the order, they are those of first come, first served.
func (f *formula) together(y [][]float64) []float64 {
	sum := make([]float64, len(y[0]))
	work := 0.0
	for i, st := range f.streams {
		load := st.rate * st.service.MeanSeconds
		work += load
		for n := range sum {
			sum[n] += load * y[i][n]
		}
	}
	for n := range sum {
		sum[n] /= work
	}
	return sum
}

// compare holds the mean of y, one value a run, against a formula.
func compare(t *testing.T, name string, y []float64, x [][]float64, want float64) {
	t.Helper()
	plain, plainSE := regressed(y, nil)
	got, se := regressed(y, x)
	off := got/want - 1
	t.Logf("%s: %.4f ± %.4f (%.2f %%), formula %.4f, off by %+.2f %%; without controls %.4f ± %.4f",
		name, got, se, 100*se/want, want, 100*off, plain, plainSE)
	limit := 0.08 // the controls are fitted to twelve short runs
	if torture() {
		limit = 0.02
	}
	if torture() && se > 0.006*want {
		t.Errorf("%s: a standard error of %.2f %% decides nothing", name, 100*se/want)
	}
	if math.Abs(off) > limit {
		t.Errorf("%s: %.4f ± %.4f, formula %.4f: off by %.2f %%", name, got, se, want, 100*off)
	}
}

// TestMeansOfErlangC: estimation.md §3.1.
func TestMeansOfErlangC(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		c    int
		rho  float64
		want float64
	}{
		{1, .8, 4},
		{1, .9, 9},
		{3, .7, .547049},
		{3, .8, 1.078652},
		{3, .9, 2.723537},
		{5, .8, .554113},
		{5, .9, 1.524986},
		{10, .8, .204590},
		{10, .9, .668732},
	} {
		rate := row.rho * float64(row.c)
		if w := erlangWait(row.c, rate); math.Abs(w-row.want) > 1e-6 {
			t.Errorf("c %d, ρ %g: the formula says %.6f, the table %.6f", row.c, row.rho, w, row.want)
		}
		f := formula{
			name: fmt.Sprintf("%d servers at %g", row.c, row.rho), c: row.c, want: []float64{row.want},
			streams: []stream{{group: "ordinary", rate: rate, service: exponential()}},
			control: "fast", known: erlangWait(1, row.rho) / float64(row.c),
		}
		if row.c == 10 && row.rho == .8 {
			f.times = 2
		}
		if row.c == 1 {
			f.control, f.known = "found", row.rho/(1-row.rho)
		}
		hold(t, &f)
	}
}

// TestMeansOfLinearPriority: estimation.md §3.3, cases A to D.
func TestMeansOfLinearPriority(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ got, want []float64 }{
		{linear([]float64{.4, .4}, []float64{1, 1}, []float64{2, 2}, []float64{1, 2}), []float64{5, 3}},
		{linear([]float64{.2, .3, .3}, []float64{1, 1, 1}, []float64{2, 2, 2}, []float64{1, 2, 5}), []float64{6.557377, 4.078368, 2.216713}},
		{linear([]float64{.3, .2}, []float64{1, 2}, []float64{2, 4}, []float64{1, 3}), []float64{3.181818, 1.696970}},
		{linearMMC(3, []float64{1.2, 1.2}, []float64{1, 4}), []float64{1.540931, .616372}},
		{linear([]float64{.45, .45}, []float64{1, 1}, []float64{2, 2}, []float64{1, 1e9}), []float64{16.363636, 1.636364}},
	} {
		for i := range row.want {
			if math.Abs(row.got[i]-row.want[i]) > 1e-6 {
				t.Errorf("the formula says %.6f, the table %.6f", row.got, row.want)
			}
		}
	}
	e := exponential()
	two := Law{Law: Constant, MeanSeconds: 2 * unit / 1000}
	for _, f := range []formula{
		{
			name: "A", c: 1, want: []float64{5, 3}, control: "fifo", known: 4,
			streams: []stream{{"low", .4, e, factor(1)}, {"high", .4, e, factor(.5)}},
		},
		{
			name: "B", c: 1, want: []float64{6.557377, 4.078368, 2.216713}, control: "fifo", known: 4,
			streams: []stream{{"low", .2, e, factor(1)}, {"middle", .3, e, factor(.5)}, {"high", .3, e, factor(.2)}},
		},
		{
			name: "C", c: 1, want: []float64{3.181818, 1.696970}, control: "fifo", known: .7 / .3,
			streams: []stream{{"low", .3, e, factor(1.5)}, {"high", .2, two, factor(.5)}},
		},
		{
			name: "D", c: 3, want: []float64{1.540931, .616372}, control: "fifo", known: erlangWait(3, 2.4),
			streams: []stream{{"low", 1.2, e, factor(1)}, {"high", 1.2, e, factor(.25)}},
		},
		{
			name: "strict", c: 1, want: []float64{16.363636, 1.636364}, control: "fifo", known: 9,
			streams: []stream{{"low", .45, e, rank(1)}, {"high", .45, e, rank(0)}},
		},
		{
			// Nothing is known of the groups, and all of them together.
			name: "slopes and head starts", c: 3, control: "fifo", known: erlangWait(3, 2.4),
			streams: []stream{
				{"low", 1, e, dengxu.Group{Factor: new(1.5), HeadStartSeconds: -30}},
				{"middle", .9, e, dengxu.Group{Factor: new(1.0), HeadStartSeconds: 200}},
				{"high", .5, e, dengxu.Group{Factor: new(0.25), HeadStartSeconds: 40}},
			},
		},
	} {
		hold(t, &f)
	}
}

// TestMeansOfHeadStarts: estimation.md §3.4.
func TestMeansOfHeadStarts(t *testing.T) {
	t.Parallel()
	e := exponential()
	for _, row := range []struct{ h, low, high float64 }{{.5, 1.19266, .96464}, {1, 1.28449, .87281}, {2, 1.42465, .73265}} {
		low, high := headStart(3, 1.2, 1.2, row.h)
		if math.Abs(low-row.low) > 2e-5 || math.Abs(high-row.high) > 2e-5 {
			t.Errorf("head start %g: computed %.5f, %.5f, the table says %.5f, %.5f", row.h, low, high, row.low, row.high)
		}
		hold(t, &formula{
			name: fmt.Sprintf("head start %g", row.h), c: 3, want: []float64{row.low, row.high},
			control: "fifo", known: erlangWait(3, 2.4),
			streams: []stream{{"low", 1.2, e, factor(1)}, {"high", 1.2, e, ahead(row.h * unit / 1000)}},
		})
	}
}

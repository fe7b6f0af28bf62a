package sim

// outcome is how a person's stay ended.
type outcome uint8

// The outcomes.
const (
	served     outcome = iota + 1
	gaveUp             // had no patience left
	neverCame          // was called and did not come, until the queue had enough
	turnedAway         // was given no number
	leftOver           // still waited when the day, or the run, was over
	outcomes
)

// measures is what one run measured: of everybody who came after the warm-up.
type measures struct {
	plan   *plan
	until  int64 // what desks do after this is not measured; ms of the run
	lines  []tally
	busyMS int64
	openMS int64
	length length
	// warnings are what the server says of the settings.
	warnings []string
}

// tally is what one line of the report is made of.
type tally struct {
	waits      []int64 // ms, in the order of the calls
	came       int
	calls      int
	missed     int // of calls
	outcomes   [outcomes]int
	passed     int // people who were passed by at least one who came later
	mostPassed int
	promises
	overtaken int64 // ms: how much later the latest came who passed somebody
}

func newMeasures(p *plan, people []person) *measures {
	m := &measures{plan: p, until: p.horizon, lines: make([]tally, len(p.lines))}
	if n := len(people); n > 0 && p.horizon == forever {
		m.until = people[n-1].at
	}
	if p.days > 0 {
		m.length.bins = make([]float64, dayBins)
	}
	return m
}

// of is the tally of a person's line, or a blind one in the warm-up.
func (m *measures) of(p *person) *tally {
	if p.at < m.plan.warmup {
		return &tally{}
	}
	return &m.lines[m.plan.lineOf[p.stream]]
}

func (m *measures) came(p *person)      { m.of(p).came++ }
func (m *measures) wasCalled(p *person) { m.of(p).calls++ }
func (m *measures) missed(p *person)    { m.of(p).missed++ }

func (m *measures) waited(p *person, ms int64) {
	t := m.of(p)
	t.waits = append(t.waits, ms)
}

func (m *measures) became(p *person, o outcome) { m.of(p).outcomes[o]++ }

func (m *measures) passed(p *person, n int) {
	t := m.of(p)
	if n > 0 {
		t.passed++
	}
	t.mostPassed = max(t.mostPassed, n)
}

// overtook is somebody who was passed by one who came so much later.
func (m *measures) overtook(p *person, ms int64) {
	t := m.of(p)
	t.overtaken = max(t.overtaken, ms)
}

func (m *measures) busy(from, to int64)   { m.busyMS += m.measured(from, to) }
func (m *measures) opened(from, to int64) { m.openMS += m.measured(from, to) }

// measured is how much of a span is measured.
func (m *measures) measured(from, to int64) int64 {
	return max(0, min(to, m.until)-max(from, m.plan.warmup))
}

// dayBins is how many parts the day has in which the length of the line is
// averaged: quarters of an hour.
const dayBins = 96

// length is how many wait, by the time of the day.
type length struct{ bins []float64 } // people · ms; nil = not measured

// add counts n who wait between two moments of the run.
func (l *length) add(from, to int64, n int) {
	if l.bins == nil || n == 0 {
		return
	}
	const day, width = 86_400_000, 86_400_000 / dayBins
	for from < to {
		end := min(to, (from/width+1)*width)
		l.bins[from%day/width] += float64(n) * float64(end-from)
		from = end
	}
}

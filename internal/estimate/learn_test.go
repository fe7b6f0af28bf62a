package estimate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dengxu/dengxu/internal/order"
)

// week is a site that one estimator watches, hall after hall.
type week struct {
	*Estimator
	at       int64 // when the last hall ended
	resolved []Resolved
	score    Card
}

// hall lets people come to some counters, and learns from those with at most
// most ahead, or scores those with at least least.
func (w *week) hall(seed uint64, counters, people int, load, mean float64, keep func(ahead int) bool, score bool) {
	told := map[uint64]Forecast{}
	// Halls begin at the same moment: their clock goes on from one to the next.
	shift := w.at
	h := &hall{
		counters: counters, service: lognormal(mean, 0.8),
		flows: []Flow{{Lane: lane("", 20), PerSecond: load * float64(counters) / mean}},
	}
	h.joins = func(now int64, line lanes, me order.Member, desks []Counter) {
		now += shift
		w.History.Joined(now, me.Lane, 0)
		if !keep(line.len()) {
			return
		}
		desks = slices.Clone(desks)
		for i := range desks {
			desks[i].Since += shift
		}
		oldest := now
		for _, keys := range line.Sorted {
			oldest = min(oldest, keys[0].Place+shift)
		}
		told[me.Key.Seq] = w.Forecast(State{
			Now: now, Hour: 10, Position: float64(line.len() + 1), Length: line.len(),
			Oldest: float64(now-oldest) / 1000, Counters: desks, Prior: mean,
		})
	}
	h.called = func(now int64, me order.Member, wait float64) {
		now += shift
		w.History.Called(now, wait)
		f, ok := told[me.Key.Seq]
		if !ok {
			return
		}
		w.Resolve(f, wait)
		w.resolved = append(w.resolved, Resolved{Sample: f.Sample, Wait: wait})
		if score {
			w.score.Add(f.Position, wait, [3]float64{f.Low, f.Recommended, f.High})
		}
	}
	h.served = func(now int64, counter int, seconds float64) {
		w.History.Served(now+shift, string(rune('a'+counter)), seconds)
		w.at = now + shift
	}
	h.run(seed, people)
}

func upTo(most int) func(int) bool { return func(ahead int) bool { return ahead <= most } }

// shifted is a week with a model that never saw more than 15 ahead or fewer
// than 3 counters, made once.
func shifted(t *testing.T) *week {
	t.Helper()
	w := &week{Estimator: new(Estimator)}
	for i, counters := range []int{3, 4, 5, 6} {
		w.hall(uint64(i)+1, counters, 2600, 0.93, 180, upTo(15), false)
	}
	learned, err := Learn(w.resolved)
	if err != nil {
		t.Fatal(err)
	}
	if learned.Model == nil {
		t.Fatalf("nothing beat the base: %+v", learned.Verdicts)
	}
	w.Adopt(learned)
	return w
}

func TestALongerLineThanEverSeen(t *testing.T) {
	t.Parallel()
	w := shifted(t)
	t.Logf("%d rows, %s", len(w.resolved), w.Model.Method)
	// Two counters, more coming than they serve: 20 to about 60 ahead.
	for seed := range uint64(6) {
		w.hall(100+seed, 2, 300, 1.2, 180, func(ahead int) bool { return ahead >= 20 }, true)
	}
	all := w.score.All()
	if all.N < 300 {
		t.Fatalf("only %d had 20 ahead", all.N)
	}
	t.Logf("n %d: WAPE %.3f, P90 covers %.3f", all.N, all.WAPE(), all.Coverage()[2])
	if wape, cov := all.WAPE(), all.Coverage()[2]; wape > 0.20 || cov < 0.85 {
		t.Errorf("n %d: WAPE %.3f, want at most 0.20; coverage of P90 %.3f, want at least 0.85", all.N, wape, cov)
	}
}

func TestServicesTwiceAsSlow(t *testing.T) {
	t.Parallel()
	w := shifted(t)
	for seed := range uint64(3) {
		w.hall(200+seed, 4, 1200, 0.9, 360, upTo(15), true)
	}
	all := w.score.All()
	t.Logf("n %d: WAPE %.3f, P90 covers %.3f", all.N, all.WAPE(), all.Coverage()[2])
	if wape, cov := all.WAPE(), all.Coverage()[2]; wape > 0.40 || cov < 0.85 {
		t.Errorf("n %d: WAPE %.3f, coverage of P90 %.3f", all.N, wape, cov)
	}
}

// made are samples whose wait is the base times an exponential number, and,
// with effect, longer for one class.
func made(n int, effect float64) []Resolved {
	r := rand.New(rand.NewPCG(8, 8))
	rows := make([]Resolved, n)
	for i := range rows {
		s := &rows[i]
		s.At, s.Position, s.PerSecond = int64(i)*60_000, float64(1+r.IntN(9)), 0.02
		s.Class = []string{"cards", "loans", "post"}[r.IntN(3)]
		s.Features = make(Numbers, len(FeatureNames))
		for f := range s.Features {
			s.Features[f] = r.Float64()
		}
		s.Features[0] = s.Position
		s.Wait = Quantile(r.Float64(), s.Position, s.PerSecond)
		if s.Class == "loans" {
			s.Wait *= 1 + effect
		}
	}
	return rows
}

func TestWhatIsThereIsLearned(t *testing.T) {
	t.Parallel()
	rows := made(6000, 1.5)
	learned, err := Learn(rows[:4000])
	if err != nil || learned.Model == nil {
		t.Fatalf("%v: %+v", err, learned)
	}
	base, best := judge(nil, rows[4000:]), judge(learned.Model, rows[4000:])
	for i := range quantiles {
		if best.Pinball[i] > 0.95*base.Pinball[i] {
			t.Errorf("quantile %g: %.2f s, without learning %.2f s", quantiles[i], best.Pinball[i], base.Pinball[i])
		}
	}
	var score [3]Score
	for i := range rows[4000:] {
		s := &rows[4000+i]
		score[slices.Index([]string{"cards", "loans", "post"}, s.Class)].Add(s.Wait, learned.Model.Quantiles(&s.Sample))
	}
	for i, s := range score {
		for k, c := range s.Coverage() {
			if math.Abs(c-quantiles[k]) > 0.05 {
				t.Errorf("class %d, quantile %g covers %.3f", i, quantiles[k], c)
			}
		}
	}
	if f := learned.Calibrations[2].Factor(0.9); math.Abs(f-1) > 0.15 {
		t.Errorf("calibration begins at %.3f", f)
	}
}

func TestAModelThatDoesNotBeatTheBaseIsNotKept(t *testing.T) {
	t.Parallel()
	rows := made(2000, 0)
	// In the older part loans take long, in the newest they do not.
	for i := range rows[:1600] {
		if rows[i].Class == "loans" {
			rows[i].Wait *= 4
		}
	}
	learned, err := Learn(rows)
	if err != nil || learned.Model != nil || learned.Verdicts[0].Method != MethodErlang {
		t.Fatalf("%v: %+v", err, learned)
	}
	e := served(100, "a")
	e.Adopt(learned)
	if f := e.Forecast(State{Position: 2, Counters: busy("a")}); f.Method != MethodErlang {
		t.Errorf("%+v", f)
	}
}

func TestTooLittleToLearn(t *testing.T) {
	t.Parallel()
	if _, err := Learn(made(999, 1)); fmt.Sprint(err) != "it takes 1000 resolved tokens to learn, and there are 999" {
		t.Error(err)
	}
	rows := made(1000, 1)
	rows[7].PerSecond = 0
	if _, err := Learn(rows); fmt.Sprint(err) != "a token that joined at 420000 has no base or no wait" {
		t.Error(err)
	}
}

func TestLearningDoesNotDependOnTheOrderOfItsRows(t *testing.T) {
	t.Parallel()
	rows := made(1200, 1)
	save := func(rows []Resolved) []byte {
		learned, err := Learn(rows)
		if err != nil {
			t.Fatal(err)
		}
		b, err := learned.Model.Save()
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	first := save(rows)
	mixed := slices.Clone(rows)
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(mixed), func(i, j int) { mixed[i], mixed[j] = mixed[j], mixed[i] })
	if !bytes.Equal(first, save(mixed)) {
		t.Error("another order, another model")
	}
}

func TestAModelSurvivesSaving(t *testing.T) {
	t.Parallel()
	rows := made(1500, 1)
	for i := range rows {
		rows[i].Covariates = map[string]float64{"rain": float64(i % 5)}
		rows[i].Group = []string{"ordinary", "VIP"}[i%2]
	}
	learned, err := Learn(rows)
	if err != nil {
		t.Fatal(err)
	}
	m := learned.Model
	b, err := m.Save()
	if err != nil {
		t.Fatal(err)
	}
	loaded, err := Load(b)
	if err != nil {
		t.Fatal(err)
	}
	for _, method := range []string{MethodTrees, MethodLinear, MethodBlend} {
		for i := range rows[:200] {
			if a, b := m.As(method).Quantiles(&rows[i].Sample), loaded.As(method).Quantiles(&rows[i].Sample); a != b {
				t.Fatalf("%s, row %d: %v, then %v", method, i, a, b)
			}
		}
	}
	if again, err := loaded.Save(); err != nil || !bytes.Equal(b, again) {
		t.Errorf("saved again it is another: %v", err)
	}
	want := slices.Concat(FeatureNames, []string{"site=rain", "class=cards", "class=loans", "class=post", "group=VIP", "group=ordinary"})
	if diff := cmp.Diff(want, loaded.Features); diff != "" || loaded.Rows != 1500 || loaded.From != 0 || loaded.To != 1499*60_000 {
		t.Errorf("%d rows from %d to %d%s", loaded.Rows, loaded.From, loaded.To, diff)
	}
	// A sample from before the covariate was given still has an answer.
	s := rows[0].Sample
	s.Covariates = nil
	if q := loaded.Quantiles(&s); math.IsNaN(q[1]) || q[1] <= 0 {
		t.Errorf("%v", q)
	}
}

func TestModelsThatCannotBeUsedAreRefused(t *testing.T) {
	t.Parallel()
	good, err := says(t, [3]float64{0.5, 1, 2}).Save()
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct{ old, new, want string }{
		{`"version":1`, `"version":9`, "the model is of version 9, and 1 is known: train it again"},
		{`"weekday"`, `"moon"`, "the model was made from other features: train it again"},
		{`"quantile":0.5`, `"quantile":0.6`, "the model has no line for quantile 0.5"},
		{`"method":"trees"`, `"method":"oracle"`, `the model has no method "oracle"`},
		{`{"version"`, `{`, "this is no model: "},
		{`"trees":["`, `"trees":["AAAA`, "this is no model: this is no forest"},
	} {
		text := strings.Replace(string(good), row.old, row.new, 1)
		if text == string(good) {
			t.Fatalf("%s is not in %s", row.old, good)
		}
		if _, err := Load([]byte(text)); err == nil || !strings.HasPrefix(err.Error(), row.want) {
			t.Errorf("%v, want %s", err, row.want)
		}
	}
	var m Model
	if err := json.Unmarshal(good, &m); err != nil {
		t.Fatal(err)
	}
	m.Trees[2] = nil
	if err := m.Check(); fmt.Sprint(err) != "the model has no trees for quantile 0.9" {
		t.Error(err)
	}
}

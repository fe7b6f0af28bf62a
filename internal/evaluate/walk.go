package evaluate

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"strconv"

	"github.com/dengxu/dengxu/internal/estimate"
	"github.com/dengxu/dengxu/internal/order"
	"github.com/dengxu/dengxu/internal/recording"
)

// urgent is the priority that has a head start.
const urgent = 2

// walk goes through days event by event, as a server would have seen them.
type walk struct {
	days      []day
	headStart int64
	estimator *estimate.Estimator
	made      func(day)
	resolved  func(day, *told, float64)

	day   day
	line  map[int]order.Member // who waits, by row
	busy  map[int]int64        // rows in service, with their start
	seen  map[string]int64     // servers, with the end of their last service
	short map[int]bool         // rows whose service ended as it began
	told  map[int]*told
	ended int
}

// told is what one person was told, and what would have been told otherwise.
type told struct {
	full, plain estimate.Forecast
	window      float64
}

func newWalk(o Options) (*walk, error) {
	if len(o.Days) == 0 {
		return nil, errors.New("there are no days")
	}
	return &walk{days: number(o.Days), headStart: int64(1000 * o.HeadStart), estimator: new(estimate.Estimator)}, nil
}

// What happens, in the order in which it counts at one moment: a counter is
// free before somebody is called, and who joins sees both.
const (
	ends = iota
	leaves
	joins
)

type event struct {
	at, row, kind int
}

// through goes through one day. Services are kept over night; the line is not.
func (w *walk) through(d day) {
	w.day = d
	w.line, w.busy, w.seen = map[int]order.Member{}, map[int]int64{}, map[string]int64{}
	w.short, w.told, w.ended = map[int]bool{}, map[int]*told{}, 0
	var events []event
	for i, r := range d.Rows {
		events = append(events, event{r.Join, i, joins})
		if r.Served {
			events = append(events, event{r.Start, i, leaves}, event{r.End, i, ends})
		} else {
			events = append(events, event{r.Leave, i, leaves})
		}
	}
	slices.SortStableFunc(events, func(a, b event) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.kind, b.kind), cmp.Compare(a.row, b.row))
	})
	for _, e := range events {
		r, at := &d.Rows[e.row], d.midnight+int64(e.at)*1000
		switch e.kind {
		case ends:
			w.end(e.row, r, at)
		case leaves:
			w.leave(e.row, r, at)
		case joins:
			w.join(e.row, r, at)
		}
	}
}

func (w *walk) end(row int, r *recording.Row, at int64) {
	if _, began := w.busy[row]; !began {
		w.short[row] = true
	}
	delete(w.busy, row)
	w.ended++
	if r.Server != "" {
		w.seen[r.Server] = at
	}
	w.estimator.History.Served(at, r.Server, float64(r.End-r.Start))
}

func (w *walk) leave(row int, r *recording.Row, at int64) {
	delete(w.line, row)
	if !r.Served {
		w.estimator.History.GaveUp(float64(r.Leave - r.Join))
		return
	}
	if !w.short[row] {
		w.busy[row] = at
	}
	waited := 0.0
	if r.Queued {
		waited = float64(r.Start - r.Join)
	}
	w.estimator.History.Called(at, waited)
	if t, ok := w.told[row]; ok {
		w.resolve(t, waited)
	}
}

func (w *walk) resolve(t *told, waited float64) {
	w.resolved(w.day, t, waited)
	w.estimator.Resolve(t.full, waited)
}

func (w *walk) join(row int, r *recording.Row, at int64) {
	me := w.member(row, r, at)
	if r.Served && r.Queued && len(w.busy) > 0 && w.ended >= minEnded {
		t := w.forecast(me, r, at)
		w.made(w.day)
		if r.Start <= r.Join {
			w.resolve(t, 0) // who was called in the moment of joining
		} else {
			w.told[row] = t
		}
	}
	w.estimator.History.Joined(at, me.Lane, at-me.Key.Place)
	if r.Leave > r.Join {
		w.line[row] = me
	}
}

// member is a row in line: a lane for each priority, all at one pace.
func (w *walk) member(row int, r *recording.Row, at int64) order.Member {
	m := order.Member{
		Lane: order.Lane{Group: strconv.Itoa(r.Priority), K: order.Ordinary},
		Key:  order.Key{Place: at, Seq: uint64(row) + 1},
	}
	if r.Priority == urgent {
		m.Key.Place -= w.headStart
	}
	return m
}

// forecast is what one who joins now is told.
func (w *walk) forecast(me order.Member, r *recording.Row, at int64) *told {
	counters := w.open(at)
	rate, joined := 0.0, at
	for _, c := range counters {
		rate += w.estimator.History.PerSecond(c.ID, 0)
	}
	for row := range w.line {
		joined = min(joined, w.day.midnight+int64(w.day.Rows[row].Join)*1000)
	}
	line := estimate.Line{
		Now: at, Order: order.Line{Index: order.NewSorted(maps.Values(w.line))}, Crews: []estimate.Crew{{PerSecond: rate}},
		Flows: w.estimator.History.Flows(at), GiveUp: w.estimator.History.GiveUpPerSecond(),
	}
	place, _ := line.Place(me)
	state := estimate.State{
		Now: at, Hour: float64(at-w.day.midnight) / 3_600_000, Weekday: w.day.weekday,
		Class: r.Type, Group: strconv.Itoa(r.Priority),
		Position: place.Services, Length: len(w.line), Oldest: float64(at-joined) / 1000,
		Counters: counters,
	}
	e := w.estimator
	return &told{
		full: e.Forecast(state), plain: e.Without(state),
		window: estimate.Window(place.Services-1, float64(len(w.busy)), e.History.Mean(0), len(counters)),
	}
}

// open are the servers that are busy or were within the last minutes. None is
// told to be idle: one whose service ended a moment ago may have left, or writes
// up what it did.
func (w *walk) open(at int64) []estimate.Counter {
	var counters []estimate.Counter
	busy := map[string]bool{}
	for _, row := range slices.Sorted(maps.Keys(w.busy)) {
		id := w.day.Rows[row].Server
		if id != "" && busy[id] {
			continue // the recording has it in two services
		}
		busy[id] = true
		counters = append(counters, estimate.Counter{ID: id, Busy: true, Since: w.busy[row]})
	}
	for _, id := range slices.Sorted(maps.Keys(w.seen)) {
		if !busy[id] && at-w.seen[id] <= openFor*1000 {
			counters = append(counters, estimate.Counter{ID: id})
		}
	}
	return counters
}

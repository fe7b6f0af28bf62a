package replay

import (
	"container/heap"

	"github.com/dengxu/dengxu/internal/recording"
)

// kind is what happens. Within a second, what has the smaller kind is first:
// a service that ends frees its counter, a join is before a call, and who
// gives up is not called any more.
type kind int

const (
	end kind = iota
	join
	leave
	slot
)

// event is one thing that happens at a second of the day.
type event struct {
	at   int
	kind kind
	seq  int // order among equals: the file's, or that of the scheduling
	row  int // whose join or leave it is, or whose service the slot was
	desk *desk
}

// schedule gives events in their order. The zero schedule is empty.
type schedule struct {
	events []event
	seq    int
}

// newSchedule holds everything of a recording but the ends of services, which
// come in as they begin.
func newSchedule(rows []recording.Row) *schedule {
	s := &schedule{}
	for i, r := range rows {
		s.add(event{at: r.Join, kind: join, row: i})
		if r.Served {
			s.add(event{at: r.Start, kind: slot, row: i})
		} else {
			s.add(event{at: r.Leave, kind: leave, row: i})
		}
	}
	return s
}

func (s *schedule) add(e event) {
	s.seq++
	e.seq = s.seq
	heap.Push((*byTime)(s), e)
}

func (s *schedule) next() (event, bool) {
	if len(s.events) == 0 {
		return event{}, false
	}
	return heap.Pop((*byTime)(s)).(event), true
}

type byTime schedule

func (s *byTime) Len() int      { return len(s.events) }
func (s *byTime) Swap(i, j int) { s.events[i], s.events[j] = s.events[j], s.events[i] }
func (s *byTime) Push(e any)    { s.events = append(s.events, e.(event)) }

func (s *byTime) Less(i, j int) bool {
	a, b := s.events[i], s.events[j]
	if a.at != b.at {
		return a.at < b.at
	}
	if a.kind != b.kind {
		return a.kind < b.kind
	}
	return a.seq < b.seq
}

func (s *byTime) Pop() any {
	last := len(s.events) - 1
	e := s.events[last]
	s.events = s.events[:last]
	return e
}

// spares is how many counters without a name are needed when every service
// begins and ends as recorded: for services of nobody in particular, and of
// somebody who still had another one.
func spares(rows []recording.Row) int {
	s := &schedule{}
	for i, r := range rows {
		if r.Served {
			s.add(event{at: r.Start, kind: slot, row: i})
			s.add(event{at: max(r.End, r.Start), kind: end, row: i})
		}
	}
	busy := make(map[string]bool)
	spare := make(map[int]bool) // rows that have one
	most := 0
	for e, ok := s.next(); ok; e, ok = s.next() {
		server := rows[e.row].Server
		switch {
		case e.kind == slot && (server == "" || busy[server]):
			spare[e.row] = true
			most = max(most, len(spare))
		case e.kind == slot:
			busy[server] = true
		case spare[e.row]:
			delete(spare, e.row)
		default:
			delete(busy, server)
		}
	}
	return most
}

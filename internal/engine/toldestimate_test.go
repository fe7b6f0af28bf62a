package engine

import (
	"fmt"
	"testing"
	"time"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/announce"
	"github.com/dengxu/dengxu/internal/estimate"
)

// fill lets the engine remember what all others were told that it can: one more
// is room for one.
func (l *lounge) fill() {
	l.Helper()
	o := l.outlook("main")
	for i := range 19_999 {
		a := &announce.Answer{Forecast: estimate.Forecast{Known: true, Position: 3}}
		o.TellFirst(dengxu.TokenID(fmt.Sprint("other-", i)), announce.Moment{At: l.nowIn(0)}, a)
	}
}

// scored is how many sayings were held against a call.
func (l *lounge) scored() int {
	day := l.EstimateScores()
	return day.ByPosition.All().N + day.Free.N
}

// next lets one more join and be called.
func (l *lounge) next() {
	l.Helper()
	l.pass(time.Minute)
	l.join("main", dengxu.JoinRequest{})
	if _, err := l.CallNext(l.Context(), staffer, "1", "", dengxu.CallRequest{Current: "complete"}); err != nil {
		l.Fatal(err)
	}
	l.hear()
}

// Where more happens than is looked up, who was called is forgotten all the same:
// else nobody who joins later is remembered, for a week.
func TestWhoIsCalledUnseenIsForgotten(t *testing.T) {
	t.Parallel()
	l := newLounge(t, "")
	l.desk("2", "pause")
	l.hear()
	l.fill()
	l.join("main", dengxu.JoinRequest{})
	l.call("1")
	l.lookups[0].take(l.nowIn(0), lookedUp) // a busy second
	l.hear()
	if l.next(); l.scored() != 1 {
		t.Errorf("%d were scored", l.scored())
	}
}

// Who is called again had been told again, which is not scored, but forgotten.
func TestWhoIsCalledAgainIsForgotten(t *testing.T) {
	t.Parallel()
	l := newLounge(t, "")
	l.desk("2", "pause")
	l.hear()
	l.fill()
	l.join("main", dengxu.JoinRequest{})
	first := l.call("1")
	l.hear()
	l.do(dengxu.VerbRequeue, first.ID, dengxu.VerbRequest{})
	l.hear()
	l.pass(time.Minute)
	l.look(first.ID)
	l.call("1")
	l.hear()
	was := l.scored()
	if l.next(); l.scored() != was+1 {
		t.Errorf("%d were scored, then %d", was, l.scored())
	}
}

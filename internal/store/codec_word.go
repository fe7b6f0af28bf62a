package store

// words are what records say often. A word is stored as its place here,
// counted from 1: new ones go to the end, none is ever moved or taken out.
var words = []string{
	"scheduled", "waiting", "calling", "serving", "held", "missed",
	"completed", "cancelled", "abandoned", "failed",

	"join", "due", "check_in", "call", "recall", "confirm", "start", "complete", "miss",
	"reinstate", "requeue", "defer", "hold", "resume", "transfer", "move", "edit", "cancel",
	"abandon", "expire", "undo", "ask", "rate", "fail", "release",

	"token.joined", "token.due", "token.checked_in", "token.near", "token.asked", "token.called",
	"token.recalled", "token.confirmed", "token.started", "token.completed", "token.missed",
	"token.reinstated", "token.deferred", "token.held", "token.resumed", "token.requeued",
	"token.transferred", "token.moved", "token.edited", "token.cancelled", "token.abandoned",
	"token.failed", "token.released", "token.undone", "token.rated",
	"site.changed", "site.day_started", "queue.changed", "queue.door_changed",
	"counter.changed", "counter.state_changed", "partition.clock_stepped",

	"kiosk", "web", "staff", "api",
	"delay", "deferred", "other_token", "appointment",
	"ordinary", "VIP", "holder", "public", "timer", "day_end",
	"site", "site_state", "queue", "queue_state", "counter", "counter_state", "key",
	"partition.writes_lost",
}

var wordNumbers = func() map[string]uint64 {
	m := make(map[string]uint64, len(words))
	for i, w := range words {
		m[w] = uint64(i) + 1
	}
	return m
}()

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

// wordSlots is where words are found: a table that is open, of which at most a
// quarter is used, by a hash of a word's length and three of its letters. A
// record looks some twenty words up.
var wordSlots = func() (slots [wordRoom]uint16) {
	for i, w := range words {
		at := wordHash(w)
		for slots[at] != 0 {
			at = (at + 1) % wordRoom
		}
		slots[at] = uint16(i + 1)
	}
	return slots
}()

const wordRoom = 512

// wordHash is where the search for a word that is not empty begins.
func wordHash(w string) int {
	n := len(w)
	return (n*89 + int(w[0])*31 + int(w[n-1])*7 + int(w[n/2])*61) % wordRoom
}

// wordNumber is the number of a word that is not empty, 0 = it is not there.
func wordNumber(w string) uint64 {
	for at := wordHash(w); wordSlots[at] != 0; at = (at + 1) % wordRoom {
		if n := wordSlots[at]; words[n-1] == w {
			return uint64(n)
		}
	}
	return 0
}

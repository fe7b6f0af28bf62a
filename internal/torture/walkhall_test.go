package torture

import (
	"slices"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/store"
)

// The hall of the random walks, once as settings and once as plain rules that
// the walk's own reference judges by. Times are in ms, factors in twentieths.

type rules struct {
	prefix      string
	epoch       bool
	keep        bool // the line is kept over night
	groups      map[string]group
	classes     []string // the first is the default
	missed      string
	maxMisses   int
	penalty     int64
	keepMissed  int64
	timeout     int64
	onTimeout   string
	arrive      int64
	recallGap   int64
	maxCalls    int
	deferFor    int64
	maxDefers   int
	remote      bool // who joins by the web must check in
	checkWithin int64
	maxLength   int
	quota       int
	rejoin      int64
	askAfter    int64 // asked whether still coming; silence is put off, then ends the wait
}

type group struct {
	k         int64
	headStart int64
}

type desk struct {
	queues []string
	only   map[string][]string // classes that it serves there, where not all
	listed bool
	room   int
}

var walkRules = map[dengxu.QueueID]rules{
	"a": {
		prefix: "A", groups: map[string]group{"ordinary": {20, 0}, "VIP": {10, 0}, "old": {20, 120_000}, "slow": {30, -60_000}},
		missed: "requeue", maxMisses: 2, penalty: 60_000, timeout: 90_000, onTimeout: "miss", arrive: 60_000,
		recallGap: 20_000, maxCalls: 2, deferFor: 60_000, maxDefers: 1, maxLength: 14,
	},
	"b": {
		prefix: "B", keep: true, groups: map[string]group{"ordinary": {20, 0}, "VIP": {14, 30_000}}, classes: []string{"x", "y"},
		missed: "keep", keepMissed: 300_000, timeout: 120_000, onTimeout: "ask", arrive: 300_000,
		recallGap: 30_000, maxCalls: 3, deferFor: 300_000, maxDefers: 2, rejoin: 30_000,
	},
	"c": {
		prefix: "C", epoch: true, groups: map[string]group{"ordinary": {20, 0}, "VIP": {10, 0}},
		missed: "remove", timeout: 60_000, onTimeout: "start", arrive: 300_000,
		recallGap: 0, maxCalls: 3, deferFor: 300_000, maxDefers: 2, remote: true, checkWithin: 120_000, quota: 25, askAfter: 200_000,
	},
}

var walkDesks = map[dengxu.CounterID]desk{
	"1": {queues: []string{"a", "b"}, room: 1},
	"2": {queues: []string{"b"}, only: map[string][]string{"b": {"x"}}, room: 2},
	"3": {queues: []string{"c", "a"}, listed: true, room: 1},
	"4": {queues: []string{"c"}, room: 3},
}

// walkHall is the same as settings. Its zone has a day's end at midnight UTC.
func walkHall() hall {
	return hall{
		site: `{"time_zone":"UTC"}`,
		queues: map[string]string{
			"a": `{"prefix":"A","groups":{"VIP":{"factor":0.5},"old":{"head_start_seconds":120},"slow":{"factor":1.5,"head_start_seconds":-60}},
				"missed":{"policy":"requeue","penalty_seconds":60,"max_misses":2},"call_timeout_seconds":90,"arrive_seconds":60,
				"recall_gap_seconds":20,"max_calls":2,"defer":{"seconds":60,"max":1},"max_length":14}`,
			"b": `{"prefix":"B","day_end":"keep","groups":{"VIP":{"factor":0.7,"head_start_seconds":30}},"classes":{"x":{},"y":{}},"default_class":"x",
				"missed":{"policy":"keep","keep_seconds":300},"call_timeout_seconds":120,"on_call_timeout":"ask","rejoin_after_seconds":30}`,
			"c": `{"prefix":"C","ordering":"epoch","groups":{"VIP":{"factor":0.5}},"missed":{"policy":"remove"},"call_timeout_seconds":60,
				"on_call_timeout":"start","recall_gap_seconds":0,"check_in":{"required":"remote","within_seconds":120},"daily_quota":25,
				"ask":{"after_seconds":200,"grace_seconds":60,"on_silence":"defer"}}`,
		},
		counters: map[string]string{
			"1": `{"queues":["a","b"]}`,
			"2": `{"queues":[{"id":"b","classes":["x"]}],"max_serving":2}`,
			"3": `{"queues":["c","a"],"pick":"listed"}`,
			"4": `{"queues":["c"],"max_serving":3}`,
		},
	}
}

// asks is when somebody who begins to wait at now is asked, 0 = never.
func (r rules) asks(now int64) int64 {
	if r.askAfter == 0 {
		return 0
	}
	return now + r.askAfter
}

func (r rules) class(given string) (string, bool) {
	if given == "" && len(r.classes) > 0 {
		return r.classes[0], true
	}
	return given, given == "" || slices.Contains(r.classes, given)
}

// sees reports whether a counter may call a token of a queue.
func (d desk) sees(id dengxu.CounterID, t *store.Token) bool {
	if bound := store.BoundClass(t.Lane); bound != "" {
		return bound == "@"+string(id) && slices.Contains(d.queues, string(t.Queue))
	}
	return d.serves(t.Queue, t.Class)
}

func (d desk) serves(q dengxu.QueueID, class string) bool {
	only := d.only[string(q)]
	return slices.Contains(d.queues, string(q)) && (only == nil || slices.Contains(only, class))
}

// compete reports whether some counter serves both classes of a queue.
func compete(q dengxu.QueueID, one, other string) bool {
	for _, d := range walkDesks {
		if d.serves(q, one) && d.serves(q, other) {
			return true
		}
	}
	return one == other
}

// ahead reports whether a is called before b in one line at now.
func (r rules) ahead(now int64, a, b *store.Token) bool {
	if r.epoch || a.Place > now || b.Place > now {
		return a.Place < b.Place || a.Place == b.Place && a.Seq < b.Seq
	}
	return older(now, a, r.pace(a), b, r.pace(b))
}

func (r rules) pace(t *store.Token) int64 {
	if r.epoch {
		return 20
	}
	return r.groups[t.Group].k
}

// older compares (now − place)/factor without dividing; a future place is the
// last of all.
func older(now int64, a *store.Token, ka int64, b *store.Token, kb int64) bool {
	if a.Place > now || b.Place > now {
		return a.Place < b.Place || a.Place == b.Place && a.Seq < b.Seq
	}
	pa, pb := (now-a.Place)*kb, (now-b.Place)*ka
	return pa > pb || pa == pb && a.Seq < b.Seq
}

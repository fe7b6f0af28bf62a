package engine

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/store"
)

func doc(kind store.DocKind, id string, site dengxu.SiteID, version uint64, body string) store.Doc {
	return store.Doc{Key: store.DocKey{Kind: kind, ID: id}, Site: site, Version: version, Body: []byte(body)}
}

func mustWith(t *testing.T, w *world, docs ...store.Doc) *world {
	t.Helper()
	next, bad := w.with(docs, 1)
	if len(bad) > 0 {
		t.Fatal(bad)
	}
	return next
}

func twoSites(t *testing.T) *world {
	t.Helper()
	return mustWith(t, &world{},
		doc(store.DocCounterState, "1", "hall", 1, `{"state":"open","day":7}`), // any order
		doc(store.DocCounter, "1", "hall", 1, `{"site":"hall","queues":["main",{"id":"side","classes":["x"]}]}`),
		doc(store.DocQueue, "main", "hall", 2, `{"site":"hall"}`),
		doc(store.DocQueue, "side", "hall", 1, `{"site":"hall","classes":{"x":{},"y":{}}}`),
		doc(store.DocQueueState, "main", "hall", 3, `{"door":"open"}`),
		doc(store.DocSite, "hall", "hall", 1, `{"time_zone":"UTC"}`),
		doc(store.DocSiteState, "hall", "hall", 1, `{"day":7}`),
		doc(store.DocSite, "far", "far", 1, `{"time_zone":"UTC"}`),
		doc(store.DocQueue, "q", "far", 1, `{"site":"far"}`),
	)
}

func TestWorldIsLinked(t *testing.T) {
	t.Parallel()
	w := twoSites(t)
	c := w.counters["1"]
	if c.site != w.sites["hall"] || len(c.queues) != 2 || c.queues[0].queue != w.queues["main"] ||
		c.queues[1].queue.site != c.site || c.queues[0].classes != nil || c.shown() != dengxu.CounterOpen {
		t.Errorf("counter %+v", c)
	}
	if got := len(w.sites["hall"].queues); got != 2 {
		t.Errorf("%d queues in the hall", got)
	}
}

func TestAWorldIsNeverChanged(t *testing.T) {
	t.Parallel()
	old := twoSites(t)
	next := mustWith(t, old, doc(store.DocQueueState, "main", "hall", 4, `{"door":"paused"}`))
	if old.queues["main"].state.Door != dengxu.DoorOpen || next.queues["main"].state.Door != dengxu.DoorPaused {
		t.Error("the old world was changed, or the new one was not")
	}
	if next.sites["far"] != old.sites["far"] || next.queues["q"] != old.queues["q"] {
		t.Error("an untouched site was built anew")
	}
	if next.sites["hall"] == old.sites["hall"] || next.counters["1"].queues[0].queue != next.queues["main"] {
		t.Error("the touched site still points into the old world")
	}
}

func TestOlderVersionsNeverReplaceNewer(t *testing.T) {
	t.Parallel()
	w := mustWith(t, twoSites(t),
		doc(store.DocQueueState, "main", "hall", 2, `{"door":"closed"}`),
		doc(store.DocQueueState, "main", "hall", 3, `{"door":"closed"}`),
		doc(store.DocQueue, "main", "hall", 1, `{"site":"hall","name":"old"}`),
		doc(store.DocSite, "hall", "hall", 1, `{"time_zone":"Asia/Tokyo"}`),
	)
	if q := w.queues["main"]; q.state.Door != dengxu.DoorOpen || q.set.Name != "" || q.site.set.TimeZone != "UTC" {
		t.Errorf("an older version came through: %+v", q)
	}
}

func TestDeletedDocumentsLeaveTheWorld(t *testing.T) {
	t.Parallel()
	// What a store answers on a deletion may lack the site.
	w := mustWith(t, twoSites(t),
		doc(store.DocCounter, "1", "", 0, ""), doc(store.DocQueue, "side", "", 0, ""), doc(store.DocSite, "far", "", 0, ""))
	if w.counters["1"] != nil || w.queues["side"] != nil || w.sites["far"] != nil || w.queues["q"] != nil {
		t.Error("a deleted thing is still known")
	}
	if len(w.sites["hall"].queues) != 1 || len(w.sites["hall"].counters) != 0 {
		t.Error("the site still lists it")
	}
}

func TestBadDocumentsAreReportedAndLeftOut(t *testing.T) {
	t.Parallel()
	w, bad := twoSites(t).with([]store.Doc{
		doc(store.DocQueue, "torn", "hall", 1, `{"site":`),
		doc(store.DocCounter, "2", "hall", 1, `{"queues":["nowhere","main"]}`),
		doc(store.DocQueue, "main", "far", 1, `{"site":"far"}`),
		doc(store.DocAPIKey, "k", "", 1, `{"hash":"AAAA"}`),
	}, 1)
	if len(bad) != 4 {
		t.Errorf("%d problems: %v", len(bad), bad)
	}
	if w.queues["torn"] != nil || len(w.counters["2"].queues) != 1 || w.queues["main"] == nil || w.keys["k"] != nil {
		t.Error("a bad document did more harm than its own")
	}
}

func TestFactorsAreRoundedUpAndClamped(t *testing.T) {
	t.Parallel()
	type in struct {
		min, overtake float64
		factors       map[string]float64
	}
	for name, c := range map[string]struct {
		in   in
		want map[string]group
	}{
		"upward to a twentieth": {
			in{0.05, 0, map[string]float64{"a": 0.35, "b": 0.351, "c": 0.05}},
			map[string]group{"ordinary": {factor: 1000}, "a": {factor: 350}, "b": {factor: 400}, "c": {factor: 50}},
		},
		"not below min_factor": {
			in{0.25, 0, map[string]float64{"a": 0.1, "b": 0.25}},
			map[string]group{"ordinary": {factor: 1000}, "a": {factor: 250, clipped: true}, "b": {factor: 250}},
		},
		"max_overtake 3 of the largest": {
			in{0.05, 3, map[string]float64{"a": 0.1, "b": 2, "c": 0.7}},
			map[string]group{"ordinary": {factor: 1000}, "a": {factor: 700, clipped: true}, "b": {factor: 2000}, "c": {factor: 700}},
		},
	} {
		set := dengxu.Queue{MinFactor: &c.in.min, MaxOvertake: c.in.overtake, Groups: map[string]dengxu.Group{}}
		for group, factor := range c.in.factors {
			set.Groups[group] = dengxu.Group{Factor: &factor}
		}
		var q queue
		q.compile(set)
		got := make(map[string]group)
		for name, g := range q.groups {
			g.asked = 0
			got[name] = g
		}
		if diff := cmp.Diff(c.want, got, cmp.AllowUnexported(group{})); diff != "" {
			t.Errorf("%s: groups (-want +got):\n%s", name, diff)
		}
	}
}

func TestDurationsTakeDecimals(t *testing.T) {
	t.Parallel()
	var q queue
	q.compile(dengxu.Queue{
		Groups: map[string]dengxu.Group{"a": {HeadStartSeconds: -0.001}, "b": {HeadStartSeconds: 1.0005}},
		Ask:    &dengxu.Ask{AfterSeconds: 0.001},
	})
	if q.groups["a"].headStart != -1 || q.groups["b"].headStart != 1001 || q.askAfter != 1 || q.callTimeout != 300_000 {
		t.Errorf("%+v, ask %d, call %d", q.groups, q.askAfter, q.callTimeout)
	}
}

func TestClassesThatShareACounterCompete(t *testing.T) {
	t.Parallel()
	base := []store.Doc{
		doc(store.DocSite, "s", "s", 1, `{"time_zone":"UTC"}`),
		doc(store.DocQueue, "q", "s", 1, `{"site":"s","classes":{"a":{},"b":{},"c":{},"d":{}}}`),
		doc(store.DocQueue, "other", "s", 1, `{"site":"s","classes":{"a":{},"b":{}}}`),
	}
	for name, c := range map[string]struct {
		counters []string
		want     map[string][]string
	}{
		"no counter": {nil, map[string][]string{"a": {"a"}, "b": {"b"}, "c": {"c"}, "d": {"d"}}},
		"overlapping counters": {
			[]string{`[{"id":"q","classes":["a","b"]}]`, `[{"id":"q","classes":["b","c"]}]`},
			map[string][]string{"a": {"a", "b"}, "b": {"a", "b", "c"}, "c": {"b", "c"}, "d": {"d"}},
		},
		"one counter takes all": {[]string{`["q"]`}, map[string][]string{"a": nil, "b": nil, "c": nil, "d": nil}},
		"together all": {
			[]string{`[{"id":"q","classes":["a","b"]}]`, `[{"id":"q","classes":["a","c","d"]}]`},
			map[string][]string{"a": nil, "b": {"a", "b"}, "c": {"a", "c", "d"}, "d": {"a", "c", "d"}},
		},
		"another queue's counter": {
			[]string{`[{"id":"other","classes":["a","b"]}]`},
			map[string][]string{"a": {"a"}, "b": {"b"}, "c": {"c"}, "d": {"d"}},
		},
	} {
		docs := base
		for i, queues := range c.counters {
			docs = append(slices.Clip(docs),
				doc(store.DocCounter, string(rune('1'+i)), "s", 1, `{"site":"s","queues":`+queues+`}`))
		}
		w := mustWith(t, &world{}, docs...)
		if diff := cmp.Diff(c.want, w.queues["q"].compete); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	// A queue without classes: everyone competes with everyone.
	if w := twoSites(t); w.queues["main"].competing("") != nil {
		t.Error("a queue without classes restricts")
	}
}

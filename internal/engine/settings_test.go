package engine

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/store"
	"github.com/dengxu/dengxu/internal/store/memstore"
	"github.com/dengxu/dengxu/internal/store/storetest"
)

func wantInvalid(t *testing.T, err error, field string) {
	t.Helper()
	coded, ok := errors.AsType[*dengxu.Error](err)
	if !ok || coded.Code != dengxu.Invalid || coded.Field != field {
		t.Errorf("got %v, want invalid, field %s", err, field)
	}
}

// keyed is staffer under an idempotency key.
func keyed(key string, hash byte) By {
	by := staffer
	by.Key, by.Hash = key, [16]byte{hash}
	return by
}

func TestQueueSettingsRefused(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for text, field := range map[string]string{
		`{"kind":"task"}`:                                  "kind",
		`{"kind":"cats"}`:                                  "kind",
		`{"site":"nowhere"}`:                               "site",
		`{"site":"a b"}`:                                   "site",
		`{"prefix":"ABCDEFGHI"}`:                           "prefix",
		`{"prefix":"A\u0007"}`:                             "prefix",
		`{"number_width":0}`:                               "number_width",
		`{"first_number":-1}`:                              "first_number",
		`{"last_number":0}`:                                "last_number",
		`{"first_number":5,"last_number":4}`:               "last_number",
		`{"on_last_number":"stop"}`:                        "on_last_number",
		`{"ordering":"lifo"}`:                              "ordering",
		`{"ordering":"strict","escalate_after_seconds":0}`: "escalate_after_seconds",
		`{"groups":{"V":{"rank":1000}}}`:                   "groups.V.rank",
		`{"groups":{"V":{"rank":-1}}}`:                     "groups.V.rank",
		`{"groups":{"V":{"share":0}}}`:                     "groups.V.share",
		`{"groups":{"V":{"share":21}}}`:                    "groups.V.share",
		`{"appointments":{"early_seconds":-1}}`:            "appointments.early_seconds",
		`{"appointments":{"late_seconds":-1}}`:             "appointments.late_seconds",
		`{"appointments":{"head_start_seconds":2592001}}`:  "appointments.head_start_seconds",
		`{"appointments":{"late":"never"}}`:                "appointments.late",
		`{"public_join":{"fields":["appointment_at"]}}`:    "public_join.fields",
		`{"ordering":"epoch","day_end":"keep"}`:            "ordering",
		`{"groups":{"VIP":{"factor":0.04}}}`:               "groups.VIP.factor",
		`{"groups":{"VIP":{"factor":10.01}}}`:              "groups.VIP.factor",
		`{"groups":{"@1":{}}}`:                             "groups.@1",
		`{"groups":{"V":{"head_start_seconds":2592001}}}`:  "groups.V.head_start_seconds",
		`{"groups":{"V":{"head_start_seconds":-2592001}}}`: "groups.V.head_start_seconds",
		`{"min_factor":0.01}`:                              "min_factor",
		`{"max_overtake":0.5}`:                             "max_overtake",
		`{"classes":{"a":{"prefix":"123456789"}}}`:         "classes.a.prefix",
		`{"default_class":"a"}`:                            "default_class",
		`{"classes":{"a":{}},"default_class":"b"}`:         "default_class",
		`{"fields":[{"name":"x"},{"name":"x"}]}`:           "fields[1].name",
		`{"fields":[{"name":"x","type":"date"}]}`:          "fields[0].type",
		`{"max_length":-1}`:                                "max_length",
		`{"rejoin_after_seconds":-1}`:                      "rejoin_after_seconds",
		`{"retain_seconds":1e12}`:                          "retain_seconds",
		`{"call_timeout_seconds":0}`:                       "call_timeout_seconds",
		`{"on_call_timeout":"shout"}`:                      "on_call_timeout",
		`{"max_calls":0}`:                                  "max_calls",
		`{"missed":{"policy":"forget"}}`:                   "missed.policy",
		`{"missed":{"max_misses":0}}`:                      "missed.max_misses",
		`{"defer":{"seconds":0}}`:                          "defer.seconds",
		`{"check_in":{"required":"some"}}`:                 "check_in.required",
		`{"ask":{"grace_seconds":0}}`:                      "ask.grace_seconds",
		`{"public_join":{"fields":["shoe_size"]}}`:         "public_join.fields",
		`{"public_join":{"classes":["a"]}}`:                "public_join.classes",
		`{"labels":{"not a tag":"x"}}`:                     "labels.not a tag",
		`{"name":"` + strings.Repeat("名", 129) + `"}`:      "name",
	} {
		_, err := r.PutQueue(t.Context(), staffer, "q", setting[dengxu.Queue](t, text), 0)
		wantInvalid(t, err, field)
		if _, err := r.Queue(t.Context(), "q"); dengxu.CodeOf(err) != dengxu.NotFound {
			t.Fatalf("%s: the queue was made", text)
		}
	}
	classes := dengxu.Queue{Classes: map[string]dengxu.Class{}}
	for i := range 17 {
		classes.Classes[string(rune('a'+i))] = dengxu.Class{}
	}
	_, err := r.PutQueue(t.Context(), staffer, "q", classes, 0)
	wantInvalid(t, err, "classes")
	for _, id := range []dengxu.QueueID{"token", "", "a/b", dengxu.QueueID(strings.Repeat("x", 65))} {
		_, err := r.PutQueue(t.Context(), staffer, id, dengxu.Queue{}, 0)
		wantInvalid(t, err, "id")
	}
}

func TestCounterSettingsRefused(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.site("other", `{}`)
	r.queue("far", `{"site":"other"}`)
	r.queue("a", `{"classes":{"x":{}}}`)
	r.queue("e", `{"ordering":"epoch"}`)
	for text, field := range map[string]string{
		`{"queues":["far"]}`:                      "queues[0]",
		`{"queues":["a","none"]}`:                 "queues[1]",
		`{"queues":["a","a"]}`:                    "queues[1]",
		`{"queues":[{"id":"a","classes":["y"]}]}`: "queues[0].classes",
		`{"queues":["a","e"]}`:                    "pick",
		`{"pick":"youngest"}`:                     "pick",
		`{"max_serving":0}`:                       "max_serving",
		`{"seats":{"min":4,"max":2}}`:             "seats",
		`{"site":"nowhere"}`:                      "site",
	} {
		_, err := r.PutCounter(t.Context(), staffer, "1", setting[dengxu.Counter](t, text), 0)
		wantInvalid(t, err, field)
	}
	r.counter("1", `{"queues":["a","e"],"pick":"listed"}`)
	r.counter("2", `{"queues":[{"id":"a","classes":["x"]}]}`)
	_, err := r.PatchCounter(t.Context(), staffer, "1", json.RawMessage(`{"pick":null}`), 0)
	wantInvalid(t, err, "pick")
	// The queue may not change under its counters either.
	_, err = r.PatchQueue(t.Context(), staffer, "a", json.RawMessage(`{"classes":null}`), 0)
	wantInvalid(t, err, "classes")
	r.queue("b", `{}`)
	r.counter("3", `{"queues":["a","b"]}`)
	_, err = r.PatchQueue(t.Context(), staffer, "b", json.RawMessage(`{"ordering":"epoch"}`), 0)
	wantInvalid(t, err, "ordering")
}

func TestSiteSettingsRefused(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for text, field := range map[string]string{
		`{"time_zone":"Mars/Olympus"}`: "time_zone",
		`{"time_zone":"Local"}`:        "time_zone",
		`{"day_start":"24:00"}`:        "day_start",
		`{"languages":["english!"]}`:   "languages[0]",
		`{"other_tokens":"burn"}`:      "other_tokens",
	} {
		_, err := r.PutSite(t.Context(), staffer, "s", setting[dengxu.Site](t, text), 0)
		wantInvalid(t, err, field)
	}
}

func TestFirstQueueMakesTheDefaultSite(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.queue("q", `{"name":"A\u202eB\u0000"}`)
	q, err := r.Queue(t.Context(), "q")
	if err != nil || q.Site != dengxu.DefaultSite || q.Door != dengxu.DoorOpen || q.Version != 1 || q.Queue.Name != "AB" {
		t.Fatalf("queue %+v, %v", q, err)
	}
	s, err := r.Site(t.Context(), dengxu.DefaultSite)
	if err != nil || s.TimeZone == "" || len(s.Queues) != 1 || s.Day == "" {
		t.Fatalf("site %+v, %v", s, err)
	}
	_, err = r.PutQueue(t.Context(), staffer, "q", dengxu.Queue{Site: "elsewhere"}, 0)
	wantInvalid(t, err, "site")
	_, err = r.PatchQueue(t.Context(), staffer, "q", json.RawMessage(`{"site":null}`), 0)
	if err != nil {
		t.Fatalf("forgetting the site must keep it: %v", err)
	}
}

func TestPutIsGuardedByIfMatch(t *testing.T) {
	t.Parallel()
	r := hall(t)
	put := func(name string, ifMatch uint64) error {
		_, err := r.PutQueue(t.Context(), staffer, "main", dengxu.Queue{Name: name}, ifMatch)
		return err
	}
	if err := put("one", 1); err != nil {
		t.Fatal(err)
	}
	wantCode(t, put("two", 1), dengxu.Conflict, "if_match")
	if err := put("two", 2); err != nil {
		t.Fatal(err)
	}
	if err := put("two", 0); err != nil {
		t.Fatal(err)
	}
	if q, _ := r.Queue(t.Context(), "main"); q.Version != 3 || q.Queue.Name != "two" {
		t.Errorf("the same settings again made version %d", q.Version)
	}
	_, err := r.PutSite(t.Context(), staffer, "new", dengxu.Site{}, 7)
	wantCode(t, err, dengxu.Conflict, "if_match")
	wantCode(t, r.DeleteQueue(t.Context(), staffer, "main", 1), dengxu.Conflict, "if_match")
}

func TestPatchMergesAndReadsStrictly(t *testing.T) {
	t.Parallel()
	r := hall(t)
	patch := func(text string) (dengxu.QueueView, error) {
		done, err := r.PatchQueue(t.Context(), staffer, "main", json.RawMessage(text), 0)
		return done.Value, err
	}
	if _, err := patch(`{"groups":{"VIP":{"factor":0.5},"old":{}},"max_calls":5}`); err != nil {
		t.Fatal(err)
	}
	q, err := patch(`{"groups":{"old":null,"VIP":{"head_start_seconds":1.5}},"max_calls":null}`)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]dengxu.Group{
		"ordinary": {Factor: new(1.0)}, "VIP": {Factor: new(0.5), HeadStartSeconds: 1.5},
	}
	if diff := cmp.Diff(want, q.Groups); diff != "" || *q.MaxCalls != 3 {
		t.Errorf("max_calls %d, groups (-want +got):\n%s", *q.MaxCalls, diff)
	}
	for text, field := range map[string]string{
		`{"groups":{"VIP":{"weight":1}}}`: "groups.VIP.weight",
		`{"Name":"x"}`:                    "Name",
		`{"fields":[{"nmae":"x"}]}`:       "fields[0].nmae",
		`{"max_calls":"many"}`:            "max_calls",
		`{"missed":{"max_misses":1.5}}`:   "missed.max_misses",
		`{"public_join":true}`:            "public_join",
		`[]`:                              "",
		`{"name":`:                        "",
		`null`:                            "",
	} {
		_, err := patch(text)
		wantInvalid(t, err, field)
	}
	_, err = r.PatchQueue(t.Context(), staffer, "none", json.RawMessage(`{}`), 0)
	wantCode(t, err, dengxu.NotFound, "")
}

func TestRepeatedSettingsHaveOneEffect(t *testing.T) {
	t.Parallel()
	r := hall(t)
	by := keyed("k1", 1)
	first, err := r.PutQueue(t.Context(), by, "main", dengxu.Queue{Name: "one"}, 1)
	if err != nil || first.Replayed {
		t.Fatalf("%+v, %v", first, err)
	}
	if _, err := r.PutQueue(t.Context(), staffer, "main", dengxu.Queue{Name: "two"}, 0); err != nil {
		t.Fatal(err)
	}
	// If-Match is stale by now: the repeat must not be judged by it.
	again, err := r.PutQueue(t.Context(), by, "main", dengxu.Queue{Name: "one"}, 1)
	if err != nil || !again.Replayed || again.Value.Queue.Name != "two" || again.Value.Version != 3 {
		t.Fatalf("%+v, %v", again, err)
	}
	_, err = r.PutQueue(t.Context(), keyed("k1", 2), "main", dengxu.Queue{Name: "three"}, 0)
	wantCode(t, err, dengxu.Invalid, "idempotency_key_reused")
}

func TestSeriesOfOneSiteAgree(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.queue("a", `{"prefix":"A","last_number":99}`)
	_, err := r.PutQueue(t.Context(), staffer, "b", setting[dengxu.Queue](t, `{"series":"A","prefix":"B"}`), 0)
	wantInvalid(t, err, "series")
	_, err = r.PutQueue(t.Context(), staffer, "b", setting[dengxu.Queue](t, `{"prefix":"B","classes":{"x":{"prefix":"A"}}}`), 0)
	wantInvalid(t, err, "series")
	r.queue("b", `{"series":"A","prefix":"B","last_number":99}`)
	r.site("far", `{}`)
	r.queue("c", `{"site":"far","prefix":"A"}`)
	done, err := r.PutQueue(t.Context(), staffer, "d", setting[dengxu.Queue](t, `{"series":"other","last_number":9,"on_last_number":"wrap","max_overtake":2,"groups":{"V":{"head_start_seconds":60}}}`), 0)
	if err != nil || len(done.Value.Warnings) != 3 {
		t.Errorf("want warnings of wrap, head start and the prefix printed twice: %q, %v", done.Value.Warnings, err)
	}
}

func TestOrderingChangesOnlyInAnEmptyLine(t *testing.T) {
	t.Parallel()
	r := hall(t)
	ticket := r.join("main", dengxu.JoinRequest{})
	for _, text := range []string{`{"ordering":"epoch"}`, `{"day_end":"keep"}`} {
		_, err := r.PatchQueue(t.Context(), staffer, "main", json.RawMessage(text), 0)
		wantCode(t, err, dengxu.Conflict, "not_empty")
	}
	if _, err := r.PatchQueue(t.Context(), staffer, "main", json.RawMessage(`{"name":"x"}`), 0); err != nil {
		t.Fatal(err)
	}
	r.do(dengxu.VerbCancel, ticket.ID, dengxu.VerbRequest{})
	if _, err := r.PatchQueue(t.Context(), staffer, "main", json.RawMessage(`{"ordering":"epoch"}`), 0); err != nil {
		t.Fatal(err)
	}
}

func TestDeleteRefusesWhatIsInUse(t *testing.T) {
	t.Parallel()
	r := hall(t)
	ctx := t.Context()
	wantCode(t, r.DeleteSite(ctx, staffer, "hall", 0), dengxu.Conflict, "in_use")
	wantCode(t, r.DeleteQueue(ctx, staffer, "main", 0), dengxu.Conflict, "in_use") // a counter serves it
	ticket := r.join("main", dengxu.JoinRequest{})
	r.mustCall("1", "A001")
	wantCode(t, r.DeleteCounter(ctx, staffer, "1", 0), dengxu.Conflict, "in_use")
	r.do(dengxu.VerbHold, ticket.ID, dengxu.VerbRequest{})
	wantCode(t, r.DeleteCounter(ctx, staffer, "1", 0), dengxu.Conflict, "in_use") // held there
	r.counter("1", `{"site":"hall"}`)
	wantCode(t, r.DeleteQueue(ctx, staffer, "main", 0), dengxu.Conflict, "in_use") // held
	r.do(dengxu.VerbCancel, ticket.ID, dengxu.VerbRequest{})
	for _, err := range []error{
		r.DeleteQueue(ctx, staffer, "main", 0), r.DeleteCounter(ctx, staffer, "1", 0), r.DeleteSite(ctx, staffer, "hall", 0),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	wantCode(t, r.DeleteSite(ctx, staffer, "hall", 0), dengxu.NotFound, "")
	wantCode(t, r.DeleteQueue(ctx, staffer, "main", 0), dengxu.NotFound, "")
	wantCode(t, r.DeleteCounter(ctx, staffer, "1", 0), dengxu.NotFound, "")
	if docs, err := r.store.Docs(ctx, 0); err != nil || len(docs) != 0 {
		t.Errorf("%d documents left, %v", len(docs), err)
	}
	r.queue("main", `{}`) // the id is free again
}

// Two processes over one store: what one does not know is no reason to refuse
// or to overwrite.
func TestTwoEnginesAgree(t *testing.T) {
	t.Parallel()
	clock := storetest.NewClock()
	s := memstore.New(memstore.Options{Wall: clock.Wall, Mono: clock.Mono})
	t.Cleanup(func() { _ = s.Close() })
	a, b := rigOver(t, s, clock), rigOver(t, s, clock)
	a.site("hall", `{"time_zone":"UTC"}`)
	b.queue("main", `{"site":"hall"}`)
	a.counter("1", `{"site":"hall","queues":["main"]}`)
	if _, err := b.PatchQueue(t.Context(), staffer, "main", json.RawMessage(`{"name":"b"}`), 0); err != nil {
		t.Fatal(err)
	}
	done, err := a.PatchQueue(t.Context(), staffer, "main", json.RawMessage(`{"max_length":5}`), 0)
	if err != nil || done.Value.Queue.Name != "b" || done.Value.MaxLength != 5 {
		t.Fatalf("%+v, %v", done.Value, err)
	}
	wantCode(t, b.DeleteSite(t.Context(), staffer, "hall", 0), dengxu.Conflict, "in_use")
	if err := b.DeleteCounter(t.Context(), staffer, "1", 0); err != nil {
		t.Fatal(err)
	}
	if err := a.DeleteQueue(t.Context(), staffer, "main", 0); err != nil {
		t.Fatal(err)
	}
}

// However many change settings at once, every site holds together: no queue in
// a site that was deleted, no two queues that count differently.
func TestConcurrentSettings(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ctx := t.Context()
	var all sync.WaitGroup
	for i := range 8 {
		id := dengxu.QueueID(string(rune('a' + i)))
		all.Go(func() {
			for n := range 6 {
				last := int64(100 + (i+n)%2)
				_, err := r.PutSite(ctx, staffer, "hall", dengxu.Site{}, 0)
				_, putErr := r.PutQueue(ctx, staffer, id, dengxu.Queue{Site: "hall", LastNumber: &last}, 0)
				var delErr, siteErr error
				if n < 5 && (n+i)%3 == 0 {
					delErr = r.DeleteQueue(ctx, staffer, id, 0)
					siteErr = r.DeleteSite(ctx, staffer, "hall", 0)
				}
				for _, err := range []error{err, putErr, delErr, siteErr} {
					expected := []dengxu.Code{"", dengxu.Invalid, dengxu.NotFound, dengxu.Conflict, dengxu.Unavailable}
					if !slices.Contains(expected, dengxu.CodeOf(err)) {
						t.Error(err)
					}
				}
			}
		})
	}
	all.Wait()
	if err := r.refresh(ctx); err != nil {
		t.Fatal(err)
	}
	docs, err := r.store.Docs(ctx, 0)
	if err != nil {
		t.Fatal(err)
	}
	site := false
	for _, d := range docs {
		site = site || d.Key.Kind == store.DocSite
	}
	if !site && len(docs) > 0 {
		t.Errorf("%d documents without a site", len(docs))
	}
	for _, q := range r.world.Load().queues {
		if err := q.fits(q.site, q); err != nil {
			t.Error(err)
		}
	}
	r.clean()
}

package dengxu_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dengxu/dengxu"
)

// Settings with every field given, none of them at its default.
const (
	fullSite = `{
		"name": "Clinic", "labels": {"zh-CN": "门诊"}, "time_zone": "Asia/Shanghai", "day_start": "04:00",
		"languages": ["zh-CN", "en"], "other_tokens": "hold", "covariates": {"rain": 1.5},
		"opening_hours": {"mon": ["08:00-12:00"], "dates": {"2026-10-01": "closed"}, "last_ticket_before_seconds": 60}}`
	fullQueue = `{
		"site": "clinic", "kind": "task", "name": "Internal", "labels": {"zh-CN": "内科"}, "prefix": "",
		"number_width": 4, "first_number": 0, "last_number": 99, "on_last_number": "wrap", "series": "all",
		"ordering": "epoch", "escalate_after_seconds": 17,
		"groups": {"ordinary": {"factor": 2, "rank": 1, "share": 1}, "VIP": {"factor": 0.5, "head_start_seconds": 60, "rank": 0, "share": 3}},
		"min_factor": 0.5, "max_overtake": 2,
		"classes": {"first": {"name": "First", "labels": {"en": "First"}, "prefix": "F", "expected_service_seconds": 60}},
		"default_class": "first",
		"queue_rules": [{"name": "old", "condition": "ext_attrs.age >= 70", "action": "-0.2", "class": "first", "head_start_seconds": 60}],
		"fields": [{"name": "phone", "type": "phone", "required": true, "max": 20, "labels": {"en": "Phone"}}],
		"max_length": 5, "daily_quota": 6, "unique": false, "rejoin_after_seconds": 7, "expected_service_seconds": 8,
		"call_timeout_seconds": 9, "on_call_timeout": "ask", "arrive_seconds": 10, "max_calls": 11, "recall_gap_seconds": 0,
		"missed": {"policy": "keep", "penalty_seconds": 0, "max_misses": 1, "keep_seconds": 0},
		"defer": {"seconds": 1, "max": 0}, "check_in": {"required": "all", "within_seconds": 12},
		"ask": {"after_seconds": 13, "grace_seconds": 14, "on_silence": "defer"}, "expire_waiting_seconds": 15,
		"appointments": {"early_seconds": 0, "late_seconds": 0, "head_start_seconds": 0, "late": "keep"},
		"public_join": {"fields": ["phone"], "classes": ["first"]}, "day_end": "expire", "retain_seconds": 0,
		"estimates": {"method": "window"}}`
	fullCounter = `{
		"site": "clinic", "name": "Room 3", "labels": {"zh-CN": "3号诊室"}, "queues": [{"id": "internal", "classes": ["first"]}],
		"pick": "listed", "max_serving": 2, "seats": {"min": 1, "max": 4}}`
)

func parse[T any](t *testing.T, text string) T {
	t.Helper()
	var v T
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func TestDefaultsOfNothing(t *testing.T) {
	t.Parallel()
	people := dengxu.Queue{
		Site: "default", Kind: dengxu.KindPeople, Prefix: new("A"), NumberWidth: new(3), FirstNumber: new(int64(1)),
		OnLastNumber: "widen", Series: "A", Ordering: "aging", MinFactor: new(0.25),
		Groups: map[string]dengxu.Group{"ordinary": {Factor: new(1.0)}},
		Unique: new(true), CallTimeoutSeconds: new(300.0), OnCallTimeout: "miss", ArriveSeconds: new(300.0),
		MaxCalls: new(3), RecallGapSeconds: new(30.0),
		Missed: &dengxu.Missed{
			Policy: "requeue", PenaltySeconds: new(300.0), MaxMisses: new(2), KeepSeconds: new(3600.0),
		},
		Defer:      &dengxu.Defer{Seconds: new(300.0), Max: new(2)},
		CheckIn:    &dengxu.CheckIn{Required: "none"},
		Ask:        &dengxu.Ask{GraceSeconds: new(120.0), OnSilence: "abandon"},
		PublicJoin: &dengxu.PublicJoin{}, DayEnd: "expire", RetainSeconds: new(172_800.0),
		Estimates: &dengxu.Estimates{Method: "auto"},
	}
	task := people
	task.Kind, task.Site, task.DayEnd = dengxu.KindTask, "", "keep"
	for _, c := range []struct{ want, got any }{
		{people, dengxu.Queue{}.WithDefaults()},
		{task, dengxu.Queue{Kind: dengxu.KindTask}.WithDefaults()},
		{dengxu.Site{DayStart: "00:00", OtherTokens: "keep"}, dengxu.Site{}.WithDefaults()},
		{dengxu.Counter{Site: "default", Pick: "oldest", MaxServing: new(1)}, dengxu.Counter{}.WithDefaults()},
	} {
		if diff := cmp.Diff(c.want, c.got); diff != "" {
			t.Errorf("%T (-want +got):\n%s", c.want, diff)
		}
	}
}

func TestDefaultsInside(t *testing.T) {
	t.Parallel()
	q := dengxu.Queue{
		Prefix:  new("B"),
		Groups:  map[string]dengxu.Group{"VIP": {HeadStartSeconds: 60}},
		Classes: map[string]dengxu.Class{"first": {}},
		Fields:  []dengxu.Field{{Name: "name"}},
		Missed:  &dengxu.Missed{Policy: "keep"},
		Ask:     &dengxu.Ask{AfterSeconds: 600},
	}.WithDefaults()
	if q.Series != "B" {
		t.Errorf("series %q, want the prefix", q.Series)
	}
	wantGroups := map[string]dengxu.Group{
		"ordinary": {Factor: new(1.0)}, "VIP": {Factor: new(1.0), HeadStartSeconds: 60},
	}
	if diff := cmp.Diff(wantGroups, q.Groups); diff != "" {
		t.Errorf("groups (-want +got):\n%s", diff)
	}
	if q.Classes["first"].Prefix != nil {
		t.Error("a class without a prefix got one: then the queue's series would not hold for it")
	}
	if q.Fields[0].Type != "text" {
		t.Errorf("field type %q, want text", q.Fields[0].Type)
	}
	if q.Missed.Policy != "keep" || *q.Missed.KeepSeconds != 3600 {
		t.Errorf("missed %+v: want the given policy and the default of the rest", q.Missed)
	}
	if q.Ask.AfterSeconds != 600 || *q.Ask.GraceSeconds != 120 {
		t.Errorf("ask %+v: want the given time and the default of the rest", q.Ask)
	}
}

// TestDefaultsOfAnOrdering: what means something to one ordering only is filled
// in for that one.
func TestDefaultsOfAnOrdering(t *testing.T) {
	t.Parallel()
	groups := map[string]dengxu.Group{"red": {}, "blue": {Rank: new(4), Share: new(3)}}
	strict := dengxu.Queue{Ordering: "strict", Groups: groups}.WithDefaults()
	if got := *strict.EscalateAfterSeconds; got != 3600 {
		t.Errorf("escalates after %v, want an hour", got)
	}
	want := map[string]dengxu.Group{
		"red": {Factor: new(1.0), Rank: new(0)}, "blue": {Factor: new(1.0), Rank: new(4), Share: new(3)},
		"ordinary": {Factor: new(1.0), Rank: new(5)},
	}
	if diff := cmp.Diff(want, strict.Groups); diff != "" {
		t.Errorf("strict (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(strict, strict.WithDefaults()); diff != "" {
		t.Errorf("the second time changed (-once +twice):\n%s", diff)
	}
	want = map[string]dengxu.Group{
		"red": {Factor: new(1.0), Share: new(1)}, "blue": {Factor: new(1.0), Rank: new(4), Share: new(3)},
		"ordinary": {Factor: new(1.0), Share: new(1)},
	}
	ratio := dengxu.Queue{Ordering: "ratio", Groups: groups}.WithDefaults()
	if diff := cmp.Diff(want, ratio.Groups); diff != "" {
		t.Errorf("ratio (-want +got):\n%s", diff)
	}
	booked := dengxu.Queue{Appointments: &dengxu.Appointments{}}.WithDefaults().Appointments
	wantBooked := &dengxu.Appointments{EarlySeconds: new(1800.0), LateSeconds: new(600.0), HeadStartSeconds: new(1800.0), Late: "tail"}
	if diff := cmp.Diff(wantBooked, booked); diff != "" {
		t.Errorf("appointments (-want +got):\n%s", diff)
	}
}

// TestDefaultsKeepWhatIsGiven: zero, false and "" are settings where a pointer
// stands, and settings in force do not change when they are applied again.
func TestDefaultsKeepWhatIsGiven(t *testing.T) {
	t.Parallel()
	site, queue, counter := parse[dengxu.Site](t, fullSite), parse[dengxu.Queue](t, fullQueue), parse[dengxu.Counter](t, fullCounter)
	for _, v := range []any{site, queue, counter} {
		wantEveryFieldGiven(t, reflect.ValueOf(v))
	}
	for _, c := range []struct{ given, got any }{
		{site, site.WithDefaults()}, {queue, queue.WithDefaults()}, {counter, counter.WithDefaults()},
	} {
		if diff := cmp.Diff(c.given, c.got); diff != "" {
			t.Errorf("%T changed (-given +got):\n%s", c.given, diff)
		}
	}
	once := dengxu.Queue{}.WithDefaults()
	if diff := cmp.Diff(once, once.WithDefaults()); diff != "" {
		t.Errorf("the second time changed (-once +twice):\n%s", diff)
	}
}

// wantEveryFieldGiven fails for a new setting that the texts above do not have.
func wantEveryFieldGiven(t *testing.T, v reflect.Value) {
	t.Helper()
	for field, value := range v.Fields() {
		if value.IsZero() {
			t.Errorf("%s.%s is not given in this test", v.Type().Name(), field.Name)
		}
	}
}

func TestDefaultsShareNothing(t *testing.T) {
	t.Parallel()
	site, queue, counter := parse[dengxu.Site](t, fullSite), parse[dengxu.Queue](t, fullQueue), parse[dengxu.Counter](t, fullCounter)
	wantNothingShared(t, reflect.ValueOf(site), reflect.ValueOf(site.WithDefaults()), "Site")
	wantNothingShared(t, reflect.ValueOf(queue), reflect.ValueOf(queue.WithDefaults()), "Queue")
	wantNothingShared(t, reflect.ValueOf(counter), reflect.ValueOf(counter.WithDefaults()), "Counter")
}

func wantNothingShared(t *testing.T, a, b reflect.Value, path string) {
	t.Helper()
	switch a.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Slice:
		if a.IsNil() {
			return
		}
		// All empty slices may have one address.
		empty := a.Kind() == reflect.Slice && a.Len() == 0
		if !empty && a.Pointer() == b.Pointer() {
			t.Errorf("%s is shared", path)
			return
		}
	}
	switch a.Kind() {
	case reflect.Pointer:
		wantNothingShared(t, a.Elem(), b.Elem(), path)
	case reflect.Map:
		for key, value := range a.Seq2() {
			wantNothingShared(t, value, b.MapIndex(key), fmt.Sprintf("%s[%v]", path, key))
		}
	case reflect.Slice:
		for i := range a.Len() {
			wantNothingShared(t, a.Index(i), b.Index(i), fmt.Sprintf("%s[%d]", path, i))
		}
	case reflect.Struct:
		for field, value := range a.Fields() {
			wantNothingShared(t, value, b.FieldByIndex(field.Index), path+"."+field.Name)
		}
	}
}

var documentedDefault = regexp.MustCompile(`(?:^|; )default ([\w.]+)`)

// TestDefaultsAreDocumented holds the doc tags, from which the API's schema is
// made, against what WithDefaults does.
func TestDefaultsAreDocumented(t *testing.T) {
	t.Parallel()
	queue := dengxu.Queue{
		Groups: map[string]dengxu.Group{"ordinary": {}},
		Fields: []dengxu.Field{{Name: "name"}},

		Appointments: &dengxu.Appointments{},
	}.WithDefaults()
	documented := 0
	for _, v := range []any{
		dengxu.Site{}.WithDefaults(), queue, dengxu.Counter{}.WithDefaults(),
		queue.Groups["ordinary"], queue.Fields[0], *queue.Missed, *queue.Defer, *queue.CheckIn, *queue.Ask, *queue.Appointments,
	} {
		for field, value := range reflect.ValueOf(v).Fields() {
			want := field.Tag.Get("default")
			if m := documentedDefault.FindStringSubmatch(field.Tag.Get("doc")); m != nil {
				want = m[1]
			}
			if want == "" || want == "the" { // "the prefix": not a value
				continue
			}
			documented++
			got, err := json.Marshal(value.Interface())
			if err != nil || strings.Trim(string(got), `"`) != want {
				t.Errorf("%T.%s is documented as %s and gets %s, %v", v, field.Name, want, got, err)
			}
		}
	}
	if documented < 25 {
		t.Errorf("found %d documented defaults: the pattern no longer matches the tags", documented)
	}
}

package httpapi

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/dengxu/dengxu"
)

// TestReplay: a repeat with the same key has one effect and the same answer;
// another body, another caller and no key do not share it.
func TestReplay(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	var first, again, other dengxu.Ticket
	a := r.must("kiosk@hall", post, "/queue/main/join", `{"name":"Anna"}`, 201, &first, headerKey, "one")
	if a.header.Get(headerReplayed) != "" {
		t.Error("the first answer says that it is a repeat")
	}
	a = r.must("kiosk@hall", post, "/v1/queue/main/join", `{"name":"Anna"}`, 200, &again, headerKey, "one")
	if first.ID != again.ID || first.Number != again.Number || a.header.Get(headerReplayed) != "true" {
		t.Errorf("%v was repeated as %v, header %q", first, again, a.header.Get(headerReplayed))
	}
	p := r.refused("kiosk@hall", post, "/queue/main/join", `{"name":"Bo"}`, dengxu.Invalid, headerKey, "one")
	if p.Reason != "idempotency_key_reused" {
		t.Errorf("reason %q", p.Reason)
	}
	r.refused("kiosk@hall", post, "/queue/side/join", `{"name":"Anna"}`, dengxu.Invalid, headerKey, "one")
	r.must("operator@hall", post, "/queue/main/join", `{"name":"Anna"}`, 201, &other, headerKey, "one")
	if other.ID == first.ID {
		t.Error("another caller's key gave this caller's token")
	}
	var called, recalled dengxu.Token
	r.must("operator@hall", post, "/counter/1/call_next", "", 200, &called, headerKey, "call")
	a = r.must("operator@hall", post, "/counter/1/call_next", "", 200, &recalled, headerKey, "call")
	if called.ID != first.ID || recalled.ID != first.ID || a.header.Get(headerReplayed) != "true" {
		t.Errorf("call of %s was repeated as %s", called.Number, recalled.Number)
	}
	r.must("operator@hall", post, "/token/"+string(first.ID)+"/complete", `{}`, 200, nil, headerKey, "done")
	if done := r.must("operator@hall", post, "/token/"+string(first.ID)+"/complete", `{}`, 200, nil, headerKey, "done"); done.header.Get(headerReplayed) != "true" {
		t.Error("a repeated verb does not say so")
	}
}

// TestNobodyToCall: 204 with its reason, which no key remembers.
func TestNobodyToCall(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	a := r.must("operator@hall", post, "/counter/1/call_next", "", 204, nil, headerKey, "k")
	if got := a.header.Get(headerReason); got != "none_waiting" || len(a.body) != 0 {
		t.Errorf("reason %q, body %q", got, a.body)
	}
	r.join("main", `{}`)
	r.must("operator@hall", post, "/counter/1/call_next", "", 200, nil, headerKey, "k")
	p := r.refused("operator@hall", post, "/counter/1/call_next", "", dengxu.Conflict)
	if p.Token == nil || p.Token.Number != "A001" {
		t.Errorf("a busy counter's refusal names %v", p.Token)
	}
}

// TestLongPoll: a call waits for somebody, completes what it has to once, and
// gives up when its time is over or the server stops.
func TestLongPoll(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.join("main", `{}`)
	first := r.call("1")
	answered := make(chan *answer)
	go func() {
		answered <- r.do("operator@hall", post, "/queue/main/counter/1/call_next?wait_seconds=30", `{"current":"complete","version":2}`)
	}()
	for {
		var now dengxu.Token
		r.must("admin", get, "/token/"+string(first.ID), "", 200, &now)
		if now.State == dengxu.StateCompleted {
			break
		}
	}
	select {
	case a := <-answered:
		t.Fatalf("it did not wait: %d %s", a.status, a.body)
	default:
	}
	r.join("side", `{}`)
	second := r.join("main", `{}`)
	var called dengxu.Token
	a := <-answered
	if err := json.Unmarshal(a.body, &called); err != nil || a.status != 200 || called.ID != second.ID {
		t.Fatalf("%d %s, want %s", a.status, a.body, second.Number)
	}
	began := time.Now()
	a = r.must("operator@hall", post, "/counter/1/call_next?wait_seconds=1", `{"current":"complete"}`, 204, nil)
	if took := time.Since(began); took < time.Second || a.header.Get(headerReason) != "none_waiting" {
		t.Errorf("after %v: %q", took, a.header.Get(headerReason))
	}
	r.refused("operator@hall", post, "/counter/1/call_next?wait_seconds=31", "", dengxu.Invalid)
	go func() { answered <- r.do("operator@hall", post, "/counter/1/call_next?wait_seconds=30", "") }()
	r.stop()
	switch a := <-answered; a.status {
	case 204, 503: // it waited already, or came when the server had stopped
	default:
		t.Errorf("the stop answered %d %s", a.status, a.body)
	}
}

func TestPositionETag(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.join("main", `{}`)
	ticket := r.join("main", `{}`)
	path := "/queue/token/" + string(ticket.ID) + "/position"
	var p dengxu.Position
	a := r.must("", get, path, "", 200, &p)
	tag := a.header.Get("ETag")
	if p.Rank == nil || *p.Rank != 1 || !strings.HasPrefix(tag, `W/"`) {
		t.Fatalf("rank %v, tag %q", p.Rank, tag)
	}
	if a = r.must("", get, path, "", 304, nil, "If-None-Match", `"x", `+tag); len(a.body) != 0 {
		t.Errorf("304 with %q", a.body)
	}
	r.call("1")
	if a = r.must("", get, path, "", 200, &p, "If-None-Match", tag); *p.Rank != 0 || a.header.Get("ETag") == tag {
		t.Errorf("rank %d after a call, tag %q", *p.Rank, a.header.Get("ETag"))
	}
}

// TestPublicJoin: without a key only what the queue names.
func TestPublicJoin(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	path := "/queue/open/join"
	for _, ok := range []string{`{}`, `{"name":"Anna","class":"first","channel":"web"}`, `{"ext_attrs":{"floor":3}}`} {
		r.must("", post, path, ok, 201, nil)
	}
	var tokens dengxu.TokenPage
	r.must("admin", get, "/queue/open/tokens", "", 200, &tokens)
	for _, tok := range tokens.Items {
		if tok.Channel != "web" {
			t.Errorf("channel %q", tok.Channel)
		}
	}
	for field, body := range map[string]string{
		"business_id": `{"business_id":"patient-42"}`, "priority_group": `{"priority_group":"VIP"}`, "class": `{"class":"return"}`,
		"phone": `{"phone":"123"}`, "party_size": `{"party_size":4}`, "note": `{"note":"x"}`, "channel": `{"channel":"staff"}`,
		"delay_seconds": `{"delay_seconds":5}`, "run_at": `{"run_at":"2030-01-01T00:00:00Z"}`, "appointment_at": `{"appointment_at":"2030-01-01T00:00:00Z"}`, "ext_attrs.vip_level": `{"ext_attrs":{"floor":1,"vip_level":9}}`,
		"ext_attrs.name": `{"ext_attrs":{"name":"not the name of the token"}}`,
	} {
		if p := r.refused("", post, path, body, dengxu.Forbidden); p.Field != field {
			t.Errorf("%s blames %q", body, p.Field)
		}
	}
	r.refused("", post, "/queue/main/join", `{}`, dengxu.Unauthenticated)
	r.refused("", post, "/site/hall/join", `{"queues":["open","main"]}`, dengxu.Unauthenticated)
	r.must("", post, "/site/hall/join", `{"queues":["open","here"],"name":"Anna"}`, 201, nil)
	r.must("admin", put, "/queue/noted", `{"site":"hall","prefix":"N","fields":[{"name":"note","required":true}],"public_join":{"fields":["note"]}}`, 201, nil)
	r.must("", post, "/queue/noted/join", `{"note":"by the door"}`, 201, nil)
	r.must("admin", put, "/queue/booked", `{"site":"hall","prefix":"B","appointments":{},"public_join":{"fields":["appointment_at"]}}`, 201, nil)
	var booked dengxu.Ticket
	r.must("", post, "/queue/booked/join", `{"appointment_at":"2030-01-01T00:00:00Z"}`, 201, &booked)
	if booked.State != dengxu.StateScheduled || booked.AppointmentAt.Year() != 2030 || booked.NotBefore.IsZero() {
		t.Errorf("booked %+v", booked)
	}
	r.refused("display@hall", post, path, `{}`, dengxu.Forbidden)
}

// TestLoopbackJoin: "loopback" holds for this machine's own name only, and not
// through a proxy.
func TestLoopbackJoin(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for host, want := range map[string]int{
		"localhost": 201, "127.0.0.1:8080": 201, "[::1]:80": 201, "LOCALHOST:1": 201, "example.com": 401, "localhost.example.com": 401,
	} {
		req := httptest.NewRequest(post, "/queue/here/join", strings.NewReader(`{"business_id":"me"}`))
		req.Host = host
		if want == 201 {
			req.Body = http.NoBody
			req.ContentLength = 0
		}
		w := httptest.NewRecorder()
		r.server.ServeHTTP(w, req)
		if w.Code != want {
			t.Errorf("host %s: %d %s", host, w.Code, w.Body)
		}
	}
	r.refused("", post, "/queue/here/join", `{}`, dengxu.Unauthenticated, "X-Forwarded-For", "203.0.113.7")
}

// TestHolderVerbs: the token id is the credential, the answer a position; an
// operator who acts there acts as himself.
func TestHolderVerbs(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ticket := r.join("main", `{"name":"Anna"}`)
	base := "/queue/token/" + string(ticket.ID)
	r.call("1")
	var p dengxu.Position
	a := r.must("", post, base+"/confirm", "", 200, &p)
	if p.State != dengxu.StateCalling || strings.Contains(string(a.body), "Anna") {
		t.Errorf("confirmed: %s", a.body)
	}
	again := r.refused("", post, base+"/confirm", "", dengxu.Conflict)
	if again.Token == nil || again.Token.Name != "" || again.Token.ID != ticket.ID || again.Token.State != dengxu.StateCalling {
		t.Errorf("the holder's refusal shows %+v", again.Token)
	}
	r.must("display@hall", post, base+"/defer", "", 200, &p)
	if p.State != dengxu.StateScheduled {
		t.Errorf("deferred: %s", p.State)
	}
	r.must("operator@hall", post, base+"/cancel", `{"reason":"phoned"}`, 200, &p)
	if p.State != dengxu.StateCancelled {
		t.Errorf("cancelled: %s", p.State)
	}
	var acts dengxu.List[dengxu.Event]
	r.must("admin", get, "/actions?site=hall&limit=1", "", 200, &acts)
	if len(acts.Items) != 1 || acts.Items[0].Type != dengxu.EventCancelled || acts.Items[0].Actor != "key:operator-hall" {
		t.Errorf("actions: %+v", acts.Items)
	}
}

// TestActionsPage pages through who did what, newest first.
func TestActionsPage(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for range 5 {
		r.must("kiosk@hall", post, "/queue/main/join", "", 201, nil)
		r.must("", post, "/queue/open/join", "", 201, nil)
	}
	var numbers []string
	for cursor := ""; ; {
		var list dengxu.List[dengxu.Event]
		r.must("admin", get, "/actions?site=hall&actor=key:kiosk-hall&limit=2&cursor="+cursor, "", 200, &list)
		for _, e := range list.Items {
			numbers = append(numbers, e.Number)
		}
		if cursor = list.NextCursor; cursor == "" {
			break
		}
	}
	if got := strings.Join(numbers, " "); got != "A005 A004 A003 A002 A001" {
		t.Errorf("actions %s", got)
	}
	r.refused("admin", get, "/actions?cursor=nonsense", "", dengxu.Invalid)
	r.refused("admin@hall", get, "/actions?site=annex", "", dengxu.NotFound)
}

// TestKeyForOneQueue reaches that queue, and no counter that calls from others.
func TestKeyForOneQueue(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.must("admin", put, "/counter/2", `{"site":"hall","queues":["main","side"]}`, 201, nil)
	r.key("one", dengxu.Key{Role: dengxu.RoleOperator, Queues: []dengxu.QueueID{"main"}})
	r.key("boss", dengxu.Key{Role: dengxu.RoleAdmin, Queues: []dengxu.QueueID{"main"}})
	mine, theirs := r.join("main", `{}`), r.join("side", `{}`)
	r.must("one", get, "/token/"+string(mine.ID), "", 200, nil)
	r.refused("one", get, "/token/"+string(theirs.ID), "", dengxu.NotFound)
	r.must("one", post, "/queue/main/counter/1/call_next", "", 200, nil)
	r.must("one", post, "/token/"+string(mine.ID)+"/hold", "", 200, nil)
	r.refused("one", post, "/token/"+string(mine.ID)+"/resume", `{"counter_id":"2"}`, dengxu.NotFound)
	r.refused("one", post, "/token/"+string(mine.ID)+"/transfer", `{"queue_id":"main","counter_id":"2"}`, dengxu.NotFound)
	r.must("one", post, "/token/"+string(mine.ID)+"/resume", `{"counter_id":"1"}`, 200, nil)
	r.refused("one", post, "/queue/main/counter/2/call_next", "", dengxu.NotFound)
	r.refused("one", post, "/counter/2/call_next", "", dengxu.NotFound)
	r.refused("one", post, "/token/"+string(mine.ID)+"/transfer", `{"queue_id":"side"}`, dengxu.NotFound)
	r.refused("one", post, "/site/hall/join", `{"queues":["main","side"]}`, dengxu.NotFound)
	r.must("one", post, "/site/hall/join", `{"queues":["main"]}`, 201, nil)
	for path, want := range map[string]string{"/queues": "main", "/counters": "1", "/sites": "hall"} {
		var list dengxu.List[struct{ ID string }]
		r.must("one", get, path, "", 200, &list)
		if len(list.Items) != 1 || list.Items[0].ID != want {
			t.Errorf("%s shows %v", path, list.Items)
		}
	}
	var page dengxu.TokenPage
	r.must("one", get, "/site/hall/tokens", "", 200, &page)
	for _, tok := range page.Items {
		if tok.QueueID != "main" {
			t.Errorf("the site's tokens show %s", tok.QueueID)
		}
	}
	r.refused("boss", put, "/site/hall", `{}`, dengxu.NotFound)
	r.refused("boss", patchM, "/counter/1", `{"queues":["side"]}`, dengxu.Forbidden)
	r.refused("boss", put, "/queue/new", `{"site":"hall"}`, dengxu.NotFound)
	r.refused("admin@hall", put, "/queue/new", `{"site":"annex"}`, dengxu.NotFound)
	r.must("admin@hall", put, "/queue/new", `{"site":"hall"}`, 201, nil)
}

// TestSettingsTags: ETag and If-Match agree, lists page.
func TestSettingsTags(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	a := r.must("admin", get, "/queue/main", "", 200, nil)
	tag := a.header.Get("ETag")
	a = r.must("admin", patchM, "/queue/main", `{"name":"Main"}`, 200, nil, "If-Match", tag)
	r.refused("admin", patchM, "/queue/main", `{"name":"Again"}`, dengxu.Conflict, "If-Match", tag)
	r.must("admin", del, "/queue/side", "", 204, nil)
	if next := a.header.Get("ETag"); next == tag || next == "" {
		t.Errorf("tag %q became %q", tag, next)
	}
	var ids []string
	for cursor := ""; ; {
		var list dengxu.List[struct{ ID string }]
		r.must("admin", get, "/queues?site=hall&limit=2&cursor="+cursor, "", 200, &list)
		for _, q := range list.Items {
			ids = append(ids, q.ID)
		}
		if cursor = list.NextCursor; cursor == "" {
			break
		}
	}
	if got := strings.Join(ids, " "); got != "here main open" {
		t.Errorf("queues %s", got)
	}
	for _, query := range []string{"limit=201", "limit=0", "limit=x", "cursor=%21"} {
		r.refused("admin", get, "/queues?"+query, "", dengxu.Invalid)
	}
	for _, id := range []string{"token", "a%7Bb%7D", "a%20b", "%E9%98%9F", strings.Repeat("q", 65)} {
		r.refused("admin", put, "/queue/"+id, `{"site":"hall"}`, dengxu.Invalid)
	}
	r.refused("admin", get, "/token/A001", "", dengxu.NotFound)
	r.refused("admin", get, "/queue/main/tokens?state=nonsense", "", dengxu.Invalid)
	r.must("admin", get, "/queue/main/tokens?state=waiting,calling", "", 200, nil)
	r.refused("admin", get, "/queue/main/stats?bucket=1", "", dengxu.Invalid)
	r.refused("admin", get, "/queue/main/stats?bucket=NaN", "", dengxu.Invalid)
}

// TestSettingsForms: what has a JSON form of its own passes the schema, and
// what is wrong in it is blamed on its field.
func TestSettingsForms(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	var site struct {
		Hours json.RawMessage `json:"opening_hours"`
	}
	hours := `{"mon-sun":["00:00-24:00"],"dates":{"2026-10-01":"closed"},"last_ticket_before_seconds":60}`
	r.must("admin", put, "/site/hours", `{"time_zone":"UTC","opening_hours":`+hours+`}`, 201, &site)
	if !strings.Contains(string(site.Hours), `"closed"`) {
		t.Errorf("hours came back as %s", site.Hours)
	}
	r.must("admin", put, "/counter/3", `{"site":"hall","queues":["main",{"id":"open","classes":["first"]}]}`, 201, nil)
	for field, at := range map[string]struct{ path, body string }{
		"opening_hours":  {"/site/hours", `{"opening_hours":{"monday":["08:00-12:00"]}}`},
		"public_join":    {"/queue/side", `{"site":"hall","prefix":"B","public_join":"always"}`},
		"min_factor":     {"/queue/side", `{"site":"hall","prefix":"B","min_factor":"x"}`},
		"queues[0].name": {"/counter/3", `{"site":"hall","queues":[{"id":"main","name":"x"}]}`},
	} {
		if p := r.refused("admin", put, at.path, at.body, dengxu.Invalid); !strings.HasPrefix(p.Field, strings.Split(field, "[")[0]) {
			t.Errorf("%s blames %q (%s)", at.body, p.Field, p.Detail)
		}
	}
}

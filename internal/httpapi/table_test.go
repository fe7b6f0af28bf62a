package httpapi

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dengxu/dengxu"
)

// sample is a request of a route that would be carried out, or refused only by
// the state of the token.
type sample struct {
	path  string // placeholders filled in; $waiting and $calling are tokens
	body  string
	stale string // a body with a version that is not there any more; "" = it has none
	match bool   // has If-Match
}

// samples has one row for every mutating route; TestTable fails without it.
var samples = map[string]sample{
	"join":      {path: "/queue/main/join", body: `{"name":"Li Hua"}`},
	"join-site": {path: "/site/hall/join", body: `{"queues":["main","side"]}`},

	"holder-cancel":   {path: "/queue/token/$waiting/cancel", body: `{}`, stale: `{"version":99}`},
	"holder-defer":    {path: "/queue/token/$waiting/defer", body: `{}`, stale: `{"version":99}`},
	"holder-check_in": {path: "/queue/token/$waiting/check_in", body: `{}`, stale: `{"version":99}`},
	"holder-confirm":  {path: "/queue/token/$calling/confirm", body: `{}`, stale: `{"version":99}`},
	"holder-rate":     {path: "/queue/token/$waiting/rate", body: `{"stars":5}`, stale: `{"stars":5,"version":99}`},

	"call-next-of-queue": {path: "/queue/main/counter/1/call_next", body: `{"current":"complete"}`, stale: `{"current":"complete","version":99}`},
	"call-next":          {path: "/counter/1/call_next", body: `{"current":"complete"}`, stale: `{"current":"complete","version":99}`},
	"call-token":         {path: "/counter/1/call/$waiting", body: `{"reason":"hurry"}`, stale: `{"reason":"hurry","version":99}`},

	"recall":    {path: "/token/$calling/recall", body: `{}`, stale: `{"version":99}`},
	"start":     {path: "/token/$calling/start", body: `{}`, stale: `{"version":99}`},
	"complete":  {path: "/token/$calling/complete", body: `{}`, stale: `{"version":99}`},
	"miss":      {path: "/token/$calling/miss", body: `{}`, stale: `{"version":99}`},
	"requeue":   {path: "/token/$calling/requeue", body: `{}`, stale: `{"version":99}`},
	"hold":      {path: "/token/$calling/hold", body: `{}`, stale: `{"version":99}`},
	"resume":    {path: "/token/$calling/resume", body: `{}`, stale: `{"version":99}`},
	"transfer":  {path: "/token/$calling/transfer", body: `{"queue_id":"side"}`, stale: `{"queue_id":"side","version":99}`},
	"reinstate": {path: "/token/$waiting/reinstate", body: `{}`, stale: `{"version":99}`},
	"move":      {path: "/token/$waiting/move", body: `{"place":"tail","reason":"asked"}`, stale: `{"place":"tail","reason":"asked","version":99}`},
	"cancel":    {path: "/token/$waiting/cancel", body: `{}`, stale: `{"version":99}`},
	"abandon":   {path: "/token/$waiting/abandon", body: `{}`, stale: `{"version":99}`},
	"undo":      {path: "/token/$waiting/undo", body: `{}`, stale: `{"version":99}`},
	"edit":      {path: "/token/$waiting", body: `{"note":"wheelchair"}`, stale: `{"note":"wheelchair","version":99}`},

	"put-site":       {path: "/site/hall", body: `{"time_zone":"UTC","name":"Hall"}`, match: true},
	"patch-site":     {path: "/site/hall", body: `{"name":"Hall"}`, match: true},
	"delete-site":    {path: "/site/hall", match: true},
	"put-queue":      {path: "/queue/side", body: `{"site":"hall","prefix":"B","name":"Side"}`, match: true},
	"patch-queue":    {path: "/queue/side", body: `{"name":"Side"}`, match: true},
	"delete-queue":   {path: "/queue/side", match: true},
	"put-counter":    {path: "/counter/1", body: `{"site":"hall","queues":["main"],"name":"One"}`, match: true},
	"patch-counter":  {path: "/counter/1", body: `{"name":"One"}`, match: true},
	"delete-counter": {path: "/counter/1", match: true},
	"put-key":        {path: "/key/kiosk-hall", body: `{"role":"kiosk"}`, match: true},
	"delete-key":     {path: "/key/kiosk-hall", match: true},

	"test-rules":    {path: "/queue/main/rules/test", body: `{"holders":[{"party_size":2}]}`},
	"reapply-rules": {path: "/queue/main/rules/reapply"},

	"load-model":   {path: "/queue/main/model", body: `{"model":{"version":1}}`},
	"forget-model": {path: "/queue/main/model"},
	"train-model":  {path: "/queue/main/model/train"},

	"open-queue":    {path: "/queue/main/open", body: `{}`},
	"pause-queue":   {path: "/queue/main/pause", body: `{"reason":"lunch"}`},
	"close-queue":   {path: "/queue/main/close", body: `{}`},
	"open-counter":  {path: "/counter/1/open", body: `{}`},
	"pause-counter": {path: "/counter/1/pause", body: `{"reason":"lunch"}`},
	"close-counter": {path: "/counter/1/close", body: `{"current":"hold"}`},
}

// reads has one row for every other route that needs a key.
var reads = map[string]string{
	"position": "/queue/token/$waiting/position", "position-stream": "/queue/token/$waiting/stream",
	"token": "/token/$waiting", "explain": "/token/$waiting/explain", "history": "/token/$waiting/history",
	"queue-tokens": "/queue/main/tokens", "estimate": "/queue/main/estimate", "stats": "/queue/main/stats",
	"site-tokens": "/site/hall/tokens", "actions": "/actions?site=hall", "events": "/events?site=hall",
	"sites": "/sites", "queues": "/queues", "counters": "/counters", "keys": "/keys",
	"site": "/site/hall", "queue": "/queue/main", "counter": "/counter/1", "key": "/key/kiosk-hall", "audit": "/audit", "export": "/export",
	"model": "/queue/main/model", "lessons": "/queue/main/lessons",
}

// table is the rig of the generated tests.
type table struct {
	*rig
	waiting, calling dengxu.TokenID
}

func newTable(t *testing.T) *table {
	t.Helper()
	r := newRig(t)
	r.join("main", `{"name":"Anna"}`)
	calling := r.call("1").ID
	r.join("side", `{}`)
	return &table{rig: r, calling: calling, waiting: r.join("main", `{"name":"Bo"}`).ID}
}

func (tb *table) fill(path string) string {
	return strings.NewReplacer("$waiting", string(tb.waiting), "$calling", string(tb.calling)).Replace(path)
}

// unknown is the path with ids that nobody has.
func unknown(r *route) string {
	return strings.NewReplacer("{queue_id}", "nowhere", "{site_id}", "nowhere", "{counter_id}", "nowhere",
		"{key_id}", "nowhere", "{token_id}", "0000000000000000000000000x").Replace(r.path)
}

// other is the key of the other site that the route's roles allow.
func other(r *route) string { return string(r.roles[len(r.roles)-1]) + "@annex" }

var roles = []dengxu.Role{dengxu.RoleAdmin, dengxu.RoleOperator, dengxu.RoleKiosk, dengxu.RoleWorker, dengxu.RoleDisplay}

// TestTable sends to every mutating route what it must refuse, and holds the
// code and that nothing was changed.
func TestTable(t *testing.T) {
	t.Parallel()
	tb := newTable(t)
	before := tb.state()
	for i := range tb.server.routes {
		r := &tb.server.routes[i]
		if !r.mutates {
			continue
		}
		s, ok := samples[r.id]
		if !ok {
			t.Errorf("%s has no sample", r.id)
			continue
		}
		path := tb.fill(s.path)
		tb.credentials(r, path, s)
		tb.bodies(r, path, s)
		if !r.creates {
			tb.refused("admin", r.method, unknown(r), s.body, dengxu.NotFound)
		}
		if s.stale != "" {
			tb.refused("admin", r.method, path, s.stale, dengxu.Conflict)
		}
		if s.match {
			tb.refused("admin", r.method, path, s.body, dengxu.Conflict, "If-Match", `"99"`)
			tb.refused("admin", r.method, path, s.body, dengxu.Invalid, "If-Match", "x")
		}
		tb.refused("admin", r.method, path, s.body, dengxu.Invalid, headerKey, strings.Repeat("k", 129))
		tb.refused("admin", r.method, path+"?nonsense=1", s.body, dengxu.Invalid)
		if after := tb.state(); after != before {
			t.Fatalf("%s: a refused request changed something", r.id)
		}
	}
	for id := range samples {
		if !slices.ContainsFunc(tb.server.routes, func(r route) bool { return r.id == id && r.mutates }) {
			t.Errorf("the sample of %s has no route", id)
		}
	}
}

// credentials tries the route without a key, with wrong ones, and from the
// other site.
func (tb *table) credentials(r *route, path string, s sample) {
	if !r.holder {
		tb.refused("", r.method, path, s.body, dengxu.Unauthenticated)
		tb.refused(other(r), r.method, path, s.body, map[bool]dengxu.Code{true: dengxu.Forbidden, false: dengxu.NotFound}[r.scope == onServer])
		for _, role := range roles {
			if !slices.Contains(r.roles, role) {
				tb.refused(string(role)+"@hall", r.method, path, s.body, dengxu.Forbidden)
			}
		}
	}
	// A wrong key in the header is refused everywhere, also the id of a token.
	tb.refused(string(tb.waiting), r.method, path, s.body, dengxu.Unauthenticated)
	tb.refused("dx_nobody_0000000000000000", r.method, path, s.body, dengxu.Unauthenticated)
}

// bodies tries what no body may be.
func (tb *table) bodies(r *route, path string, s sample) {
	bad := []string{
		`{"name":`, `[]`, `"text"`, `{"nonsense":1}`, `{"name":"a","name":"b"}`, "{\"name\":\"\xff\"}", `{} {}`, `{"n":1e999}`,
		strings.Repeat(`{"a":`, 10_000) + "1" + strings.Repeat("}", 10_000),
		`{"name":"` + strings.Repeat("x", 64<<10) + `"}`,
	}
	for _, body := range bad {
		tb.refused("admin", r.method, path, body, dengxu.Invalid)
	}
}

// TestReadTable holds every read to its roles and scopes.
func TestReadTable(t *testing.T) {
	t.Parallel()
	tb := newTable(t)
	for i := range tb.server.routes {
		r := &tb.server.routes[i]
		if r.mutates || r.public {
			continue
		}
		path, ok := reads[r.id]
		if !ok {
			t.Errorf("%s has no sample", r.id)
			continue
		}
		path = tb.fill(path)
		tb.refused(string(tb.waiting), r.method, path, "", dengxu.Unauthenticated)
		if strings.Contains(r.path, "{") {
			tb.refused("admin", r.method, unknown(r), "", dengxu.NotFound)
		}
		if r.holder {
			continue
		}
		tb.refused("", r.method, path, "", dengxu.Unauthenticated)
		for _, role := range roles {
			if !slices.Contains(r.roles, role) {
				tb.refused(string(role)+"@hall", r.method, path, "", dengxu.Forbidden)
			}
		}
		switch {
		case r.scope == onServer:
			tb.refused(other(r), r.method, path, "", dengxu.Forbidden)
		case r.scope != onNothing || strings.Contains(path, "site="):
			tb.refused(other(r), r.method, path, "", dengxu.NotFound)
		case r.id == "sites" || r.id == "queues" || r.id == "counters":
			if a := tb.do(other(r), r.method, path, ""); a.status != 200 || strings.Contains(string(a.body), "hall") {
				t.Errorf("%s shows the other site: %d %s", r.id, a.status, a.body)
			}
		default:
			t.Errorf("%s: nothing holds it to its scope", r.id)
		}
		if !r.stream {
			tb.must("admin", r.method, path, "", 200, nil)
		}
	}
}

// TestOutOfScopeReadsAsUnknown: an answer must not tell that something exists
// which the key may not see.
func TestOutOfScopeReadsAsUnknown(t *testing.T) {
	t.Parallel()
	tb := newTable(t)
	compared := 0
	for i := range tb.server.routes {
		r := &tb.server.routes[i]
		if r.scope == onNothing || r.scope == onServer || r.creates || r.holder {
			continue
		}
		s, sampled := samples[r.id]
		if !sampled {
			s.path = reads[r.id]
		}
		theirs := tb.do(other(r), r.method, tb.fill(s.path), s.body).problem(t)
		none := tb.do(other(r), r.method, unknown(r), s.body).problem(t)
		theirs.Detail, none.Detail = kindOf(theirs.Detail), kindOf(none.Detail)
		theirs.RequestID, none.RequestID = "", ""
		if diff := cmp.Diff(none, theirs); diff != "" {
			t.Errorf("%s (-unknown +out of scope):\n%s", r.id, diff)
		}
		compared++
	}
	if compared < 20 {
		t.Errorf("only %d routes were compared", compared)
	}
}

// kindOf leaves the id out of "no queue main".
func kindOf(detail string) string { return strings.Join(strings.Fields(detail)[:2], " ") }

// TestSamplesWork shows that the table's requests are refused for the reason
// tested, and not because no such request could work: each is carried out once,
// or refused by the state of the token.
func TestSamplesWork(t *testing.T) {
	t.Parallel()
	for _, id := range []string{
		"join", "join-site", "holder-cancel", "holder-defer", "holder-confirm", "call-next-of-queue", "call-next",
		"start", "complete", "miss", "requeue", "hold", "transfer", "move", "cancel", "abandon", "edit",
		"put-site", "patch-site", "put-queue", "patch-queue", "put-counter", "patch-counter", "put-key", "delete-key",
		"open-queue", "pause-queue", "close-queue", "open-counter", "pause-counter", "close-counter", "forget-model",
	} {
		t.Run(id, func(t *testing.T) {
			t.Parallel()
			tb := newTable(t)
			before := tb.state()
			s := samples[id]
			i := slices.IndexFunc(tb.server.routes, func(r route) bool { return r.id == id })
			a := tb.do("admin", tb.server.routes[i].method, tb.fill(s.path), s.body)
			if a.status != tb.server.routes[i].success() {
				t.Fatalf("%d %s", a.status, a.body)
			}
			if tb.state() == before && id != "open-queue" && id != "open-counter" {
				t.Error("nothing was changed")
			}
		})
	}
}

// TestRolesReachWhatTheyMay is the other half of the table: a key of the right
// role and site is not refused for its credential.
func TestRolesReachWhatTheyMay(t *testing.T) {
	t.Parallel()
	tb := newTable(t)
	for i := range tb.server.routes {
		r := &tb.server.routes[i]
		s, ok := samples[r.id]
		if !ok || r.scope == onServer {
			continue
		}
		for _, role := range r.roles {
			// An unknown field comes after the credential and changes nothing.
			p := tb.do(string(role)+"@hall", r.method, tb.fill(s.path), `{"nonsense":1}`).problem(t)
			if p.Code != dengxu.Invalid {
				t.Errorf("%s as %s: %s %s", r.id, role, p.Code, p.Detail)
			}
		}
	}
}

func TestNoSuchOperation(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for _, at := range []struct{ method, path string }{
		{get, "/"}, {get, "/nonsense"}, {del, "/queue/main/join"}, {get, "/queue/main/join"}, {post, "/v1/nonsense"},
	} {
		a := r.do("admin", at.method, at.path, "")
		if a.status != http.StatusNotFound {
			t.Errorf("%s %s: %d", at.method, at.path, a.status)
			continue
		}
		a.problem(t)
	}
	if got := fmt.Sprint(r.do("", get, "/v1/healthz", "").status, r.do("", get, "/healthz", "").status); got != "200 200" {
		t.Error(got)
	}
}

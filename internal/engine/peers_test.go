package engine

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/store"
)

// feedTo tells a peer of every event of all partitions.
func (r *rig) feedTo(p *rig) {
	r.Helper()
	for i := range r.parts {
		at := store.Cursor{Partition: store.Partition(i)}
		page, err := r.store.Events(r.Context(), at, 1)
		if err != nil {
			r.Fatal(err)
		}
		at.Epoch = page.End.Epoch
		if page, err = r.store.Events(r.Context(), at, 10_000); err != nil {
			r.Fatal(err)
		}
		p.Observe(r.Context(), at.Partition, page.Events)
	}
}

// TestWhatAPeerMakesIsThereAtOnce, without any event having come.
func TestWhatAPeerMakesIsThereAtOnce(t *testing.T) {
	t.Parallel()
	r := peers(t, 2, nil)
	a, b := r[0], r[1]
	_, site := a.sitesApart()
	a.queue("main", `{"site":"`+string(site)+`"}`)
	b.join("main", dengxu.JoinRequest{})
	a.counter("1", `{"site":"`+string(site)+`","queues":["main"]}`)
	token := b.mustCall("1", "A001")
	a.do(dengxu.VerbComplete, token.ID, dengxu.VerbRequest{})
	if _, err := b.Site(t.Context(), site); err != nil {
		t.Error(err)
	}
	done, err := a.PutKey(t.Context(), staffer, "k", dengxu.Key{Role: dengxu.RoleOperator}, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Authenticate(t.Context(), done.Value.Secret); err != nil {
		t.Errorf("a key made by a peer: %v", err)
	}
	if _, err := b.SetAdminSecret(t.Context(), "chosen-by-somebody"); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Authenticate(t.Context(), "chosen-by-somebody"); err != nil {
		t.Errorf("an admin secret set by a peer: %v", err)
	}
	b.clean()
}

// TestARevokedKeyStops when its event comes.
func TestARevokedKeyStops(t *testing.T) {
	t.Parallel()
	r := peers(t, 2, nil)
	a, b := r[0], r[1]
	done, err := a.PutKey(t.Context(), staffer, "k", dengxu.Key{Role: dengxu.RoleOperator}, 0)
	if err != nil {
		t.Fatal(err)
	}
	secret := done.Value.Secret
	if _, err := b.Authenticate(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
	if err := a.DeleteKey(t.Context(), staffer, "k", 0); err != nil {
		t.Fatal(err)
	}
	a.feedTo(b)
	_, err = b.Authenticate(t.Context(), secret)
	wantCode(t, err, dengxu.Unauthenticated, "")
}

// TestAnOldKeyIsNotWrittenBack: a peer that has not heard of it yet changes a
// key that was revoked and made anew under the same id and version.
func TestAnOldKeyIsNotWrittenBack(t *testing.T) {
	t.Parallel()
	r := peers(t, 2, nil)
	a, b := r[0], r[1]
	ctx, set := t.Context(), dengxu.Key{Role: dengxu.RoleOperator}
	old, err := a.PutKey(ctx, staffer, "k", set, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Authenticate(ctx, old.Value.Secret); err != nil {
		t.Fatal(err)
	}
	if err := a.DeleteKey(ctx, staffer, "k", 0); err != nil {
		t.Fatal(err)
	}
	if _, err := a.PutKey(ctx, staffer, "k", set, 0); err != nil {
		t.Fatal(err)
	}
	set.Name = "front"
	if _, err := b.PutKey(ctx, staffer, "k", set, 1); err != nil {
		t.Fatal(err)
	}
	a.feedTo(b)
	for _, p := range r {
		p.Refresh(ctx)
		_, err := p.Authenticate(ctx, old.Value.Secret)
		wantCode(t, err, dengxu.Unauthenticated, "")
	}
}

// TestSettingsShownAreFresh, and If-Match holds against what others wrote.
func TestSettingsShownAreFresh(t *testing.T) {
	t.Parallel()
	r := peers(t, 2, nil)
	a, b := r[0], r[1]
	ctx := t.Context()
	site, _ := a.sitesApart()
	a.queue("main", `{"site":"`+string(site)+`","name":"old"}`)
	if _, err := b.Queue(ctx, "main"); err != nil { // b knows it now
		t.Fatal(err)
	}
	a.queue("main", `{"site":"`+string(site)+`","name":"new"}`)
	if v, err := b.Queue(ctx, "main"); err != nil || v.Name != "new" || v.Version != 2 {
		t.Errorf("%s, version %d, %v", v.Name, v.Version, err)
	}
	a.queue("other", `{"site":"`+string(site)+`"}`)
	if v, err := b.Queues(ctx, site); err != nil || len(v) != 2 {
		t.Errorf("%d queues, %v", len(v), err)
	}
	if v, err := b.Site(ctx, site); err != nil || len(v.Queues) != 2 {
		t.Errorf("%v, %v", v.Queues, err)
	}
	a.queue("main", `{"site":"`+string(site)+`","name":"newer"}`)
	set := setting[dengxu.Queue](t, `{"site":"`+string(site)+`","name":"new"}`)
	if _, err := b.PutQueue(ctx, staffer, "main", set, 2); dengxu.ReasonOf(err) != "if_match" {
		t.Errorf("a version that is over matched: %v", err)
	}
	// To b this looks as if nothing were to change.
	a.queue("main", `{"site":"`+string(site)+`","name":"x"}`)
	b.Refresh(ctx)
	a.queue("main", `{"site":"`+string(site)+`","name":"y"}`)
	set.Name = "x"
	if done, err := b.PutQueue(ctx, staffer, "main", set, 0); err != nil || done.Value.Name != "x" {
		t.Errorf("%s, %v", done.Value.Name, err)
	}
	if v, err := a.Queue(ctx, "main"); err != nil || v.Name != "x" {
		t.Errorf("the change was lost: %s, %v", v.Name, err)
	}
	if done, err := b.PatchQueue(ctx, staffer, "main", json.RawMessage(`{"prefix":"Z"}`), 0); err != nil || done.Value.Name != "x" {
		t.Errorf("%+v, %v", done.Value.Queue, err)
	}
	if err := a.DeleteQueue(ctx, staffer, "other", 0); err != nil {
		t.Fatal(err)
	}
	_, err := b.Queue(ctx, "other")
	wantCode(t, err, dengxu.NotFound, "")
}

// TestARefusalIsReconsidered: what a peer has opened is open.
func TestARefusalIsReconsidered(t *testing.T) {
	t.Parallel()
	r := peers(t, 2, nil)
	a, b := r[0], r[1]
	ctx := t.Context()
	_, site := a.sitesApart()
	a.queue("main", `{"site":"`+string(site)+`"}`)
	a.counter("1", `{"site":"`+string(site)+`","queues":["main"]}`)
	for range 2 {
		if _, err := a.SetDoor(ctx, staffer, "main", "close", dengxu.DoorRequest{Now: true}); err != nil {
			t.Fatal(err)
		}
		_, err := b.Join(ctx, staffer, "main", dengxu.JoinRequest{})
		wantCode(t, err, dengxu.Closed, "closed")
		if _, err := a.SetCounterState(ctx, staffer, "1", "pause", dengxu.DoorRequest{}); err != nil {
			t.Fatal(err)
		}
		_, err = b.CallNext(ctx, staffer, "1", "", dengxu.CallRequest{})
		wantCode(t, err, dengxu.Conflict, "counter_paused")
		if _, err := a.SetDoor(ctx, staffer, "main", "open", dengxu.DoorRequest{}); err != nil {
			t.Fatal(err)
		}
		if _, err := a.SetCounterState(ctx, staffer, "1", "open", dengxu.DoorRequest{}); err != nil {
			t.Fatal(err)
		}
		token := b.join("main", dengxu.JoinRequest{})
		b.mustCall("1", token.Number)
		b.do(dengxu.VerbComplete, token.ID, dengxu.VerbRequest{})
	}
}

// TestAPublicJoinIsJudgedByWhatItIsDecidedOn: it was allowed by settings that a
// peer has changed.
func TestAPublicJoinIsJudgedByWhatItIsDecidedOn(t *testing.T) {
	t.Parallel()
	r := peers(t, 2, nil)
	a, b := r[0], r[1]
	site, _ := a.sitesApart()
	a.queue("main", `{"site":"`+string(site)+`","public_join":{}}`)
	by := By{Kind: Public, Name: "public"}
	by.Check = func() error {
		p, err := b.PublicJoin(t.Context(), "main")
		if err == nil && !p.Allowed {
			err = dengxu.Errorf(dengxu.Unauthenticated, "not any more")
		}
		return err
	}
	if _, err := b.Join(t.Context(), by, "main", dengxu.JoinRequest{}); err != nil {
		t.Fatal(err)
	}
	a.queue("main", `{"site":"`+string(site)+`"}`)
	_, err := b.Join(t.Context(), by, "main", dengxu.JoinRequest{})
	wantCode(t, err, dengxu.Unauthenticated, "")
}

// TestTimersActByFreshSettings: what a call that is not answered leads to was
// changed by a peer.
func TestTimersActByFreshSettings(t *testing.T) {
	t.Parallel()
	r := peers(t, 2, nil)
	a, b := r[0], r[1]
	_, site := a.sitesApart()
	a.queue("main", `{"site":"`+string(site)+`"}`)
	a.counter("1", `{"site":"`+string(site)+`","queues":["main"]}`)
	token := b.join("main", dengxu.JoinRequest{})
	b.mustCall("1", "A001")
	a.queue("main", `{"site":"`+string(site)+`","on_call_timeout":"start"}`)
	b.pass(5 * time.Minute)
	a.state(token.ID, dengxu.StateServing)
	a.clean()
}

// TestLooksForNothingAreBounded: asking for what does not exist reads the store
// some times, and then no more until time has passed.
func TestLooksForNothingAreBounded(t *testing.T) {
	t.Parallel()
	var m misses
	taken := func(now int64) (n int) {
		for m.take(now) {
			n++
		}
		return n
	}
	if n := taken(1_000_000); n != missPurse {
		t.Errorf("%d looks at first, want %d", n, missPurse)
	}
	if n := taken(1_000_000 + 4*missEvery); n != 4 {
		t.Errorf("%d looks after a while, want 4", n)
	}
	if n := taken(1_000_000 + 3_600_000); n != missPurse {
		t.Errorf("%d looks after an hour, want %d", n, missPurse)
	}
}

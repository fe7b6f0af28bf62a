package engine

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dengxu/dengxu"
)

func TestAKeyOpensWithItsSecretOnly(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ctx := t.Context()
	set := dengxu.Key{Name: "front desk", Role: dengxu.RoleOperator, Sites: []dengxu.SiteID{"hall"}, Rights: []string{"pick"}}
	done, err := r.PutKey(ctx, staffer, "front_1", set, 0)
	secret := done.Value.Secret
	if err != nil || !strings.HasPrefix(secret, "dx_front_1_") || len(secret) < len("dx_front_1_")+26 {
		t.Fatalf("%+v, %v", done.Value, err)
	}
	found, err := r.Authenticate(t.Context(), secret)
	if err != nil || found.ID != "front_1" || found.Role != dengxu.RoleOperator || found.Secret != "" {
		t.Fatalf("%+v, %v", found, err)
	}
	for _, wrong := range []string{"", "dx_front_1_", secret + "A", secret[:len(secret)-1], strings.ToLower(secret)} {
		_, err := r.Authenticate(t.Context(), wrong)
		wantCode(t, err, dengxu.Unauthenticated, "")
	}
	docs, err := r.store.Docs(ctx, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range docs {
		if bytes.Contains(d.Body, []byte(secret[len("dx_front_1_"):])) {
			t.Error("the secret is at rest")
		}
	}
	// Other settings keep the secret and do not show it again.
	set.Role = dengxu.RoleKiosk
	done, err = r.PutKey(ctx, staffer, "front_1", set, 1)
	if err != nil || done.Value.Secret != "" || done.Value.Version != 2 {
		t.Fatalf("%+v, %v", done.Value, err)
	}
	if found, err := r.Authenticate(t.Context(), secret); err != nil || found.Role != dengxu.RoleKiosk {
		t.Fatalf("%+v, %v", found, err)
	}
	_, err = r.PutKey(ctx, staffer, "front_1", set, 1)
	wantCode(t, err, dengxu.Conflict, "if_match")
	if keys, err := r.Keys(ctx); err != nil || len(keys) != 1 || keys[0].Secret != "" {
		t.Errorf("%+v, %v", keys, err)
	}
	if err := r.DeleteKey(ctx, staffer, "front_1", 0); err != nil {
		t.Fatal(err)
	}
	_, err = r.Authenticate(t.Context(), secret)
	wantCode(t, err, dengxu.Unauthenticated, "")
	wantCode(t, r.DeleteKey(ctx, staffer, "front_1", 0), dengxu.NotFound, "")
}

// TestAKeyOfNowhereWarns: a scope may name what comes later, and a slip looks
// the same.
func TestAKeyOfNowhereWarns(t *testing.T) {
	t.Parallel()
	r := hall(t)
	set := dengxu.Key{Role: dengxu.RoleOperator, Sites: []dengxu.SiteID{"hall", "hal"}, Queues: []dengxu.QueueID{"main", "mian"}}
	done, err := r.PutKey(t.Context(), staffer, "front", set, 0)
	if want := []string{"there is no site hal", "there is no queue mian"}; err != nil || !slices.Equal(done.Value.Warnings, want) {
		t.Fatalf("%q, %v, want %q", done.Value.Warnings, err, want)
	}
	r.site("hal", `{"time_zone":"UTC"}`)
	if k, err := r.Key(t.Context(), "front"); err != nil || len(k.Warnings) != 1 {
		t.Errorf("after the site came: %q, %v", k.Warnings, err)
	}
}

func TestAReplayedKeyHasNoSecret(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	by := keyed("k", 1)
	first, err := r.PutKey(t.Context(), by, "a", dengxu.Key{Role: dengxu.RoleAdmin}, 0)
	if err != nil {
		t.Fatal(err)
	}
	again, err := r.PutKey(t.Context(), by, "a", dengxu.Key{Role: dengxu.RoleAdmin}, 0)
	if err != nil || !again.Replayed || again.Value.Secret != "" || again.Value.Version != 1 {
		t.Errorf("%+v, %v", again, err)
	}
	if _, err := r.Authenticate(t.Context(), first.Value.Secret); err != nil {
		t.Error(err)
	}
}

func TestAKeyExpires(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	set := dengxu.Key{Role: dengxu.RoleDisplay, ExpiresAt: r.clock.Wall().Add(time.Hour)}
	done, err := r.PutKey(t.Context(), staffer, "tv", set, 0)
	if err != nil {
		t.Fatal(err)
	}
	r.pass(time.Hour - time.Millisecond)
	if _, err := r.Authenticate(t.Context(), done.Value.Secret); err != nil {
		t.Fatal(err)
	}
	r.pass(time.Millisecond)
	_, err = r.Authenticate(t.Context(), done.Value.Secret)
	wantCode(t, err, dengxu.Unauthenticated, "")
	_, err = r.PutKey(t.Context(), staffer, "tv", set, 0)
	wantInvalid(t, err, "expires_at")
	set.ExpiresAt = time.Time{}
	if _, err := r.PutKey(t.Context(), staffer, "tv", set, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Authenticate(t.Context(), done.Value.Secret); err != nil {
		t.Errorf("a key that lives again: %v", err)
	}
}

func TestKeySettingsRefused(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for field, set := range map[string]dengxu.Key{
		"role":      {Role: "king"},
		"rights[1]": {Role: dengxu.RoleOperator, Rights: []string{"pick", "pick"}},
		"rights[0]": {Role: dengxu.RoleOperator, Rights: []string{"fly"}},
		"sites[0]":  {Role: dengxu.RoleOperator, Sites: []dengxu.SiteID{"a b"}},
		"queues[0]": {Role: dengxu.RoleOperator, Queues: []dengxu.QueueID{"token"}},
		"name":      {Role: dengxu.RoleOperator, Name: strings.Repeat("x", 129)},
	} {
		_, err := r.PutKey(t.Context(), staffer, "k", set, 0)
		wantInvalid(t, err, field)
	}
	_, err := r.PutKey(t.Context(), staffer, "a b", dengxu.Key{Role: dengxu.RoleAdmin}, 0)
	wantInvalid(t, err, "id")
}

func TestTheAdminSecret(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ctx := t.Context()
	made, err := r.SetAdminSecret(ctx, "")
	if err != nil || made == "" {
		t.Fatalf("%q, %v", made, err)
	}
	if k, err := r.Authenticate(t.Context(), made); err != nil || k.Role != dengxu.RoleAdmin || k.ID != "admin" {
		t.Fatalf("%+v, %v", k, err)
	}
	if again, err := r.SetAdminSecret(ctx, ""); err != nil || again != "" {
		t.Fatalf("another one was made: %q, %v", again, err)
	}
	const given = "correct-horse-battery"
	for range 2 {
		if made, err := r.SetAdminSecret(ctx, given); err != nil || made != "" {
			t.Fatalf("%q, %v", made, err)
		}
	}
	if k, err := r.Authenticate(t.Context(), given); err != nil || k.Version != 2 {
		t.Fatalf("%+v, %v", k, err)
	}
	_, err = r.Authenticate(t.Context(), made)
	wantCode(t, err, dengxu.Unauthenticated, "")
	// Whoever locked themselves out starts the server with the secret again.
	if _, err := r.PutKey(ctx, staffer, "admin", dengxu.Key{Role: dengxu.RoleAdmin, Sites: []dengxu.SiteID{"nowhere"}}, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := r.SetAdminSecret(ctx, given); err != nil {
		t.Fatal(err)
	}
	if k, err := r.Authenticate(t.Context(), given); err != nil || len(k.Sites) != 0 {
		t.Fatalf("still limited: %+v, %v", k, err)
	}
	for _, bad := range []string{"too-short", strings.Repeat("x", 129), "with a space inside", "with-a-\x07-bell-inside", "mit-ümlaut-im-schlüssel"} {
		_, err := r.SetAdminSecret(ctx, bad)
		wantInvalid(t, err, "DENGXU_ADMIN_KEY")
	}
}

func TestPublicJoinOnLoopback(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.queue("main", `{"public_join":"loopback"}`)
	r.queue("closed", `{}`)
	r.queue("open", `{"public_join":{"fields":["name"]}}`)
	for id, allowed := range map[dengxu.QueueID][2]bool{"main": {false, true}, "closed": {false, false}, "open": {true, true}} {
		for i, loopback := range []bool{false, true} {
			r.loopback = loopback
			p, err := r.PublicJoin(t.Context(), id)
			if err != nil || (p.Allowed || p.Loopback) != allowed[i] {
				t.Errorf("%s, loopback %v: %+v, %v", id, loopback, p, err)
			}
		}
	}
}

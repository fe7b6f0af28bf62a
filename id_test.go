package dengxu_test

import (
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/dengxu/dengxu"
)

func TestCheckID(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"a", "main", "room-3", "A.b_c-9", "...", "tokens", "Token", strings.Repeat("x", 64)} {
		if err := dengxu.CheckID("queue_id", id); err != nil {
			t.Errorf("CheckID(%q): %v", id, err)
		}
	}
	for _, id := range []string{
		"", "token", ".", "..", " ", "a b", "a/b", "a\n", "\na", "a\x00", "内科", "é", "a%20b", "a:b", strings.Repeat("x", 65),
	} {
		wantInvalid(t, dengxu.CheckID("queue_id", id), "queue_id")
	}
}

// TestCheckIDIsItsPattern: the pattern that the schema shows is the one that
// holds, up to the reserved words.
func TestCheckIDIsItsPattern(t *testing.T) {
	t.Parallel()
	pattern := regexp.MustCompile(dengxu.IDPattern)
	rapid.Check(t, func(t *rapid.T) {
		id := rapid.OneOf(rapid.String(), rapid.StringMatching(`[A-Za-z0-9_./ -]{0,66}`)).Draw(t, "id")
		want := pattern.MatchString(id) && id != "token" && id != "." && id != ".."
		if got := dengxu.CheckID("id", id) == nil; got != want {
			t.Fatalf("CheckID(%q) accepts: %v, the pattern says %v", id, got, want)
		}
	})
}

func TestMask(t *testing.T) {
	t.Parallel()
	for id, want := range map[dengxu.TokenID]string{
		"":                           "…",
		"12345678":                   "…",
		"123456789":                  "123456…",
		"01jf3z8k2m4n6p8q0r2s4t6v8w": "01jf3z…",
	} {
		if got := id.Mask(); got != want {
			t.Errorf("Mask(%q) = %q, want %q", string(id), got, want)
		}
	}
}

// TestMaskHides: a mask never shows more than the time part of an id.
func TestMaskHides(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		id := rapid.StringMatching(`[0-9a-z]{0,40}`).Draw(t, "id")
		shown := strings.TrimSuffix(dengxu.TokenID(id).Mask(), "…")
		if len(shown) > 6 || !strings.HasPrefix(id, shown) || id != "" && shown == id {
			t.Fatalf("Mask(%q) shows %q", id, shown)
		}
	})
}

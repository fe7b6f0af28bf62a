package engine

import (
	"testing"

	"github.com/dengxu/dengxu"
)

func TestARepeatedDeletionIsOne(t *testing.T) {
	t.Parallel()
	r := hall(t)
	by := staffer
	by.Kind, by.Key = Admin, "gone"
	for i, del := range []func() error{
		func() error { return r.DeleteCounter(t.Context(), by, "1", 0) },
		func() error { return r.DeleteQueue(t.Context(), by, "main", 0) },
		func() error { return r.DeleteSite(t.Context(), by, "hall", 0) },
	} {
		by.Key, by.Hash = "gone", [16]byte{byte(i)}
		by.Key += string(rune('a' + i))
		for range 3 {
			if err := del(); err != nil {
				t.Fatalf("deletion %d: %v", i, err)
			}
		}
		by.Hash = [16]byte{99}
		wantCode(t, del(), dengxu.Invalid, "idempotency_key_reused")
		by.Key = ""
		wantCode(t, del(), dengxu.NotFound, "")
	}
}

package dengxu_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/dengxu/dengxu"
)

// FuzzSettings: whatever is accepted as settings can be written, read back the
// same, put in force, and read back the same again.
func FuzzSettings(f *testing.F) {
	for _, seed := range []string{
		fullSite, fullQueue, fullCounter, `{}`, `null`, `[]`,
		`{"opening_hours": {"sat-mon": ["22:00-02:00"], "dates": {}}}`,
		`{"queues": ["a", {"id": "b", "classes": []}], "public_join": "loopback"}`,
		`{"opening_hours": {"dates": {"2026-10-01": "closed"}, "dates": null}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		fuzzSettings(t, text, dengxu.Site.WithDefaults)
		fuzzSettings(t, text, dengxu.Queue.WithDefaults)
		fuzzSettings(t, text, dengxu.Counter.WithDefaults)
	})
}

func fuzzSettings[T any](t *testing.T, text []byte, inForce func(T) T) {
	t.Helper()
	var given T
	if err := json.Unmarshal(text, &given); err != nil {
		return
	}
	for _, want := range []T{given, inForce(given)} {
		written, err := json.Marshal(want)
		if err != nil {
			t.Fatalf("%+v cannot be written: %v", want, err)
		}
		var got T
		if err := json.Unmarshal(written, &got); err != nil {
			t.Fatalf("%s cannot be read back: %v", written, err)
		}
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("%s (-want +got):\n%s", written, diff)
		}
	}
}

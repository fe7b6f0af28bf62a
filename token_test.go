package dengxu_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/dengxu/dengxu"
)

func TestPlaceJSON(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]dengxu.Place{
		`"original"`:        {At: dengxu.PlaceOriginal},
		`"tail"`:            {At: dengxu.PlaceTail},
		`{"after":0}`:       {After: new(0)},
		`{"after":3}`:       {After: new(3)},
		`{"after":1000000}`: {After: new(1_000_000)},
	} {
		got := parse[dengxu.Place](t, text)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("read %s (-want +got):\n%s", text, diff)
		}
		if b, err := json.Marshal(got); err != nil || string(b) != text {
			t.Errorf("written %s, %v; want %s", b, err, text)
		}
	}
}

func TestPlaceRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		roundTrip(t, dengxu.VerbRequest{Place: new(rapid.OneOf(
			rapid.SampledFrom([]dengxu.Place{{At: dengxu.PlaceOriginal}, {At: dengxu.PlaceTail}}),
			rapid.Map(rapid.IntRange(0, 1_000_000), func(n int) dengxu.Place { return dengxu.Place{After: &n} }),
		).Draw(t, "place"))})
	})
}

func TestPlaceRefusals(t *testing.T) {
	t.Parallel()
	refusals{
		`null`:                       "place",
		`""`:                         "place",
		`"head"`:                     "place",
		`"Tail"`:                     "place",
		`3`:                          "place",
		`true`:                       "place",
		`["tail"]`:                   "place",
		`{}`:                         "place",
		`{"before": 1}`:              "place",
		`{"After": 1}`:               "place",
		`{"after": null}`:            "place",
		`{"after": -1}`:              "place",
		`{"after": 1000001}`:         "place",
		`{"after": 1.5}`:             "place",
		`{"after": "3"}`:             "place",
		`{"after": 1, "other": 2}`:   "place",
		`{"after": 1, "other": "x"}`: "place",
	}.check(t, func() any { return &dengxu.Place{At: dengxu.PlaceTail} })
}

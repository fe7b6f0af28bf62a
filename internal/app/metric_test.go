package app

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/dengxu/dengxu/internal/store/redisstore"
)

// TestLossesAreCounted: each sort of loss has a counter, which follows.
func TestLossesAreCounted(t *testing.T) {
	t.Parallel()
	var now redisstore.Losses
	registry := prometheus.NewRegistry()
	registry.MustRegister(lost(func() redisstore.Losses { return now })...)
	now = redisstore.Losses{Times: 1, Events: 2, Joins: 3, Burned: 4, Numbers: 5, Calls: 6}
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, f := range families {
		got[f.GetName()] = f.GetMetric()[0].GetCounter().GetValue()
	}
	want := map[string]float64{
		"dengxu_store_losses_total": 1, "dengxu_store_lost_events_total": 2, "dengxu_store_lost_joins_total": 3,
		"dengxu_store_repeated_numbers_total": 5, "dengxu_store_repeated_calls_total": 6,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("metrics (-want +got):\n%s", diff)
	}
}

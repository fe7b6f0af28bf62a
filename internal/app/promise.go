package app

import (
	"slices"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/dengxu/dengxu/internal/engine"
	"github.com/dengxu/dengxu/internal/estimate"
)

// promises are the metrics of what holders were told about their wait by this
// process, and what it came to at their first call.
type promises struct{ engine *engine.Engine }

// scoreDescs describe the sums of scores apart by one label.
type scoreDescs struct{ scored, within, wait, deviation, bias *prometheus.Desc }

// describeScores names the sums that are told apart by a label, of which by says
// what it is.
func describeScores(prefix, label, by string) scoreDescs {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc(prefix+name, help, append([]string{label}, labels...), nil)
	}
	return scoreDescs{
		scored: desc("scored_total", "Estimates told to holders whose wait is known by now, "+by+"."),
		within: desc("within_total",
			"Of them, those whose wait was at most what was told: 0.1 should be a tenth, 0.5 half, 0.9 nine tenths.", "quantile"),
		wait: desc("wait_seconds_total", "Waits that followed."),
		deviation: desc("deviation_seconds_total",
			"Differences between recommended and actual wait, without sign; divided by the waits it is the WAPE."),
		bias: desc("bias_seconds", "Sum of recommended less actual waits; divided by the scored it is the bias."),
	}
}

// all are the descriptions.
func (d *scoreDescs) all() []*prometheus.Desc {
	return []*prometheus.Desc{d.scored, d.within, d.wait, d.deviation, d.bias}
}

// tell sends one score under a label's value.
func (d *scoreDescs) tell(to chan<- prometheus.Metric, s *estimate.Score, label string) {
	send := func(d *prometheus.Desc, kind prometheus.ValueType, v float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, kind, v, labels...)
	}
	send(d.scored, prometheus.CounterValue, float64(s.N), label)
	for i, q := range []string{"0.1", "0.5", "0.9"} {
		send(d.within, prometheus.CounterValue, float64(s.Within[i]), label, q)
	}
	send(d.wait, prometheus.CounterValue, s.Wait, label)
	send(d.deviation, prometheus.CounterValue, s.Deviation, label)
	send(d.bias, prometheus.GaugeValue, s.Off, label)
}

var (
	byAhead = describeScores("dengxu_estimates_", "ahead", "by how many were ahead")
	byHour  = describeScores("dengxu_estimates_hour_", "hour", "by the hour of the site's day in which they were told")

	freeScored = prometheus.NewDesc("dengxu_estimates_free_total",
		"Holders who found a counter free, were told that there is no wait, and were called.", nil, nil)
	freeWait = prometheus.NewDesc("dengxu_estimates_free_wait_seconds_total",
		"How long these waited for the call all the same.", nil, nil)
)

// Describe sends the descriptions.
func (promises) Describe(to chan<- *prometheus.Desc) {
	for _, d := range slices.Concat(byAhead.all(), byHour.all(), []*prometheus.Desc{freeScored, freeWait}) {
		to <- d
	}
}

// Collect sends the sums since the start.
func (p promises) Collect(to chan<- prometheus.Metric) {
	all := p.engine.EstimateScores()
	for i := range all.ByPosition {
		byAhead.tell(to, &all.ByPosition[i], estimate.Buckets[i])
	}
	for hour := range all.ByHour {
		if s := &all.ByHour[hour]; s.N > 0 {
			byHour.tell(to, s, strconv.Itoa(hour))
		}
	}
	to <- prometheus.MustNewConstMetric(freeScored, prometheus.CounterValue, float64(all.Free.N))
	to <- prometheus.MustNewConstMetric(freeWait, prometheus.CounterValue, all.Free.Wait)
}

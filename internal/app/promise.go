package app

import (
	"strconv"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/dengxu/dengxu/internal/engine"
	"github.com/dengxu/dengxu/internal/estimate"
)

// promises are the metrics of what holders were told about their wait by this
// process, and what it came to at their first call.
type promises struct{ engine *engine.Engine }

var (
	byAhead = []string{"ahead"}
	byHour  = []string{"hour"}

	promisesScored = prometheus.NewDesc("dengxu_estimates_scored_total",
		"Estimates told to holders whose wait is known by now, by how many were ahead.", byAhead, nil)
	promisesWithin = prometheus.NewDesc("dengxu_estimates_within_total",
		"Of them, those whose wait was at most what was told: 0.1 should be a tenth, 0.5 half, 0.9 nine tenths.", append(byAhead, "quantile"), nil)
	promisesWait = prometheus.NewDesc("dengxu_estimates_wait_seconds_total",
		"Waits that followed.", byAhead, nil)
	promisesDeviation = prometheus.NewDesc("dengxu_estimates_deviation_seconds_total",
		"Differences between recommended and actual wait, without sign; divided by the waits it is the WAPE.", byAhead, nil)
	promisesBias = prometheus.NewDesc("dengxu_estimates_bias_seconds",
		"Sum of recommended less actual waits; divided by the scored it is the bias.", byAhead, nil)

	freeScored = prometheus.NewDesc("dengxu_estimates_free_total",
		"Holders who found a counter free, were told that there is no wait, and were called.", nil, nil)
	freeWait = prometheus.NewDesc("dengxu_estimates_free_wait_seconds_total",
		"How long these waited for the call all the same.", nil, nil)

	hourScored = prometheus.NewDesc("dengxu_estimates_hour_scored_total",
		"Estimates told to holders whose wait is known by now, by the hour of the site's day in which they were told.", byHour, nil)
	hourWithin = prometheus.NewDesc("dengxu_estimates_hour_within_total",
		"Of them, those whose wait was at most what was told.", append(byHour, "quantile"), nil)
	hourWait = prometheus.NewDesc("dengxu_estimates_hour_wait_seconds_total",
		"Waits that followed.", byHour, nil)
	hourDeviation = prometheus.NewDesc("dengxu_estimates_hour_deviation_seconds_total",
		"Differences between recommended and actual wait, without sign.", byHour, nil)
	hourBias = prometheus.NewDesc("dengxu_estimates_hour_bias_seconds",
		"Sum of recommended less actual waits.", byHour, nil)
)

// Describe sends the descriptions.
func (promises) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		promisesScored, promisesWithin, promisesWait, promisesDeviation, promisesBias, freeScored, freeWait,
		hourScored, hourWithin, hourWait, hourDeviation, hourBias,
	} {
		to <- d
	}
}

// Collect sends the sums since the start.
func (p promises) Collect(to chan<- prometheus.Metric) {
	all := p.engine.EstimateScores()
	for i, s := range all.ByPosition {
		tell(to, &s, estimate.Buckets[i], promisesScored, promisesWithin, promisesWait, promisesDeviation, promisesBias)
	}
	to <- prometheus.MustNewConstMetric(freeScored, prometheus.CounterValue, float64(all.Free.N))
	to <- prometheus.MustNewConstMetric(freeWait, prometheus.CounterValue, all.Free.Wait)
	for hour, s := range all.ByHour {
		if s.N > 0 {
			tell(to, &s, strconv.Itoa(hour), hourScored, hourWithin, hourWait, hourDeviation, hourBias)
		}
	}
}

// tell sends one score under a label.
func tell(to chan<- prometheus.Metric, s *estimate.Score, label string, scored, within, wait, deviation, bias *prometheus.Desc) {
	send := func(d *prometheus.Desc, kind prometheus.ValueType, v float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, kind, v, labels...)
	}
	send(scored, prometheus.CounterValue, float64(s.N), label)
	for i, q := range []string{"0.1", "0.5", "0.9"} {
		send(within, prometheus.CounterValue, float64(s.Within[i]), label, q)
	}
	send(wait, prometheus.CounterValue, s.Wait, label)
	send(deviation, prometheus.CounterValue, s.Deviation, label)
	send(bias, prometheus.GaugeValue, s.Off, label)
}

package app

import (
	"cmp"
	"net/http"
	"net/http/pprof"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/dengxu/dengxu/internal/engine"
	"github.com/dengxu/dengxu/internal/httpapi"
	"github.com/dengxu/dengxu/internal/store"
	"github.com/dengxu/dengxu/internal/store/redisstore"
)

// metrics are what a process tells Prometheus, on a registry of its own.
type metrics struct {
	registry *prometheus.Registry
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
}

func newMetrics(s store.Store, e *engine.Engine, version string) *metrics {
	m := &metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "dengxu_http_requests_total",
			Help: "Requests answered, by operation and status.",
		}, []string{"operation", "status"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "dengxu_http_request_seconds",
			Help:    "Time from the request to the end of its answer, by operation; long polls included, streams not.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30},
		}, []string{"operation"}),
	}
	m.registry.MustRegister(
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		m.requests, m.seconds, build{s, version}, promises{e},
	)
	if r, ok := s.(interface{ Lost() redisstore.Losses }); ok {
		m.registry.MustRegister(lost(r.Lost)...)
	}
	return m
}

// build is the metric of what runs. What a store survives may change while it
// is in use, so it is asked each time.
type build struct {
	store   store.Store
	version string
}

var buildInfo = prometheus.NewDesc("dengxu_build_info",
	"1; the labels say which version runs over which store with which durability.",
	[]string{"version", "store", "durability"}, nil)

// Describe sends the one description.
func (b build) Describe(to chan<- *prometheus.Desc) { to <- buildInfo }

// Collect sends the one value.
func (b build) Collect(to chan<- prometheus.Metric) {
	about := b.store.About()
	to <- prometheus.MustNewConstMetric(buildInfo, prometheus.GaugeValue, 1, b.version, about.Kind, string(about.Durability))
}

// lost are counters of what servers lost that was acknowledged, as far as this
// process found it.
func lost(now func() redisstore.Losses) []prometheus.Collector {
	var all []prometheus.Collector
	for name, c := range map[string]struct {
		help string
		of   func(redisstore.Losses) uint64
	}{
		"dengxu_store_losses_total":           {"Times that the store was found to have lost acknowledged commits.", func(l redisstore.Losses) uint64 { return l.Times }},
		"dengxu_store_lost_events_total":      {"Acknowledged events that the store lost, at least.", func(l redisstore.Losses) uint64 { return l.Events }},
		"dengxu_store_lost_joins_total":       {"Acknowledged joins that the store lost.", func(l redisstore.Losses) uint64 { return l.Joins }},
		"dengxu_store_repeated_numbers_total": {"Numbers that were given to two tokens because the store lost the first.", func(l redisstore.Losses) uint64 { return l.Numbers }},
		"dengxu_store_repeated_calls_total":   {"Tokens called to two counters because the store lost the first call.", func(l redisstore.Losses) uint64 { return l.Calls }},
	} {
		all = append(all, prometheus.NewCounterFunc(prometheus.CounterOpts{Name: name, Help: c.help}, func() float64 { return float64(c.of(now())) }))
	}
	return all
}

// observe counts and times one answered request.
func (m *metrics) observe(a httpapi.Access) {
	operation := cmp.Or(a.Operation, "none")
	m.requests.WithLabelValues(operation, strconv.Itoa(a.Status)).Inc()
	if !a.Stream { // how long a stream was open says nothing about speed
		m.seconds.WithLabelValues(operation).Observe(a.Took.Seconds())
	}
}

// handler serves what Prometheus scrapes.
func (m *metrics) handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{Registry: m.registry})
}

// adminHandler is what the admin listener serves: metrics and profiles. It has
// no authentication, so it belongs on an address that only operators reach.
func adminHandler(m *metrics) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", m.handler())
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	return mux
}

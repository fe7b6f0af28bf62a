package app

import (
	"cmp"
	"net/http"
	"net/http/pprof"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/dengxu/dengxu/internal/httpapi"
	"github.com/dengxu/dengxu/internal/store"
)

// metrics are what a process tells Prometheus, on a registry of its own.
type metrics struct {
	registry *prometheus.Registry
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
}

func newMetrics(about store.About, version string) *metrics {
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
	info := prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "dengxu_build_info",
		Help: "1; the labels say which version runs over which store with which durability.",
	}, []string{"version", "store", "durability"})
	info.WithLabelValues(version, about.Kind, string(about.Durability)).Set(1)
	m.registry.MustRegister(
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		m.requests, m.seconds, info,
	)
	return m
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

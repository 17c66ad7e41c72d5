package delivery

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// metrics are the figures of deliveries, by shard.
type metrics struct {
	attempts *prometheus.CounterVec
	response *prometheus.HistogramVec
	arrival  *prometheus.HistogramVec
	backlog  *prometheus.GaugeVec
	flying   *prometheus.GaugeVec
	lanes    *prometheus.GaugeVec
	paused   *prometheus.CounterVec
	unhinted *prometheus.CounterVec
}

func newMetrics(r prometheus.Registerer) *metrics {
	shard := []string{"shard"}
	buckets := []float64{.002, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300}
	m := &metrics{
		attempts: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "visavis_delivery_attempts_total",
			Help: "Attempts of deliveries and closed deliveries, by outcome: delivered, or an error code.",
		}, []string{"shard", "outcome"}),
		response: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "visavis_delivery_response_seconds", Help: "Time from an attempt's beginning to its answer.", Buckets: buckets,
		}, shard),
		arrival: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "visavis_delivery_arrival_seconds", Help: "Time from an event to its arrival, of deliveries that arrived at once.", Buckets: buckets,
		}, shard),
		backlog: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "visavis_delivery_backlog_age_seconds", Help: "How long the oldest delivery that is due has waited, in this worker's lanes.",
		}, shard),
		flying: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "visavis_delivery_in_flight", Help: "Attempts under way.",
		}, shard),
		lanes: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "visavis_delivery_lanes", Help: "Lanes this worker holds.",
		}, shard),
		paused: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "visavis_delivery_webhooks_paused_total", Help: "Webhooks that were paused after failing for three days.",
		}, shard),
		unhinted: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "visavis_hints_missed_total", Help: "Looks for deliveries that found what no hint had come for.",
		}, shard),
	}
	if r != nil {
		r.MustRegister(m.attempts, m.response, m.arrival, m.backlog, m.flying, m.lanes, m.paused, m.unhinted)
	}
	return m
}

// shardMetrics are the figures of one shard.
type shardMetrics struct {
	shard             string
	attempts          *prometheus.CounterVec
	delivered, paused prometheus.Counter
	unhinted          prometheus.Counter
	response, arrival prometheus.Observer
	backlog           *prometheus.GaugeVec
	flying, lanes     prometheus.Gauge
}

func (m *metrics) of(shard string) *shardMetrics {
	attempts := m.attempts.MustCurryWith(prometheus.Labels{"shard": shard})
	return &shardMetrics{
		shard: shard, attempts: attempts, delivered: attempts.WithLabelValues(string(Delivered)),
		response: m.response.WithLabelValues(shard), arrival: m.arrival.WithLabelValues(shard),
		backlog: m.backlog, flying: m.flying.WithLabelValues(shard), lanes: m.lanes.WithLabelValues(shard),
		paused: m.paused.WithLabelValues(shard), unhinted: m.unhinted.WithLabelValues(shard),
	}
}

// observe counts an outcome.
func (m *shardMetrics) observe(o *outcome) {
	if o.code != "" {
		m.attempts.WithLabelValues(string(o.code)).Inc()
	} else {
		m.delivered.Inc()
		if o.task.attempts == 0 {
			m.arrival.Observe(o.ended.Sub(o.task.created).Seconds())
		}
	}
	if o.attempted() {
		m.response.Observe(o.took.Seconds())
	}
}

// waited tells since when the oldest due delivery waits; zero where none does.
func (m *shardMetrics) waited(oldest, now time.Time) {
	var waited float64
	if !oldest.IsZero() {
		waited = age(oldest, now)
	}
	m.backlog.WithLabelValues(m.shard).Set(waited)
}

// lose takes back how old the backlog is: of a database that does not answer nobody
// knows, and the last answer would say that all is well.
func (m *shardMetrics) lose() { m.backlog.DeleteLabelValues(m.shard) }

// age is how long something due has waited.
func age(due, now time.Time) float64 { return max(now.Sub(due).Seconds(), 0) }

package health

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"
)

// Collector tells what Check does, asked whenever the figures are read: a process that
// has lost its databases says so itself, although nothing reaches it any more.
type Collector struct {
	checker   *Checker
	ready, up *prometheus.Desc
}

// NewCollector makes a collector of a checker's answers.
func NewCollector(c *Checker) *Collector {
	return &Collector{
		checker: c,
		ready:   prometheus.NewDesc("visavis_ready", "Whether the process can answer for anybody: 1 or 0.", nil, nil),
		up: prometheus.NewDesc("visavis_database_up", "Whether a database that the process has used answers: 1 or 0.",
			[]string{"database"}, nil),
	}
}

// Describe implements prometheus.Collector.
func (c *Collector) Describe(out chan<- *prometheus.Desc) {
	out <- c.ready
	out <- c.up
}

// Collect implements prometheus.Collector.
func (c *Collector) Collect(out chan<- prometheus.Metric) {
	state := c.checker.Check(context.Background()) // it ends by itself
	out <- prometheus.MustNewConstMetric(c.ready, prometheus.GaugeValue, number(state.Ready()))
	out <- prometheus.MustNewConstMetric(c.up, prometheus.GaugeValue, number(state.Directory), "directory")
	for shard, up := range state.Shards {
		out <- prometheus.MustNewConstMetric(c.up, prometheus.GaugeValue, number(up), shard)
	}
}

func number(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

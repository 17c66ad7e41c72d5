package database

import "github.com/prometheus/client_golang/prometheus"

// Collector tells how busy pools are, by the database's name. Pools come and go: it asks
// for those there are whenever it is asked.
type Collector struct {
	pools                    func() map[string]*DB
	inUse, most, waits, time *prometheus.Desc
}

// NewCollector makes a collector of what pools answers.
func NewCollector(pools func() map[string]*DB) *Collector {
	describe := func(name, help string) *prometheus.Desc {
		return prometheus.NewDesc("visavis_database_"+name, help, []string{"database"}, nil)
	}
	return &Collector{
		pools: pools,
		inUse: describe("connections_in_use", "Connections that are at work."),
		most:  describe("connections_max", "Connections that there may be."),
		waits: describe("waits_total", "Times that no connection was free at once."),
		time:  describe("wait_seconds_total", "Time that was spent waiting for a connection."),
	}
}

// Describe implements prometheus.Collector.
func (c *Collector) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{c.inUse, c.most, c.waits, c.time} {
		out <- d
	}
}

// Collect implements prometheus.Collector.
func (c *Collector) Collect(out chan<- prometheus.Metric) {
	for name, db := range c.pools() {
		s := db.Stat()
		out <- prometheus.MustNewConstMetric(c.inUse, prometheus.GaugeValue, float64(s.AcquiredConns()), name)
		out <- prometheus.MustNewConstMetric(c.most, prometheus.GaugeValue, float64(s.MaxConns()), name)
		out <- prometheus.MustNewConstMetric(c.waits, prometheus.CounterValue, float64(s.EmptyAcquireCount()), name)
		out <- prometheus.MustNewConstMetric(c.time, prometheus.CounterValue, s.EmptyAcquireWaitTime().Seconds(), name)
	}
}

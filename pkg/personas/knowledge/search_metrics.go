package knowledge

import (
	"errors"

	"github.com/prometheus/client_golang/prometheus"
)

// searchMetrics are the figures of a Searcher.
type searchMetrics struct {
	loads   prometheus.Counter
	refused prometheus.Counter
	// wordsAlone counts the packs with vectors that were searched without.
	wordsAlone prometheus.Counter
	took       prometheus.Histogram
}

func newSearchMetrics(c *cache, r prometheus.Registerer) *searchMetrics {
	m := &searchMetrics{
		loads: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "visavis_search_loads_total", Help: "Knowledge packs read into memory to be searched.",
		}),
		refused: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "visavis_search_refused_total", Help: "Searches of knowledge packs refused for want of memory or time.",
		}),
		wordsAlone: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "visavis_search_words_alone_total", Help: "Searches of knowledge packs by their words alone, as their embedding connection could not be asked.",
		}),
		took: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "visavis_search_load_seconds", Help: "How long reading a knowledge pack into memory took.",
			Buckets: prometheus.ExponentialBuckets(0.005, 4, 7),
		}),
	}
	if r == nil {
		return m
	}
	// A process that tried in vain to begin has registered them before.
	register := func(m prometheus.Collector) {
		if before, ok := errors.AsType[prometheus.AlreadyRegisteredError](r.Register(m)); ok {
			r.Unregister(before.ExistingCollector)
			r.MustRegister(m)
		}
	}
	gauge := func(name, help string, value func() float64) {
		register(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, value))
	}
	gauge("visavis_search_held_bytes", "What the knowledge packs in memory take.", func() float64 {
		_, bytes, _, _ := c.figures()
		return float64(bytes)
	})
	gauge("visavis_search_budget_bytes", "What the knowledge packs in memory may take.", func() float64 { return float64(c.budget) })
	gauge("visavis_search_largest_holder_bytes", "What the knowledge packs in memory take of the organization that has most there.", func() float64 {
		_, _, most, _ := c.figures()
		return float64(most)
	})
	gauge("visavis_search_packs", "Knowledge packs in memory.", func() float64 {
		packs, _, _, _ := c.figures()
		return float64(packs)
	})
	for _, each := range []prometheus.Collector{m.loads, m.refused, m.wordsAlone, m.took} {
		register(each)
	}
	register(prometheus.NewCounterFunc(prometheus.CounterOpts{
		Name: "visavis_search_evictions_total", Help: "Knowledge packs that left memory to make room for others.",
	}, func() float64 {
		_, _, _, evictions := c.figures()
		return float64(evictions)
	}))
	return m
}

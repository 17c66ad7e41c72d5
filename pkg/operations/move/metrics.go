package move

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/utils/clock"

	"visavis.dev/pkg/store/directory"
)

// Collector tells of the moves that are not over, whichever process carries them out. It
// asks the directory whenever it is asked.
type Collector struct {
	directory        *directory.Directory
	clock            clock.PassiveClock
	moves, age, idle *prometheus.Desc
}

// NewCollector makes a collector of a directory's moves.
func NewCollector(d *directory.Directory, c clock.PassiveClock) *Collector {
	return &Collector{
		directory: d, clock: c,
		moves: prometheus.NewDesc("visavis_moves", "Organizations on their way from one shard to another, by phase.", []string{"phase"}, nil),
		age: prometheus.NewDesc("visavis_move_phase_age_seconds", "Time since a move entered its phase.",
			[]string{"organization", "phase"}, nil),
		idle: prometheus.NewDesc("visavis_move_idle_seconds", "Time since something was done of a move that has something to be done.",
			[]string{"organization", "phase"}, nil),
	}
}

// Describe implements prometheus.Collector.
func (c *Collector) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{c.moves, c.age, c.idle} {
		out <- d
	}
}

// collectTimeout bounds the question: metrics are asked for on a clock.
const collectTimeout = 2 * time.Second

// Collect implements prometheus.Collector.
func (c *Collector) Collect(out chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), collectTimeout)
	defer cancel()
	moves, err := c.directory.Moves(ctx)
	if err != nil {
		return // that the directory is away is told elsewhere
	}
	now, phases := c.clock.Now(), map[directory.Phase]int{}
	gauge := func(d *prometheus.Desc, value float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
	}
	for _, m := range moves {
		phases[m.Phase]++
		org, phase := m.Org.String(), string(m.Phase)
		gauge(c.age, now.Sub(m.PhaseAt).Seconds(), org, phase)
		if m.Phase != phaseKeep {
			gauge(c.idle, now.Sub(m.ProgressAt).Seconds(), org, phase)
		}
	}
	for phase, n := range phases {
		gauge(c.moves, float64(n), string(phase))
	}
}

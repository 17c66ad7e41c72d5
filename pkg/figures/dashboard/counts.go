package dashboard

import (
	"maps"
	"math"
	"strconv"
	"strings"
	"time"
)

// counts are numbers by what was counted. Those of two spans of time add up, but for peak, of
// which the larger counts, and live, of which the later does.
type counts map[string]int64

const (
	// peak is how many sessions were live at once at most, and live how many are at the end.
	peak = "peak"
	live = "live"
)

// add adds what was counted later. What becomes nothing stays: it was counted.
func (c counts) add(later counts) {
	for key, n := range later {
		switch key {
		case peak:
			c[key] = max(c[key], n)
		case live:
			c[key] = n
		default:
			c[key] += n
		}
	}
}

// minus is what turns some counts into others; nil where they are the same.
func minus(to, from counts) counts {
	difference := maps.Clone(to)
	if difference == nil {
		difference = counts{}
	}
	for key, n := range from {
		difference[key] -= n
	}
	maps.DeleteFunc(difference, func(_ string, n int64) bool { return n == 0 })
	if len(difference) == 0 {
		return nil
	}
	return difference
}

// with are the counts whose keys begin with a prefix, by what follows it.
func (c counts) with(prefix string) counts {
	found := counts{}
	for key, n := range c {
		if name, ok := strings.CutPrefix(key, prefix); ok {
			found[name] = n
		}
	}
	return found
}

// slot is the shortest span of time that is counted apart. Every time zone's hours begin with
// one: the offsets of all are multiples of it.
const slot = 15 * time.Minute

// slotOf is the beginning of a moment's slot.
func slotOf(t time.Time) time.Time { return t.UTC().Truncate(slot) }

// Times are counted by steps of a tenth, so that a percentile of any span of time follows from
// counts alone. It is at most a tenth too large.
const (
	stepGrowth = 1.1
	firstStep  = 10 // ms
	lastStep   = 160
)

// stepOf is the step of a time in milliseconds, as it is counted.
func stepOf(ms int64) string {
	if ms <= firstStep {
		return "0"
	}
	step := int(math.Ceil(math.Log(float64(ms)/firstStep)/math.Log(stepGrowth) - 1e-9))
	return strconv.Itoa(min(step, lastStep))
}

// stepMs is the longest time of a step, in milliseconds.
func stepMs(step int) int64 {
	return int64(math.Floor(firstStep*math.Pow(stepGrowth, float64(step)) + 1e-6))
}

// percentile is that of the times that were counted with a prefix, by nearest rank; nil where
// none were.
func (c counts) percentile(prefix string, percent int64) *float64 {
	var (
		steps [lastStep + 1]int64
		total int64
	)
	for name, n := range c.with(prefix) {
		if step, err := strconv.Atoi(name); err == nil && step >= 0 && step <= lastStep {
			steps[step] += n
			total += n
		}
	}
	rank := (total*percent + 99) / 100
	for step, n := range steps {
		if rank -= n; total > 0 && rank <= 0 {
			return new(float64(stepMs(step)))
		}
	}
	return nil
}

// whole is a count, 0 where nothing was counted.
func whole(key string) func(counts) *float64 {
	return func(c counts) *float64 { return new(float64(c[key])) }
}

// counted is a count, nil where nothing was counted.
func counted(key string) func(counts) *float64 {
	return func(c counts) *float64 {
		n, ok := c[key]
		if !ok {
			return nil
		}
		return new(float64(n))
	}
}

// minutes is a count of seconds in minutes, to a tenth.
func minutes(key string) func(counts) *float64 {
	return func(c counts) *float64 { return new(math.Round(float64(c[key])/6) / 10) }
}

// share is a part of a whole in percent, to a tenth; nil where there is no whole.
func share(part string, of ...string) func(counts) *float64 {
	return func(c counts) *float64 {
		var all int64
		for _, key := range of {
			all += c[key]
		}
		return ratio(c[part]*100, all)
	}
}

// average is a sum for each that was counted, to a tenth; nil where none were.
func average(sum, each string) func(counts) *float64 {
	return func(c counts) *float64 { return ratio(c[sum], c[each]) }
}

// ratio is nil where there is no whole, and of a part that is less than nothing.
func ratio(part, of int64) *float64 {
	if of <= 0 || part < 0 {
		return nil
	}
	return new(math.Round(float64(part)/float64(of)*10) / 10)
}

// nth is a percentile of times.
func nth(prefix string, percent int64) func(counts) *float64 {
	return func(c counts) *float64 { return c.percentile(prefix, percent) }
}

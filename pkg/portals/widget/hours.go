package widget

import (
	"strings"
	"time"
)

// OpenAt says whether the widget can be talked with at a moment. Without times
// of the week it always can.
func (h *Hours) OpenAt(now time.Time) bool {
	if len(h.Open) == 0 {
		return true
	}
	zone, err := time.LoadLocation(h.Timezone)
	if err != nil {
		return true // normalized hours have a zone; one that was abolished shuts nobody out
	}
	local := now.In(zone)
	day, clock := strings.ToLower(local.Weekday().String()), local.Format("15:04")
	for _, o := range h.Open {
		if o.Day == day && o.From <= clock && clock < o.To {
			return true
		}
	}
	return false
}

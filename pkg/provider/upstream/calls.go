package upstream

import "time"

// Calls says whether a service may be asked, and hears what came of it: context.Canceled
// where that did not show. A nil one lets everything through.
type Calls func() (report func(err error, took time.Duration), ok bool)

// Allow asks; what it answers is not nil where ok.
func (c Calls) Allow() (report func(err error, took time.Duration), ok bool) {
	if c == nil {
		return func(error, time.Duration) {}, true
	}
	return c()
}

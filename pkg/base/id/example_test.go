package id_test

import (
	"fmt"
	"time"

	"visavis.dev/pkg/base/id"
)

// Ids that are made of moments sort by them, and their text tells their kind.
func ExampleAt() {
	morning := time.Date(2026, time.November, 1, 9, 0, 0, 0, time.UTC)
	first, second := id.EventAt(morning), id.EventAt(morning.Add(time.Microsecond))
	fmt.Println(first.String() < second.String(), first.Time())

	_, err := id.ParseAvatar(first.String())
	fmt.Println(err)
	// Output:
	// true 2026-11-01 09:00:00 +0000 UTC
	// not an id of this kind
}

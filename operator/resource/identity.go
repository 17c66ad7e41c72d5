package resource

import (
	"time"

	"visavis.dev/operator/apis/v1alpha1"
)

// Identity is the id of what a resource manages: of what it adopts, or else the one it
// has noted, or else its own. Its own follows from its uid and when it was made, so
// that whoever finds a resource whose making broke off makes the same thing again, and
// it sorts among the others as it was made. The error is a Refusal.
//
// parse reads such an id, and named makes the one of something that was made at a
// moment and has a name (id.NamedAt).
func Identity[T any](o Object, noted string, parse func(string) (T, error), named func(time.Time, string) T) (T, error) {
	text := Adopts(o)
	if text == "" {
		text = noted
	}
	if text == "" {
		return named(o.GetCreationTimestamp().Time, string(o.GetUID())), nil
	}
	which, err := parse(text)
	if err != nil {
		return which, Invalid("%q is no id that %s could name.", text, v1alpha1.AdoptAnnotation)
	}
	return which, nil
}

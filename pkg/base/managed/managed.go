// Package managed says who changes a row: callers of the API, or a custom resource
// that declares what it is to be. Every row that can be declared keeps it in its
// column managed_by.
package managed

import (
	"fmt"
	"strings"

	"visavis.dev/pkg/base/errdefs"
)

// By is what manages a row.
type By string

// API manages what no custom resource declares.
const API By = "api"

// Resource is a custom resource. Its uid tells it from one that had its name before;
// the namespace of one of the cluster is empty.
type Resource struct{ Kind, Namespace, Name, UID string }

// By is the form that rows keep.
func (r Resource) By() By {
	return By(strings.Join([]string{r.Kind, r.Namespace, r.Name, r.UID}, "/"))
}

// Named are the ends of all that resources of the name manage or managed, whatever
// their uids: from ≤ By < to, in the order of bytes.
func (r Resource) Named() (from, to By) {
	from = By(strings.Join([]string{r.Kind, r.Namespace, r.Name, ""}, "/"))
	return from, from[:len(from)-1] + "0" // the character after "/"
}

// SameName says whether another resource has the name, or had it before.
func (r Resource) SameName(other Resource) bool {
	r.UID, other.UID = "", ""
	return r == other
}

func (r Resource) String() string {
	if r.Namespace == "" {
		return r.Kind + " " + r.Name
	}
	return r.Kind + " " + r.Namespace + "/" + r.Name
}

// Resource is the custom resource that manages; ok is false where none does.
func (b By) Resource() (r Resource, ok bool) {
	parts := strings.Split(string(b), "/")
	if len(parts) != 4 {
		return Resource{}, false
	}
	return Resource{parts[0], parts[1], parts[2], parts[3]}, true
}

// String names it for people: "api", or "Webhook acme/orders".
func (b By) String() string {
	if r, ok := b.Resource(); ok {
		return r.String()
	}
	return string(b)
}

// Check refuses whoever does not manage the row, which a noun and an id name. The error is
// an *Error.
func (b By) Check(who By, noun errdefs.Noun, id string) error {
	if b == who {
		return nil
	}
	return &Error{Noun: noun, ID: id, By: b}
}

// Error says that something else manages a row.
type Error struct {
	Noun errdefs.Noun
	ID   string
	By   By
}

func (e *Error) Error() string { return fmt.Sprintf("it is managed by %s", e.By) }

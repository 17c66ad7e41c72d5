package resource

import (
	"fmt"
	"slices"

	"visavis.dev/operator/apis/v1alpha1"
)

// EveryNamespace stands in a list of namespaces for every one that there is.
const EveryNamespace = "*"

// Namespaces are those whose resources the operator brings about, and whose Secrets it
// may read and write. nil are all.
type Namespaces []string

// Serving are the operator's own namespace and further ones, or all where one of them is
// EveryNamespace.
func Serving(own string, further ...string) Namespaces {
	if slices.Contains(further, EveryNamespace) {
		return nil
	}
	all := append(Namespaces{own}, further...)
	slices.Sort(all)
	return slices.Compact(all)
}

// Serve says whether the resources of a namespace are brought about. Those without one
// are the operator's in any case.
func (n Namespaces) Serve(namespace string) bool {
	return n == nil || namespace == "" || slices.Contains(n, namespace)
}

// notServed refuses a resource of a namespace that is not served. Nothing is done to it
// and its rows, and one that was served before, and is being deleted, waits.
func notServed(o Object) *Refusal {
	message := fmt.Sprintf("The operator does not serve the namespace %s: add it to operator.namespaces of the chart (--serve-namespace of visavis operator).", o.GetNamespace())
	if !o.GetDeletionTimestamp().IsZero() {
		message += " Its deletion waits for that."
	}
	return &Refusal{Reason: v1alpha1.ReasonNamespaceNotServed, Message: message}
}

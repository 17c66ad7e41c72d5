package event

import (
	"fmt"
	"maps"
	"slices"

	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/scope"
)

// Kind is a type's entry in the catalogue (spec, EventType). The entries are
// shared: nobody changes them.
type Kind struct {
	Type Type
	// Description says when an event of the type is sent.
	Description string
	// Since is the contract the type appeared in. It informs only: a webhook of
	// an older contract receives the type too, written in its contract.
	Since contract.Version
	// Scope is what GET /events needs besides events:read (spec, Events, rule 2).
	Scope scope.Scope
	// ExplicitOnly types are never part of "*".
	ExplicitOnly bool
	// RequiresConversation types are only for a webhook with includeConversation.
	RequiresConversation bool
	Fields               Fields

	values    fieldValues
	structure map[string]any // the structure fields, all null
	schema    func() map[string]any
}

// Kinds lists the catalogue in the spec's order. The list is the caller's own.
func Kinds() []*Kind { return slices.Clone(catalogue) }

// Find is a type's entry.
func Find(t Type) (*Kind, bool) {
	k, ok := catalogueByType[t]
	return k, ok
}

// Structure completes the structure fields that an emitter gives, by name:
// those that are left out are null. A field of another class, or one that the
// entry lacks, is an error. What the values are is not checked. The map is the
// caller's own.
func (k *Kind) Structure(fields map[string]any) (map[string]any, error) {
	data := maps.Clone(k.structure)
	for name, value := range fields {
		if _, ok := data[name]; !ok {
			return nil, k.refuse(name)
		}
		data[name] = value
	}
	return data, nil
}

func (k *Kind) refuse(name string) error {
	for _, c := range k.Fields.classes() {
		if slices.ContainsFunc(fieldBranches(c.paths), func(b fieldBranch) bool { return b.name == name }) {
			return fmt.Errorf("event %s: %s is a %s field, which no emitter gives", k.Type, name, c.name)
		}
	}
	return fmt.Errorf("event %s has no field %s", k.Type, name)
}

// Blank is the contact, result and conversation fields as data has them when
// all are held back: an object such as contact has null members, everything
// else is null. The map is the caller's own.
func (k *Kind) Blank() map[string]any {
	return blankObject(slices.Concat(k.Fields.Contact, k.Fields.Result, k.Fields.Conversation))
}

func blankObject(paths []string) map[string]any {
	object := map[string]any{}
	for _, b := range fieldBranches(paths) {
		if len(b.below) > 0 && !b.list {
			object[b.name] = blankObject(b.below)
		} else {
			object[b.name] = nil
		}
	}
	return object
}

// Schema is the JSON Schema (2020-12) of data in the newest contract. It is
// made once and shared: nobody changes it.
func (k *Kind) Schema() map[string]any { return k.schema() }

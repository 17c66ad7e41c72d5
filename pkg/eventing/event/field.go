package event

import (
	"slices"
	"strings"
)

// Fields are the names of data's fields by class (spec, EventType). A dotted
// path is a member of an object, and [] marks a list's items: answers[].question.
// No list is nil.
type Fields struct {
	// Structure fields are recorded with the event, and always there.
	Structure []string `json:"structure"`
	// Contact fields say how to reach a visitor; only on leads, bookings and hand-offs.
	Contact []string `json:"contact"`
	// Result fields are null until the result is released.
	Result []string `json:"result"`
	// Conversation fields are words of a conversation; null without
	// includeConversation, and where the privacy rules hold them back.
	Conversation []string `json:"conversation"`
}

// fieldClass is one of the classes of Fields.
type fieldClass struct {
	name  string
	paths []string
	// null says, for the schema, when fields of the class are null.
	null string
}

func (f Fields) classes() []fieldClass {
	return []fieldClass{
		{"structure", f.Structure, ""},
		{"contact", f.Contact, "Null when the visitor did not say it, and once it is forgotten."},
		{"result", f.Result, "Null until the result is released."},
		{"conversation", f.Conversation, "Null without includeConversation, and where the privacy rules hold it back."},
	}
}

// fieldBranch is a member of data, or of an object in it.
type fieldBranch struct {
	name string
	// list says that the value is a list.
	list bool
	// below are the paths within the value, or within each item; none when it
	// has no members.
	below []string
}

// fieldBranches gathers paths by their first step, in their order.
func fieldBranches(paths []string) []fieldBranch {
	var branches []fieldBranch
	for _, path := range paths {
		step, rest, nested := strings.Cut(path, ".")
		name, list := strings.CutSuffix(step, "[]")
		i := slices.IndexFunc(branches, func(b fieldBranch) bool { return b.name == name })
		if i < 0 {
			i = len(branches)
			branches = append(branches, fieldBranch{name: name, list: list})
		}
		if nested {
			branches[i].below = append(branches[i].below, rest)
		}
	}
	return branches
}

package widget

import (
	"net/mail"
	"slices"
	"strings"

	"visavis.dev/pkg/base/errdefs"
)

// Contact is what a visitor leaves in the lead form, by the names of its fields.
type Contact map[string]string

// maxContact bounds a field of a contact, in characters.
const maxContact = 200

// Normalize answers a contact as it is kept: what the form asks for and what is
// not empty. The error is an errdefs.Invalid.
func (f *LeadForm) Normalize(given Contact) (Contact, error) {
	kept := Contact{}
	for _, name := range []string{"name", "email", "phone", "company"} {
		value := strings.TrimSpace(given[name])
		switch {
		case value == "" && slices.Contains(f.Required, name):
			return nil, errdefs.InvalidField(name, "is required")
		case value == "":
			continue
		case !slices.Contains(f.Fields, name):
			return nil, errdefs.InvalidField(name, "is not asked for")
		case len([]rune(value)) > maxContact:
			return nil, errdefs.InvalidField(name, "has at most %d characters", maxContact)
		case name == "email" && !isAddress(value):
			return nil, errdefs.InvalidField(name, "is not an e-mail address")
		case name == "phone" && !strings.ContainsAny(value, "0123456789"):
			return nil, errdefs.InvalidField(name, "is not a telephone number")
		}
		kept[name] = value
	}
	return kept, nil
}

// isAddress says whether a text is an address alone, without a name around it.
func isAddress(text string) bool {
	parsed, err := mail.ParseAddress(text)
	return err == nil && parsed.Address == text
}

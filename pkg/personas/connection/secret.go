package connection

import (
	"net/url"
	"strings"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/vault"
)

// shownFrom is how long a secret must be for its end to be shown.
const shownFrom = 16

// Secret proves to a service who asks. It formats as nothing, so that no log
// line can hold it by accident.
type Secret string

// String hides the secret.
func (Secret) String() string { return "[secret]" }

// GoString hides the secret.
func (Secret) GoString() string { return "[secret]" }

// last4 is what is shown of a secret.
func (s Secret) last4() string {
	if len(s) < shownFrom {
		return ""
	}
	return string(s[len(s)-4:])
}

// place is where a secret opens: in its organization's connection alone.
func place(org id.Org, c id.Connection) string { return org.String() + "/" + c.String() }

// seal is the form of a secret that the database keeps; nil for none.
func (s Secret) seal(v *vault.Vault, org id.Org, c id.Connection) []byte {
	if s == "" {
		return nil
	}
	return v.Seal(place(org, c), []byte(s))
}

// origin is the scheme and host of an address: the same for all ways to write it.
func origin(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	host := strings.ToLower(u.Host)
	return u.Scheme + "://" + strings.TrimSuffix(host, map[string]string{"https": ":443", "http": ":80"}[u.Scheme])
}

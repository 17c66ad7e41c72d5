package mailer

import (
	"encoding/base64"
	"errors"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/vault"
)

// LinkPath is where the pages of appointments are, on the portals' own host; a token follows.
const LinkPath = "/booking/"

// AppointmentLink is what the link in a mail about an appointment opens: an item of the inbox or an
// interview with people. Nobody makes one but who has the deployment's key, and it opens what is,
// whatever was when it was sent.
type AppointmentLink struct {
	Org       id.Org
	Item      id.InboxItem
	Interview id.Interview
}

// ErrNoAppointment says that a token opens nothing.
var ErrNoAppointment = errors.New("the token opens no appointment")

// linkPlace is where tokens open.
const linkPlace = "appointment link"

// Token is what stands in the link.
func (l AppointmentLink) Token(v *vault.Vault) string {
	sealed := append(append(append([]byte(nil), l.Org[:]...), l.Item[:]...), l.Interview[:]...)
	return base64.RawURLEncoding.EncodeToString(v.Seal(linkPlace, sealed))
}

// OpenLink reads a token. The error is ErrNoAppointment.
func OpenLink(v *vault.Vault, token string) (l AppointmentLink, err error) {
	sealed, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil {
		return l, ErrNoAppointment
	}
	opened, err := v.Open(linkPlace, sealed)
	const size = len(l.Org)
	if err != nil || len(opened) != 3*size {
		return l, ErrNoAppointment
	}
	copy(l.Org[:], opened)
	copy(l.Item[:], opened[size:])
	copy(l.Interview[:], opened[2*size:])
	return l, nil
}

// Package person is the people of an organization and their places in its portals
// (spec, People).
package person

import (
	"errors"
	"time"
	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/store/activity"

	"visavis.dev/pkg/base/id"
)

// State is where a person stands.
type State string

// The states. Of somebody who was erased nothing but the id is left.
const (
	Invited  State = "invited"
	Active   State = "active"
	Disabled State = "disabled"
	Erased   State = "erased"
)

// AgeBand is about how old somebody is.
type AgeBand string

// The bands. Who is of an unknown age is not taken for a minor.
const (
	Under13    AgeBand = "under_13"
	From13     AgeBand = "13_15"
	From16     AgeBand = "16_17"
	Adult      AgeBand = "adult"
	UnknownAge AgeBand = "unknown"
)

// AgeBands lists every band, the youngest first.
func AgeBands() []AgeBand { return []AgeBand{Under13, From13, From16, Adult, UnknownAge} }

// Youngest is the least age of somebody of the band, in years. Of an unknown age
// is nobody too young for anything.
func (b AgeBand) Youngest() int64 {
	switch b {
	case Under13:
		return 0
	case From13:
		return 13
	case From16:
		return 16
	case Adult:
		return 18
	default:
		return ageless
	}
}

// Oldest is the greatest age of somebody of the band, in years.
func (b AgeBand) Oldest() int64 {
	switch b {
	case Under13:
		return 12
	case From13:
		return 15
	case From16:
		return 17
	default:
		return ageless
	}
}

// ageless is above every age that a portal can ask for.
const ageless = 1000

// Minor says whether somebody of the band is a minor.
func (b AgeBand) Minor() bool { return b == Under13 || b == From13 || b == From16 }

// Person is one person.
type Person struct {
	ID                    id.Person
	Name                  string
	GivenName, FamilyName *string
	Email                 *string
	Phone                 *string
	// ExternalID is the organization's own name for the person; unique in it.
	ExternalID           *string
	Language, Timezone   *string
	AgeBand              AgeBand
	State                State
	LastSeenAt           *time.Time
	Metadata             map[string]string
	Edition              int64
	CreatedAt, UpdatedAt time.Time
	ErasedAt             *time.Time
	// Claimed says that nobody vouches for who they are: they said it themselves.
	Claimed bool
}

// Role is what somebody is in a portal.
type Role string

// The roles.
const (
	Learner  Role = "learner"
	Manager  Role = "manager"
	Reviewer Role = "reviewer"
	Teacher  Role = "teacher"
	Staff    Role = "staff"
	Admin    Role = "admin"
)

// Roles lists every role.
func Roles() []Role { return []Role{Learner, Manager, Reviewer, Teacher, Staff, Admin} }

// Longest is how many characters a detail of a person may have, by its name.
var Longest = map[string]int{
	"name": 200, "givenName": 100, "familyName": 100, "email": 320, "phone": 40, "externalId": 200, "language": 100, "timezone": 60,
}

// Membership is a person's place in a portal.
type Membership struct {
	ID     id.Membership
	Person id.Person
	Portal id.Portal
	// Unit is the zero id outside any.
	Unit id.Unit
	Role Role
	// Enabled is its own switch; its unit's counts beside it.
	Enabled          bool
	StartsAt, EndsAt *time.Time
	// Consent is the newest of a guardian; the zero id without one. Others may count beside it.
	Consent id.Consent
	// Door is the one it came in by last; nil before the first.
	Door                 *string
	LastSignInAt         *time.Time
	ExternalID           *string
	Metadata             map[string]string
	Edition              int64
	CreatedAt, UpdatedAt time.Time
	// RemovedAt is when the place was taken away; nil while it is there.
	RemovedAt *time.Time
	// ToldOn is what was last told: whether it is switched on, all switches
	// taken together.
	ToldOn bool
}

// Author is who makes a change, and when.
type Author = activity.Actor

// The nouns that errors of this package are about, besides portals and units.
const (
	Noun           errdefs.Noun = "person"
	MembershipNoun errdefs.Noun = "membership"
)

// Errors of this package, besides others of package errdefs.
var (
	// ErrEmailTaken and ErrExternalIDTaken say that somebody else has it.
	ErrEmailTaken error = &errdefs.Conflict{
		Noun: Noun, Reason: "email_taken", Message: "Somebody else has this e-mail address.",
	}
	ErrExternalIDTaken error = &errdefs.Conflict{
		Noun: Noun, Reason: "external_id_taken", Message: "The externalId and the person do not belong together.",
	}
	// ErrFull says that the plan allows no more people.
	ErrFull = errors.New("no more people are allowed")
	// ErrDates says that a place would end before it starts.
	ErrDates = errors.New("the place would end before it starts")
)

// erased says that somebody was.
func erased(p id.Person) error { return errdefs.Gone{Noun: Noun, ID: p.String(), How: "erased"} }

// removed says that a place was.
func removed(m id.Membership) error {
	return errdefs.Gone{Noun: MembershipNoun, ID: m.String(), How: "removed"}
}

// taken says that the person has the place already, by another membership.
func taken(by id.Membership) error {
	return &errdefs.Conflict{
		Noun: MembershipNoun, Reason: ReasonTaken, Message: "The person has this place already.",
		Details: map[string]any{"membershipId": by.String()},
	}
}

// ReasonTaken is that of the conflict of a place that a person has already, by
// details.membershipId.
const ReasonTaken = "already_member"

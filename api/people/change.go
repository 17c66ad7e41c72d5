package people

import (
	"context"
	"net/http"

	"visavis.dev/api/jobs"
	"visavis.dev/api/memberships"
	"visavis.dev/api/route"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/portals/person"
	"visavis.dev/pkg/store/tenant"
)

// Input is the request to add or to find a person.
type Input struct{ Body PersonInput }

// PersonInput is a person to be found, or else to be added, and their place.
type PersonInput struct {
	Name       string                 `json:"name" minLength:"1" maxLength:"200" doc:"The person's full name."`
	GivenName  *string                `json:"givenName,omitempty" maxLength:"100" nullable:"true" doc:"The given name alone; null where it is not known."`
	FamilyName *string                `json:"familyName,omitempty" maxLength:"100" nullable:"true" doc:"The family name alone; null where it is not known."`
	Email      *string                `json:"email,omitempty" maxLength:"320" nullable:"true" doc:"Upper and lower case are the same."`
	Phone      *string                `json:"phone,omitempty" maxLength:"40" nullable:"true" doc:"With its country, such as +4930123456."`
	ExternalID *string                `json:"externalId,omitempty" minLength:"1" maxLength:"200" nullable:"true" doc:"Your own name for the person."`
	Language   *string                `json:"language,omitempty" maxLength:"100" nullable:"true" doc:"A code or a name."`
	Timezone   *string                `json:"timezone,omitempty" maxLength:"60" nullable:"true" doc:"Such as Europe/Berlin."`
	AgeBand    person.AgeBand         `json:"ageBand,omitempty" enum:"under_13,13_15,16_17,adult,unknown" doc:"unknown unless given, which is not taken for a minor."`
	Metadata   map[string]string      `json:"metadata,omitempty" doc:"20 keys of 40 characters at most, with values of 500."`
	Membership memberships.PlaceInput `json:"membership" doc:"The place in a portal that the person is to have."`
	SendInvite bool                   `json:"sendInvite,omitempty" doc:"Mails them a link that opens the portal once, in 14 days. The door members_link must be open."`
}

// PersonAdded is a person who was added or found.
type PersonAdded struct {
	Person
	Created      bool          `json:"created" doc:"Whether the person is new."`
	MembershipID id.Membership `json:"membershipId" doc:"Of the place that was asked for."`
}

func (a *API) create(ctx context.Context, c *route.Call, in *Input) (PersonAdded, error) {
	b := in.Body
	place, err := b.Membership.Place("body.membership.")
	if err != nil {
		return PersonAdded{}, err
	}
	if err := route.CheckMetadata(b.Metadata); err != nil {
		return PersonAdded{}, err
	}
	place.Find = true
	wanted := person.Wanted{
		Name: b.Name, GivenName: b.GivenName, FamilyName: b.FamilyName, Email: b.Email, Phone: b.Phone, ExternalID: b.ExternalID,
		Language: b.Language, Timezone: b.Timezone, AgeBand: b.AgeBand, Metadata: b.Metadata, Terms: c.Principal.Terms, At: c.Now(),
		Invited: b.SendInvite,
	}
	return route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (PersonAdded, error) {
		return a.add(ctx, c, tx, wanted, place, b.SendInvite)
	})
}

// add adds or finds a person with a place.
func (a *API) add(ctx context.Context, c *route.Call, tx *tenant.Tx, wanted person.Wanted, place person.Place, invite bool) (PersonAdded, error) {
	// Portals are locked before people.
	if err := person.Hold(ctx, tx, place.Portal); err != nil {
		return PersonAdded{}, memberships.AsProblem(err, "body.membership.")
	}
	added, err := person.AddWithPlace(ctx, tx, wanted, place, c.Actor())
	if err != nil {
		return PersonAdded{}, AddProblem(err, a.Plans, wanted.Terms, "body.membership.")
	}
	if !added.Created {
		c.AnswerWith(http.StatusOK)
	}
	if invite {
		if err := a.Gate.Invite(ctx, tx, added.Person, added.Membership, c.Actor()); err != nil {
			return PersonAdded{}, inviteProblem(err)
		}
	}
	shown, err := read(ctx, c, tx, added.Person)
	return PersonAdded{Person: shown, Created: added.Created, MembershipID: added.Membership.ID}, err
}

// UpdateInput is the request for a change of a person.
type UpdateInput struct {
	Path
	route.Edition
	Body PersonChange
}

// PersonChange is what to change of a person.
type PersonChange struct {
	Name       route.Opt[string]            `json:"name,omitzero" minLength:"1" maxLength:"200" doc:"The person's full name."`
	GivenName  route.OptNull[string]        `json:"givenName,omitzero" maxLength:"100" doc:"The given name alone; null to forget it."`
	FamilyName route.OptNull[string]        `json:"familyName,omitzero" maxLength:"100" doc:"The family name alone; null to forget it."`
	Email      route.OptNull[string]        `json:"email,omitzero" maxLength:"320" doc:"A new mail address; null to forget it."`
	Phone      route.OptNull[string]        `json:"phone,omitzero" maxLength:"40" doc:"A new phone number, in any form; null to forget it."`
	ExternalID route.OptNull[string]        `json:"externalId,omitzero" minLength:"1" maxLength:"200" doc:"The person's id in your own system; null for none."`
	Language   route.OptNull[string]        `json:"language,omitzero" maxLength:"100" doc:"The language that the person prefers, as a code or a name; null for none."`
	Timezone   route.OptNull[string]        `json:"timezone,omitzero" maxLength:"60" doc:"The person's time zone, as the IANA names it: Europe/Berlin; null for none."`
	AgeBand    route.Opt[person.AgeBand]    `json:"ageBand,omitzero" enum:"under_13,13_15,16_17,adult,unknown" doc:"How old the person is, as far as it matters."`
	State      route.Opt[person.State]      `json:"state,omitzero" enum:"active,disabled" doc:"disabled switches all places of the person off."`
	Metadata   route.Opt[map[string]string] `json:"metadata,omitzero" doc:"In place of what there was: 20 keys of 40 characters at most, with values of 500."`
}

// apply is a person with what was sent of them.
func (b PersonChange) apply(p person.Person) person.Person {
	if b.Name.Set {
		p.Name = b.Name.Value
	}
	for to, sent := range map[**string]route.OptNull[string]{
		&p.GivenName: b.GivenName, &p.FamilyName: b.FamilyName, &p.Email: b.Email, &p.Phone: b.Phone,
		&p.ExternalID: b.ExternalID, &p.Language: b.Language, &p.Timezone: b.Timezone,
	} {
		if sent.Set {
			*to = sent.Value
		}
	}
	if b.AgeBand.Set {
		p.AgeBand = b.AgeBand.Value
	}
	if b.State.Set {
		p.State = b.State.Value
	}
	if b.Metadata.Set {
		p.Metadata = b.Metadata.Value
	}
	return p
}

func (a *API) update(ctx context.Context, c *route.Call, in *UpdateInput) (Person, error) {
	wanted, err := in.person()
	if err != nil {
		return Person{}, err
	}
	if err := route.CheckMetadata(in.Body.Metadata.Value); err != nil {
		return Person{}, err
	}
	return route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (Person, error) {
		before, err := person.LockAll(ctx, tx, wanted)
		if err != nil {
			return Person{}, asProblem(err)
		}
		if err := in.Check(before.Edition, nil); err != nil {
			return Person{}, err
		}
		now, _, err := person.Update(ctx, tx, before, in.Body.apply(before), c.Actor())
		if err != nil {
			return Person{}, asProblem(err)
		}
		return read(ctx, c, tx, now)
	})
}

// JoinInput is the request for another place.
type JoinInput struct {
	Path
	Body memberships.PlaceInput
}

func (a *API) join(ctx context.Context, c *route.Call, in *JoinInput) (memberships.Membership, error) {
	wanted, err := in.person()
	if err != nil {
		return memberships.Membership{}, err
	}
	place, err := in.Body.Place("body.")
	if err != nil {
		return memberships.Membership{}, err
	}
	return route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (memberships.Membership, error) {
		if err := person.Hold(ctx, tx, place.Portal); err != nil {
			return memberships.Membership{}, memberships.AsProblem(err, "body.")
		}
		p, err := person.Lock(ctx, tx, wanted)
		if err != nil {
			return memberships.Membership{}, asProblem(err)
		}
		m, _, err := person.Join(ctx, tx, p, place, c.Actor())
		if err != nil {
			return memberships.Membership{}, memberships.AsProblem(err, "body.")
		}
		return memberships.Read(ctx, c, tx, m.ID)
	})
}

func (a *API) erase(ctx context.Context, c *route.Call, p *Path) (jobs.Job, error) {
	wanted, err := p.person()
	if err != nil {
		return jobs.Job{}, err
	}
	return route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (jobs.Job, error) {
		j, err := person.Erase(ctx, tx, wanted, c.Actor())
		return jobs.Show(j), asProblem(err)
	})
}

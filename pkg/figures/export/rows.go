package export

import (
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/sessions/inbox"
)

func resultRow(row pgx.CollectableRow, _ Order) (uuid.UUID, []any, error) {
	r, err := pgx.RowToStructByPos[struct {
		ID                           id.Result
		Kind, State                  string
		Subject                      id.Subject
		Portal                       id.Portal
		Unit                         id.Unit
		Person                       id.Person
		Membership                   id.Membership
		Assignment                   id.Assignment
		Attempt                      int64
		Language                     string
		Started, Completed, Released *time.Time
		Percent, Score, MaxScore     *float64
		Band                         *string
		Passed                       *bool
	}](row)
	return uuid.UUID(r.ID), []any{
		named(r.ID), r.Kind, r.State, named(r.Subject), named(r.Portal), named(r.Unit), named(r.Person), named(r.Membership), named(r.Assignment), r.Attempt,
		r.Language, at(r.Started), at(r.Completed), at(r.Released), or(r.Percent), or(r.Score), or(r.MaxScore), or(r.Band), or(r.Passed),
	}, err
}

func sessionRow(row pgx.CollectableRow, _ Order) (uuid.UUID, []any, error) {
	r, err := pgx.RowToStructByPos[struct {
		ID                           id.Session
		State, Kind, Source, Channel string
		Persona                      id.Persona
		Portal                       id.Portal
		Subject                      id.Subject
		Person                       id.Person
		Language                     string
		Sandbox                      bool
		Created, Started, Ended      *time.Time
		Reason                       *string
		DurationS, BilledS           *int64
		Turns                        int64
		Outcome                      *string
		Rating, Scale                *int64
	}](row)
	return uuid.UUID(r.ID), []any{
		named(r.ID), r.State, r.Kind, r.Source, r.Channel, named(r.Persona), named(r.Portal), named(r.Subject), named(r.Person), r.Language, r.Sandbox,
		at(r.Created), at(r.Started), at(r.Ended), or(r.Reason), or(r.DurationS), or(r.BilledS), r.Turns, or(r.Outcome), or(r.Rating), or(r.Scale),
	}, err
}

func leadRow(row pgx.CollectableRow, o Order) (uuid.UUID, []any, error) {
	r, err := pgx.RowToStructByPos[struct {
		ID                          id.InboxItem
		State                       string
		Band                        *string
		Portal                      id.Portal
		Widget                      id.Widget
		Persona                     id.Persona
		Session                     id.Session
		Language                    string
		Contact                     *inbox.Contact
		Words                       inbox.Words
		ExternalID                  *string
		Forgotten, Created, Updated *time.Time
	}](row)
	contact := inbox.Contact{}
	if r.Contact != nil {
		contact = *r.Contact
	}
	var agreed any
	if contact.Consent != nil {
		agreed = contact.Consent.Given
	}
	if !o.Words {
		r.Words = inbox.Words{}
	}
	return uuid.UUID(r.ID), []any{
		named(r.ID), r.State, or(r.Band), named(r.Portal), named(r.Widget), named(r.Persona), named(r.Session), r.Language, or(contact.Name), or(contact.Email),
		or(contact.Phone), or(contact.Company), or(contact.JobTitle), or(contact.PreferredChannel), agreed, or(r.Words.Need), or(r.Words.Budget),
		or(r.Words.Timeline), or(r.ExternalID), at(r.Forgotten), at(r.Created), at(r.Updated),
	}, err
}

func personRow(row pgx.CollectableRow, _ Order) (uuid.UUID, []any, error) {
	r, err := pgx.RowToStructByPos[struct {
		ID                                                              id.Person
		State, Name                                                     string
		GivenName, FamilyName, Email, Phone, ExternalID, Language, Zone *string
		AgeBand                                                         string
		Seen, Created, Updated                                          *time.Time
	}](row)
	return uuid.UUID(r.ID), []any{
		named(r.ID), r.State, r.Name, or(r.GivenName), or(r.FamilyName), or(r.Email), or(r.Phone), or(r.ExternalID), or(r.Language), or(r.Zone), r.AgeBand,
		at(r.Seen), at(r.Created), at(r.Updated),
	}, err
}

func candidateRow(row pgx.CollectableRow, o Order) (uuid.UUID, []any, error) {
	r, err := pgx.RowToStructByPos[struct {
		ID                       id.Candidate
		Role                     id.Role
		Invite                   id.Invite
		State, Stage, Language   string
		Sandbox                  bool
		Screened, Reviewed       *time.Time
		Decision, DecidedAt      *string
		Name                     *string
		Email, Phone, ExternalID *string
		Hidden                   bool
		Created, Updated         *time.Time
	}](row)
	if !o.Personal || r.Hidden {
		r.Name, r.Email, r.Phone, r.ExternalID = nil, nil, nil, nil
	}
	return uuid.UUID(r.ID), []any{
		named(r.ID), named(r.Role), named(r.Invite), r.State, r.Stage, r.Language, r.Sandbox, at(r.Screened), at(r.Reviewed), or(r.Decision), or(r.DecidedAt),
		or(r.Name), or(r.Email), or(r.Phone), or(r.ExternalID), at(r.Created), at(r.Updated),
	}, err
}

func consentRow(row pgx.CollectableRow, _ Order) (uuid.UUID, []any, error) {
	r, err := pgx.RowToStructByPos[struct {
		ID                      id.Consent
		Kind, State             string
		Avatar                  id.Avatar
		Voice                   id.Voice
		Membership              id.Membership
		Statement, Policy, Name string
		Email                   *string
		Signed, Recorded        *time.Time
		By                      string
		Withdrawn               *time.Time
	}](row)
	return uuid.UUID(r.ID), []any{
		named(r.ID), r.Kind, r.State, named(r.Avatar), named(r.Voice), named(r.Membership), r.Statement, r.Policy, r.Name, or(r.Email), at(r.Signed),
		at(r.Recorded), r.By, at(r.Withdrawn),
	}, err
}

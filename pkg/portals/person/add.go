package person

import (
	"context"
	"time"
	_ "time/tzdata" // the image has no time zones of its own

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/language"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/store/database"
	"visavis.dev/pkg/store/tenant"
)

// Wanted is somebody to be found, or else to be added.
type Wanted struct {
	Name                  string
	GivenName, FamilyName *string
	Email, Phone          *string
	ExternalID            *string
	// Language is a code or a name.
	Language, Timezone *string
	// AgeBand is UnknownAge unless it is given.
	AgeBand  AgeBand
	Metadata map[string]string
	// Claimed says that they came by themselves and nobody vouches for the address: by it
	// nobody is found, or everybody could be anybody, or learn whom there is.
	Claimed bool
	// Invited says that who is added is invited, and has begun once they come in.
	Invited bool
	// Terms bound how many people there are.
	Terms plan.Terms
	At    time.Time
}

// person is the person to be added.
func (w Wanted) person() Person {
	p := Person{
		ID: id.NewPerson(), Name: w.Name, GivenName: w.GivenName, FamilyName: w.FamilyName, Email: w.Email, Phone: w.Phone,
		ExternalID: w.ExternalID, Language: w.Language, Timezone: w.Timezone, AgeBand: w.AgeBand, State: Active, Metadata: w.Metadata,
		Edition: 1, CreatedAt: w.At, UpdatedAt: w.At, Claimed: w.Claimed,
	}
	if w.Invited {
		p.State = Invited
	}
	if p.AgeBand == "" {
		p.AgeBand = UnknownAge
	}
	if p.Metadata == nil {
		p.Metadata = map[string]string{}
	}
	return p
}

// normalize brings the details of a person into the form that is kept. The error is an errdefs.Invalid.
func (p *Person) normalize() (key *string, err error) {
	if p.Email != nil {
		shown, folded, ok := Address(*p.Email)
		if !ok {
			return nil, errdefs.InvalidField("email", "is no e-mail address")
		}
		p.Email, key = &shown, &folded
	}
	if p.Phone != nil {
		number, ok := Phone(*p.Phone)
		if !ok {
			return nil, errdefs.InvalidField("phone", "is no telephone number with its country, such as +4930123456")
		}
		p.Phone = &number
	}
	if p.Language != nil {
		found, ok := language.Lookup(*p.Language)
		if !ok {
			return nil, errdefs.InvalidField("language", "is no language of GET /languages")
		}
		p.Language = &found.Code
	}
	if p.Timezone != nil {
		if _, err := time.LoadLocation(*p.Timezone); err != nil || *p.Timezone == "" || *p.Timezone == "Local" {
			return nil, errdefs.InvalidField("timezone", "is no time zone, such as Europe/Berlin")
		}
	}
	return key, nil
}

// FindOrAdd finds somebody by their external id, then by their e-mail address,
// and else adds them. Whoever is found gets the external id or the address that
// they lacked and is otherwise left as they are. The person is locked until the
// commit. Who is claimed is always added, and is not found by the address that they
// claimed, which is taken from them. The error is an errdefs.Invalid, ErrEmailTaken (by
// somebody with another external id), ErrExternalIDTaken (somebody with the address goes by another external id) or ErrFull.
func FindOrAdd(ctx context.Context, tx *tenant.Tx, w Wanted) (Person, bool, error) {
	wanted := w.person()
	key, err := wanted.normalize()
	if err != nil {
		return Person{}, false, err
	}
	if w.Claimed {
		return wanted.addClaimed(ctx, tx, key, w.Terms)
	}
	found, err := wanted.match(ctx, tx, key)
	if err == nil || !errdefs.IsNotFound(err, Noun) {
		return found, false, err
	}
	added, err := wanted.insert(ctx, tx, key, w.Terms)
	if err != nil || added {
		return wanted, added, err
	}
	// Somebody else added them meanwhile.
	found, err = wanted.match(ctx, tx, key)
	return found, false, err
}

// Added is somebody who was found or added, with a place.
type Added struct {
	Person     Person
	Membership Membership
	// Created says that the person is new, Joined that the place is.
	Created, Joined bool
}

// AddWithPlace finds or adds somebody and gives them a place, as FindOrAdd and Join do,
// and logs both as one.
func AddWithPlace(ctx context.Context, tx *tenant.Tx, w Wanted, at Place, who Author) (a Added, err error) {
	if a.Person, a.Created, err = FindOrAdd(ctx, tx, w); err != nil {
		return a, err
	}
	if a.Membership, a.Joined, err = join(ctx, tx, a.Person, at, who); err != nil || !a.Joined {
		return a, err
	}
	m := a.Membership
	who.Log(tx, "person.added", "person", m.Person, map[string]any{
		"created": a.Created, "membershipId": m.ID, "portalId": m.Portal, "role": m.Role,
	})
	return a, nil
}

// addClaimed adds somebody whom nobody vouches for. An address that somebody has
// stays theirs: who is added goes without one then, and is told nothing of it. Who has
// the address comes in as themselves by a link that is mailed there.
func (p *Person) addClaimed(ctx context.Context, tx *tenant.Tx, key *string, terms plan.Terms) (Person, bool, error) {
	var taken bool
	// Rides person_by_email.
	if err := tx.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM person WHERE org_id = $1 AND email_key = $2)`, tx.Org, key).Scan(&taken); err != nil {
		return Person{}, false, err
	}
	if taken {
		p.Email, key = nil, nil
	}
	added, err := p.insert(ctx, tx, key, terms)
	if err == nil && !added {
		p.Email = nil // somebody else took it a moment ago
		added, err = p.insert(ctx, tx, nil, terms)
	}
	return *p, added, err
}

// match finds who is meant. The error is errdefs.NotFound for nobody.
func (p *Person) match(ctx context.Context, tx *tenant.Tx, key *string) (Person, error) {
	// Rides person_by_external and person_by_email; at most two.
	rows, err := tx.Query(ctx, `
		SELECT `+columns+` FROM person p WHERE p.org_id = $1 AND p.external_id = $2
		UNION ALL
		SELECT `+columns+` FROM person p WHERE p.org_id = $1 AND p.email_key = $3 AND ($2::TEXT IS NULL OR p.external_id IS DISTINCT FROM $2)`,
		tx.Org, p.ExternalID, key)
	if err != nil {
		return Person{}, err
	}
	found, err := pgx.CollectRows(rows, scan)
	if err != nil {
		return Person{}, err
	}
	for i, f := range found {
		if found[i], err = Lock(ctx, tx, f.ID); errdefs.IsGone(err, Noun) {
			return Person{}, errdefs.NotFound{Noun: Noun} // a moment ago
		} else if err != nil {
			return Person{}, err
		}
	}
	found, err = p.withoutClaims(ctx, tx, found)
	switch {
	case err != nil:
		return Person{}, err
	case len(found) == 0:
		return Person{}, errdefs.NotFound{Noun: Noun}
	case len(found) > 1:
		return Person{}, ErrEmailTaken
	}
	return p.complete(ctx, tx, found[0], key)
}

// withoutClaims leaves out who was found by an address that they gave themselves and
// never confirmed: the organization knows whose it is, and takes it from them. They
// stay who they said they are.
func (p *Person) withoutClaims(ctx context.Context, tx *tenant.Tx, found []Person) ([]Person, error) {
	var out []Person
	for _, known := range found {
		byID := p.ExternalID != nil && known.ExternalID != nil && *p.ExternalID == *known.ExternalID
		if byID || !known.Claimed {
			out = append(out, known)
			continue
		}
		known.Email, known.Edition, known.UpdatedAt = nil, known.Edition+1, p.UpdatedAt
		if err := known.save(ctx, tx); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// complete gives somebody who was found what to find them by next time.
func (p *Person) complete(ctx context.Context, tx *tenant.Tx, known Person, key *string) (Person, error) {
	if p.ExternalID != nil && known.ExternalID != nil && *p.ExternalID != *known.ExternalID {
		return Person{}, ErrExternalIDTaken
	}
	gainsID, gainsEmail := p.ExternalID != nil && known.ExternalID == nil, key != nil && known.Email == nil
	// Who is named by their external id and this address has it.
	vouched := known.Claimed && key != nil && (gainsEmail || *p.Email == *known.Email)
	if !gainsID && !gainsEmail && !vouched {
		return known, nil
	}
	after := known
	after.Claimed = known.Claimed && !vouched
	if gainsID {
		after.ExternalID = p.ExternalID
	}
	if gainsEmail {
		after.Email = p.Email
	}
	after.Edition, after.UpdatedAt = known.Edition+1, p.UpdatedAt
	if vouched {
		// Whoever came by the address until now may be somebody else.
		if err := signOut(ctx, tx, known.ID); err != nil {
			return after, err
		}
	}
	return after, after.save(ctx, tx)
}

// insert enters a person, unless somebody has the external id or the address.
func (p *Person) insert(ctx context.Context, tx *tenant.Tx, key *string, terms plan.Terms) (bool, error) {
	tx.Touch("person", p.ID)
	tag, err := tx.Exec(ctx, `
		INSERT INTO person (org_id, id, name, given_name, family_name, email, email_key, phone, external_id, language, timezone, age_band,
			state, metadata, edition, created_at, updated_at, claimed, terms_edition)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $16, $17, $15)
		ON CONFLICT DO NOTHING`,
		tx.Org, p.ID, p.Name, p.GivenName, p.FamilyName, p.Email, key, p.Phone, p.ExternalID, p.Language, p.Timezone, p.AgeBand,
		p.State, p.Metadata, p.Edition, p.CreatedAt, p.Claimed)
	if err != nil || tag.RowsAffected() == 0 {
		return false, err
	}
	if err := p.enterTerms(ctx, tx); err != nil {
		return true, err
	}
	limit, limited := terms.Limit(plan.Members)
	full, err := tx.Increment(ctx, string(plan.Members), limit, limited)
	if full {
		err = ErrFull
	}
	return true, err
}

// save writes a person's details. The error is an errdefs.Invalid, ErrEmailTaken or
// ErrExternalIDTaken.
func (p *Person) save(ctx context.Context, tx *tenant.Tx) error {
	key, err := p.normalize()
	if err != nil {
		return err
	}
	tx.Touch("person", p.ID)
	_, err = tx.Exec(ctx, `
		UPDATE person SET name = $3, given_name = $4, family_name = $5, email = $6, email_key = $7, phone = $8, external_id = $9,
			language = $10, timezone = $11, age_band = $12, state = $13, metadata = $14, edition = $15, updated_at = $16, erased_at = $17, claimed = $18,
			terms_edition = $15
		WHERE org_id = $1 AND id = $2`,
		tx.Org, p.ID, p.Name, p.GivenName, p.FamilyName, p.Email, key, p.Phone, p.ExternalID, p.Language, p.Timezone, p.AgeBand,
		p.State, p.Metadata, p.Edition, p.UpdatedAt, p.ErasedAt, p.Claimed)
	switch {
	case database.Violates(err, "person_by_email"):
		return ErrEmailTaken
	case database.Violates(err, "person_by_external"):
		return ErrExternalIDTaken
	case err != nil:
		return err
	}
	return p.enterTerms(ctx, tx)
}

package course

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/portals/person"
	"visavis.dev/pkg/portals/unit"
	"visavis.dev/pkg/provider/lti"
	"visavis.dev/pkg/store/tenant"
)

// Enter finds the course that a launch comes from, for whoever comes by it: nobody gets or loses places by its list until
// the commit. It is nil where its members were never read. The portal is held, and nobody is locked.
func Enter(ctx context.Context, tx *tenant.Tx, c *connection.Opened, on id.Portal, l *lti.Launch) (*Course, error) {
	if l.Course.ID == "" {
		return nil, nil //nolint:nilnil // most launches come from no course that is read
	}
	which := of(c.ID, origin(c, l.Deployment), on, l.Course.ID)
	// Those of a class who come at the same moment do not wait for each other.
	found, err := tenant.OneIn(ctx, tx, scan, Noun.NotFound(which), selectOne+` FOR SHARE`, tx.Org, which)
	if errdefs.IsNotFound(err, Noun) || err == nil && found.Unit.IsZero() {
		return nil, nil //nolint:nilnil // likewise
	}
	return &found, err
}

// Place is the place by which somebody comes in from the course: that in the class by the list, unless the organization
// has them learn in a unit that the class does not lie in, as what is set there would not hold in the class. It is the
// zero id for none in the class. It rides course_member_by_person.
func (c *Course) Place(ctx context.Context, tx *tenant.Tx, who id.Person, now time.Time) (id.Membership, error) {
	m, there, err := c.member(ctx, tx, who)
	if err != nil || !there || m.LeftAt != nil {
		return id.Membership{}, err
	}
	listed, err := tenant.AllIn(ctx, tx, pgx.RowTo[id.Membership], `
		SELECT membership_id FROM course_member WHERE org_id = $1 AND person_id = $2 AND left_at IS NULL`, tx.Org, who)
	if err != nil {
		return id.Membership{}, err
	}
	places, err := person.Places(ctx, tx, who, now)
	if err != nil {
		return id.Membership{}, err
	}
	for _, p := range slices.Backward(places) { // the oldest first
		of := p.Membership
		if of.Portal != c.Portal || of.Unit.IsZero() || of.Role != person.Learner || !p.Usable || slices.Contains(listed, of.ID) {
			continue
		}
		within, err := unit.Within(ctx, tx, []id.Unit{of.Unit})
		if err != nil || !slices.Contains(within, c.Unit) {
			return of.ID, err
		}
	}
	return m.Membership, nil
}

// Seat notes that somebody who came from the course has a place in the class, as if the list had them.
func (c *Course) Seat(ctx context.Context, tx *tenant.Tx, who id.Person, place id.Membership) error {
	return c.note(ctx, tx, who, place, c.Reading)
}

// TookOut says whether the organization took somebody out of the class, whom lists had there to the last; nobody has
// them in it again. They have no place on the portal.
func (c *Course) TookOut(ctx context.Context, tx *tenant.Tx, who id.Person) (bool, error) {
	m, there, err := c.member(ctx, tx, who)
	return there && m.LeftAt == nil, err
}

// member is what lists did for somebody in the course. It rides course_member_pkey.
type member struct {
	Person     id.Person
	Membership id.Membership
	Reading    int64
	LeftAt     *time.Time
}

const memberColumns = `person_id, membership_id, reading, left_at`

func (c *Course) member(ctx context.Context, tx *tenant.Tx, who id.Person) (m member, there bool, err error) {
	found, err := tenant.AllIn(ctx, tx, pgx.RowToStructByPos[member], `
		SELECT `+memberColumns+` FROM course_member WHERE org_id = $1 AND course_id = $2 AND person_id = $3`, tx.Org, c.ID, who)
	if err != nil || len(found) == 0 {
		return m, false, err
	}
	return found[0], true, nil
}

// ofOrganization is the reading of whom lists found in a place in the class that the organization made: none leaves them
// out, as theirs is not the list's to take.
const ofOrganization = math.MaxInt64

// note notes the place of somebody whom a reading found. One of the organization's stays so.
func (c *Course) note(ctx context.Context, tx *tenant.Tx, who id.Person, place id.Membership, reading int64) error {
	tx.Touch("course_member", c.ID, who)
	_, err := tx.Exec(ctx, `
		INSERT INTO course_member (org_id, course_id, person_id, membership_id, reading) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (org_id, course_id, person_id) DO UPDATE
		SET membership_id = EXCLUDED.membership_id, reading = GREATEST(course_member.reading, EXCLUDED.reading), left_at = NULL`,
		tx.Org, c.ID, who, place, reading)
	return err
}

// TakenAway says whether somebody has no place on a portal any more because lists of a connection took away the last:
// nobody of the organization took one away since. It rides course_member_by_person, course_pkey and membership_by_person.
func TakenAway(ctx context.Context, tx *tenant.Tx, c id.Connection, on id.Portal, who id.Person) (is bool, err error) {
	err = tx.QueryRow(ctx, `
		SELECT m.left_at IS NOT NULL AND NOT EXISTS (
			SELECT 1 FROM membership p
			WHERE p.org_id = $1 AND p.person_id = $4 AND p.portal_id = $3 AND (p.removed_at IS NULL OR p.removed_at > m.left_at))
		FROM (
			SELECT max(m.left_at) AS left_at FROM course_member m JOIN course c ON c.org_id = m.org_id AND c.id = m.course_id
			WHERE m.org_id = $1 AND m.person_id = $4 AND c.connection_id = $2 AND c.portal_id = $3) AS m`,
		tx.Org, c, on, who).Scan(&is)
	return is, err
}

// digest is of a platform and its name of a person.
type digest []byte

func (d digest) String() string { return hex.EncodeToString(d) }

func digestOf(org id.Org, at person.At) digest {
	sum := sha256.Sum256([]byte(strings.Join([]string{org.String(), at.Connection.String(), at.Issuer, at.Subject}, "\x00")))
	return sum[:]
}

// Welcome lets lists have somebody again who was erased, and came by themselves as somebody new.
func Welcome(ctx context.Context, tx *tenant.Tx, at person.At) error {
	d := digestOf(tx.Org, at)
	tx.Touch("course_erased", at.Connection, d)
	_, err := tx.Exec(ctx, `DELETE FROM course_erased WHERE org_id = $1 AND connection_id = $2 AND digest = $3`, tx.Org, at.Connection, []byte(d))
	return err
}

// erased says whether somebody was erased whom a list has. It rides course_erased_pkey.
func erased(ctx context.Context, tx *tenant.Tx, at person.At) (is bool, err error) {
	err = tx.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM course_erased WHERE org_id = $1 AND connection_id = $2 AND digest = $3)`,
		tx.Org, at.Connection, []byte(digestOf(tx.Org, at))).Scan(&is)
	return is, err
}

// ForgetPerson deletes what lists did for somebody who is erased, and has no list bring them back. It answers how much
// there was to do. It rides course_member_by_person.
func ForgetPerson(ctx context.Context, tx *tenant.Tx, who id.Person) (n int, err error) {
	identities, err := person.IdentitiesAt(ctx, tx, who)
	if err != nil {
		return 0, err
	}
	for _, at := range identities {
		d := digestOf(tx.Org, at)
		tx.Touch("course_erased", at.Connection, d)
		tag, err := tx.Exec(ctx, `
			INSERT INTO course_erased (org_id, connection_id, digest)
			SELECT $1, id, $3 FROM connection WHERE org_id = $1 AND id = $2 AND provider = 'lti' AND deleted_at IS NULL
			ON CONFLICT (org_id, connection_id, digest) DO NOTHING`, tx.Org, at.Connection, []byte(d))
		if err != nil {
			return n, err
		}
		n += int(tag.RowsAffected())
	}
	of, err := tenant.AllIn(ctx, tx, pgx.RowTo[id.Course], `DELETE FROM course_member WHERE org_id = $1 AND person_id = $2 RETURNING course_id`, tx.Org, who)
	for _, c := range of {
		tx.Touch("course_member", c, who)
		n++
	}
	return n, err
}

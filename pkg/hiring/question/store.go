package question

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/hiring/role"
	"visavis.dev/pkg/portals/portal"
	"visavis.dev/pkg/store/tenant"
)

const columns = `role_id, version, hash, document, subject_id, subject_version, questions, invited, interviewed, created_at`

func scan(row pgx.CollectableRow) (Set, error) { return pgx.RowToStructByPos[Set](row) }

const selectOne = `SELECT ` + columns + ` FROM hiring_question_set WHERE org_id = $1 AND role_id = $2 AND version = $3`

// Number is a version, as part of a row's key and of the place in a list.
type Number int64

func (n Number) String() string { return strconv.FormatInt(int64(n), 10) }

// Find finds a version of a role's questions. It rides hiring_question_set_pkey. The error is
// errdefs.NotFound.
func Find(ctx context.Context, tx *tenant.Tx, r id.Role, version int64) (Set, error) {
	return tenant.OneIn(ctx, tx, scan, missing(r, version), selectOne, tx.Org, r, version)
}

func missing(r id.Role, version int64) error {
	return errdefs.NotFound{Noun: Noun, ID: fmt.Sprintf("%s/%d", r, version)}
}

// Get is Find outside a transaction.
func Get(ctx context.Context, t *tenant.Tenants, org id.Org, r id.Role, version int64) (Set, error) {
	return tenant.One(ctx, t, org, scan, missing(r, version), selectOne, org, r, version)
}

// Hashed are those of a role's sets that have some hashes, oldest first. It rides hiring_question_set_by_hash.
func Hashed(ctx context.Context, t *tenant.Tenants, org id.Org, r id.Role, hashes []string) ([]Set, error) {
	return tenant.All(ctx, t, org, scan, `
		SELECT `+columns+` FROM hiring_question_set WHERE org_id = $1 AND role_id = $2 AND hash = ANY($3) ORDER BY version`, org, r, hashes)
}

// List is a page of the versions of a role's questions, newest first, before one of them; 0 for the
// first page. It rides hiring_question_set_pkey.
func List(ctx context.Context, t *tenant.Tenants, org id.Org, r id.Role, before int64, limit int) ([]Set, error) {
	return tenant.All(ctx, t, org, scan, `
		SELECT `+columns+` FROM hiring_question_set WHERE org_id = $1 AND role_id = $2 AND ($3::INT8 = 0 OR version < $3)
		ORDER BY version DESC LIMIT $4`, org, r, before, limit)
}

// mostOf bounds the versions of a role that are shown with it, the newest.
const mostOf = 20

// newest reads the newest twenty versions of each of some roles, without their words.
const newest = `
	SELECT ` + columns + ` FROM (
		SELECT role_id, version, hash, '' AS document, subject_id, subject_version, questions, invited, interviewed, created_at,
			row_number() OVER (PARTITION BY role_id ORDER BY version DESC) AS place
		FROM hiring_question_set WHERE org_id = $1 AND role_id = ANY($2)) AS newest
	WHERE place <= $3 ORDER BY role_id, version`

// Of are the versions of roles' questions, oldest first, by role, without their words; the newest twenty of each. It
// rides hiring_question_set_pkey.
func Of(ctx context.Context, t *tenant.Tenants, org id.Org, roles []id.Role) (map[id.Role][]Set, error) {
	found, err := tenant.All(ctx, t, org, scan, newest, org, roles, int64(mostOf))
	all := map[id.Role][]Set{}
	for _, s := range found {
		all[s.Role] = append(all[s.Role], s)
	}
	return all, err
}

// OfRole is Of one role in a transaction.
func OfRole(ctx context.Context, tx *tenant.Tx, r id.Role) ([]Set, error) {
	return tenant.AllIn(ctx, tx, scan, newest, tx.Org, []id.Role{r}, int64(mostOf))
}

// tries is how often somebody else may be faster to freeze something.
const tries = 3

// Freeze is what a role's candidates are asked who are invited now: the version that says what the
// subject, as it is published, asks, made where there is none. fresh says that it was made, beside
// others. Where the subject asks nothing the error is errdefs.NotFound.
func Freeze(ctx context.Context, tx *tenant.Tx, r *role.Role, now time.Time) (s Set, fresh bool, err error) {
	content, version, err := r.Content(ctx, tx)
	if err != nil {
		return s, false, err
	}
	if len(content.Questions) == 0 {
		return s, false, missing(r.ID, 0)
	}
	spoken, err := otherwise(ctx, tx, r.Portal)
	if err != nil {
		return s, false, err
	}
	d := draw(r.ID, content, spoken)
	document := text(d)
	hash := Hash(document)
	for range tries {
		s, err = tenant.OneIn(ctx, tx, scan, Noun.NotFound(r.ID), `
			SELECT `+columns+` FROM hiring_question_set WHERE org_id = $1 AND role_id = $2 AND hash = $3`, tx.Org, r.ID, hash)
		if err == nil || !errdefs.IsNotFound(err, Noun) {
			return s, fresh && s.Version > 1, err
		}
		var last int64
		if err := tx.QueryRow(ctx, `SELECT COALESCE(max(version), 0) FROM hiring_question_set WHERE org_id = $1 AND role_id = $2`, tx.Org, r.ID).Scan(&last); err != nil {
			return s, false, err
		}
		tx.Touch("hiring_question_set", r.ID, Number(last+1))
		made, err := tx.Exec(ctx, `
			INSERT INTO hiring_question_set (org_id, role_id, version, hash, document, subject_id, subject_version, questions, invited, interviewed, created_at)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 0, 0, $9) ON CONFLICT DO NOTHING`,
			tx.Org, r.ID, last+1, hash, document, r.Subject, version, int64(len(d.Questions)), now)
		if err != nil {
			return s, false, err
		}
		fresh = made.RowsAffected() == 1
	}
	return s, false, fmt.Errorf("the questions of %s were frozen by others %d times", r.ID, tries)
}

// otherwise is the language in which a portal's texts are said that lack the one of the conversation.
func otherwise(ctx context.Context, tx *tenant.Tx, which id.Portal) (string, error) {
	p, err := portal.Find(ctx, tx, which)
	if err != nil {
		return "", err
	}
	if p.PublishedVersion == nil {
		return p.Definition.DefaultLanguage, nil
	}
	v, err := portal.FindVersion(ctx, tx, p.ID, *p.PublishedVersion)
	return v.Definition.DefaultLanguage, err
}

// Count adds to who was invited to be asked a set, and who has begun.
func (s *Set) Count(ctx context.Context, tx *tenant.Tx, invited, interviewed int64) error {
	tx.Touch("hiring_question_set", s.Role, Number(s.Version))
	_, err := tx.Exec(ctx, `
		UPDATE hiring_question_set SET invited = invited + $4, interviewed = interviewed + $5 WHERE org_id = $1 AND role_id = $2 AND version = $3`,
		tx.Org, s.Role, s.Version, invited, interviewed)
	return err
}

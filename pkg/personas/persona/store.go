package persona

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/tenant"
)

// columns are what scan takes, of persona p. Whether its faces are ready is
// found out each time: they are prepared, and consents withdrawn, without it.
const columns = `p.id, p.name, p.kind, p.avatar_id, p.voice_id, p.partner_avatar_id, p.duo_id, p.definition, p.version,
	p.created_at, p.updated_at, p.deleted_at,
	(SELECT max(f.ready_at) FROM face f
		WHERE f.org_id = p.org_id AND f.avatar_id IN (p.avatar_id, p.partner_avatar_id) AND f.state = 'preparing') AS preparation,
	CASE
		WHEN EXISTS (SELECT 1 FROM avatar a JOIN consent c ON c.org_id = a.org_id AND c.id = a.consent_id
			WHERE a.org_id = p.org_id AND a.id IN (p.avatar_id, p.partner_avatar_id) AND c.state = 'withdrawn') THEN 'consent_withdrawn'
		WHEN EXISTS (SELECT 1 FROM face f
			WHERE f.org_id = p.org_id AND f.avatar_id IN (p.avatar_id, p.partner_avatar_id) AND f.state = 'failed') THEN 'face_failed'
		ELSE ''
	END AS obstacle,
	ARRAY(SELECT w.id FROM widget w
		WHERE w.org_id = p.org_id AND w.persona_id = p.id AND w.deleted_at IS NULL ORDER BY w.id) AS widgets,
	ARRAY(SELECT o.id FROM portal o WHERE o.org_id = p.org_id AND o.persona_id = p.id AND o.archived_at IS NULL
		UNION SELECT o.id FROM portal_version v JOIN portal o ON o.org_id = v.org_id AND o.id = v.portal_id AND o.published_version = v.version
		WHERE v.org_id = p.org_id AND v.persona_id = p.id AND o.archived_at IS NULL ORDER BY id) AS portals`

func scan(row pgx.CollectableRow) (Persona, error) {
	var p Persona
	err := row.Scan(&p.ID, &p.Name, &p.Kind, &p.Avatar, &p.Voice, &p.Partner, &p.DuoID, &p.Definition, &p.Version,
		&p.CreatedAt, &p.UpdatedAt, &p.DeletedAt, &p.Preparation, &p.Obstacle, &p.Widgets, &p.Portals)
	return p, err
}

// one is the persona that a query for one found.
func one(p id.Persona, found []Persona, err error) (Persona, error) {
	switch {
	case err != nil:
		return Persona{}, err
	case len(found) == 0:
		return Persona{}, Noun.NotFound(p)
	case found[0].DeletedAt != nil:
		return found[0], Noun.Gone(p)
	}
	return found[0], nil
}

const selectOne = `SELECT ` + columns + ` FROM persona p WHERE p.org_id = $1 AND p.id = $2`

// Get finds a persona. The error is errdefs.NotFound or errdefs.Gone.
func Get(ctx context.Context, t *tenant.Tenants, org id.Org, p id.Persona) (Persona, error) {
	found, err := tenant.All(ctx, t, org, scan, selectOne, org, p)
	return one(p, found, err)
}

// Find finds a persona in a transaction. The error is errdefs.NotFound or errdefs.Gone.
func Find(ctx context.Context, tx *tenant.Tx, p id.Persona) (Persona, error) {
	return find(ctx, tx, p, selectOne)
}

// Lock finds a persona in a transaction that will change it, or put it to use:
// nobody else does until the commit. The error is errdefs.NotFound or errdefs.Gone.
func Lock(ctx context.Context, tx *tenant.Tx, p id.Persona) (Persona, error) {
	// The row is waited for by itself: what is read beside it would be as old
	// as the wait.
	if _, err := tx.Exec(ctx, `SELECT 1 FROM persona WHERE org_id = $1 AND id = $2 FOR UPDATE`, tx.Org, p); err != nil {
		return Persona{}, err
	}
	return find(ctx, tx, p, selectOne)
}

func find(ctx context.Context, tx *tenant.Tx, p id.Persona, sql string) (Persona, error) {
	found, err := tenant.AllIn(ctx, tx, scan, sql, tx.Org, p)
	return one(p, found, err)
}

// Filter narrows a list; zero fields do not.
type Filter struct {
	Kind   Kind
	Status Status
	// Avatar is worn, by a duo's other host too.
	Avatar id.Avatar
}

// List is a page of the personas, newest first, after one of them; the zero id
// for the first page. It rides persona_pkey.
func List(ctx context.Context, t *tenant.Tenants, org id.Org, f Filter, after id.Persona, limit int) ([]Persona, error) {
	return tenant.All(ctx, t, org, scan, `
		SELECT * FROM (
			SELECT `+columns+` FROM persona p
			WHERE p.org_id = $1 AND ($2::UUID IS NULL OR p.id < $2) AND p.deleted_at IS NULL AND ($3 = '' OR p.kind = $3)
				AND ($4::UUID IS NULL OR p.avatar_id = $4 OR p.partner_avatar_id = $4)
		) AS q
		WHERE $5 = '' OR $5 = CASE WHEN q.obstacle <> '' THEN 'paused' WHEN q.preparation IS NOT NULL THEN 'preparing' ELSE 'ready' END
		ORDER BY q.id DESC LIMIT $6`, org, after, string(f.Kind), f.Avatar, string(f.Status), limit)
}

// Version is a persona as it once was, or is.
type Version struct {
	Version    int64
	Name       string
	Avatar     id.Avatar
	Voice      id.Voice
	Definition Definition
	CreatedBy  string
	CreatedAt  time.Time
}

const versionColumns = `version, name, avatar_id, voice_id, definition, created_by, created_at`

// Versions is a page of a persona's versions, newest first, before one of
// them; zero for the first page. It rides persona_version_pkey.
func Versions(ctx context.Context, t *tenant.Tenants, org id.Org, p id.Persona, before int64, limit int) ([]Version, error) {
	return tenant.All(ctx, t, org, pgx.RowToStructByPos[Version], `
		SELECT `+versionColumns+` FROM persona_version
		WHERE org_id = $1 AND persona_id = $2 AND ($3 = 0 OR version < $3) ORDER BY version DESC LIMIT $4`,
		org, p, before, limit)
}

// FindVersion finds a version of a persona. The error is errdefs.NotFound.
func FindVersion(ctx context.Context, tx *tenant.Tx, p id.Persona, version int64) (Version, error) {
	rows, err := tx.Query(ctx, `
		SELECT `+versionColumns+` FROM persona_version WHERE org_id = $1 AND persona_id = $2 AND version = $3`, tx.Org, p, version)
	if err != nil {
		return Version{}, err
	}
	v, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByPos[Version])
	if errors.Is(err, pgx.ErrNoRows) {
		err = noVersion(version)
	}
	return v, err
}

// GetVersion finds a version of a persona outside a transaction. The error is
// errdefs.NotFound.
func GetVersion(ctx context.Context, t *tenant.Tenants, org id.Org, p id.Persona, version int64) (Version, error) {
	if version >= math.MaxInt32 {
		return Version{}, noVersion(version) // the column is an int4
	}
	found, err := Versions(ctx, t, org, p, version+1, 1)
	if err == nil && (len(found) == 0 || found[0].Version != version) {
		err = noVersion(version)
	}
	if err != nil {
		return Version{}, err
	}
	return found[0], nil
}

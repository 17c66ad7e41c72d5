package portal

import (
	"context"
	"errors"
	"strconv"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/managed"
	"visavis.dev/pkg/store/tenant"
)

const columns = `id, name, slug, host, kind, template_key, state, persona_id, definition, draft_version, published_version, published_at,
	page_stamp, managed_by, created_at, updated_at, archived_at, host_proven_at,
	host_round, host_lost, host_missed_at`

func scan(row pgx.CollectableRow) (Portal, error) { return pgx.RowToStructByPos[Portal](row) }

const selectOne = `SELECT ` + columns + ` FROM portal WHERE org_id = $1 AND id = $2`

// Get finds a portal, an archived one too. The error is errdefs.NotFound.
func Get(ctx context.Context, t *tenant.Tenants, org id.Org, p id.Portal) (Portal, error) {
	return tenant.One(ctx, t, org, scan, Noun.NotFound(p), selectOne, org, p)
}

// Declared finds the portal that resources of a name manage, or managed, whatever their
// uids; of several the one made last. The error is errdefs.NotFound. It rides portal_pkey.
func Declared(ctx context.Context, t *tenant.Tenants, org id.Org, by managed.Resource) (Portal, error) {
	from, to := by.Named()
	return tenant.One(ctx, t, org, scan, errdefs.NotFound{Noun: Noun}, `SELECT `+columns+` FROM portal
		WHERE org_id = $1 AND managed_by >= $2 AND managed_by < $3 AND archived_at IS NULL
		ORDER BY created_at DESC, id DESC LIMIT 1`, org, from, to)
}

// Find finds a portal in a transaction, an archived one too. The error is errdefs.NotFound.
func Find(ctx context.Context, tx *tenant.Tx, p id.Portal) (Portal, error) {
	return find(ctx, tx, selectOne, p)
}

// Lock is Find for a transaction that will change the portal: nobody else does
// until the commit. The error is errdefs.NotFound or errdefs.Archived.
func Lock(ctx context.Context, tx *tenant.Tx, p id.Portal) (Portal, error) {
	found, err := find(ctx, tx, selectOne+` FOR UPDATE`, p)
	if err == nil && found.State == Archived {
		err = Noun.Archived(p)
	}
	return found, err
}

// Locked is what QueueLock found.
type Locked struct{ states []State }

// QueueLock queues a lock as Lock's, of the portal that a query finds, beside other statements
// of one trip.
func QueueLock(b *pgx.Batch, which string, args ...any) *Locked {
	var l Locked
	b.Queue(`SELECT state FROM portal WHERE org_id = $1 AND id = (`+which+`) FOR UPDATE`, args...).Query(func(rows pgx.Rows) (err error) {
		l.states, err = pgx.CollectRows(rows, pgx.RowTo[State])
		return err
	})
	return &l
}

// Err is errdefs.NotFound or errdefs.Archived where Lock's would be.
func (l *Locked) Err(p id.Portal) error {
	switch {
	case len(l.states) == 0:
		return Noun.NotFound(p)
	case l.states[0] == Archived:
		return Noun.Archived(p)
	}
	return nil
}

func find(ctx context.Context, tx *tenant.Tx, sql string, p id.Portal) (Portal, error) {
	return tenant.OneIn(ctx, tx, scan, Noun.NotFound(p), sql, tx.Org, p)
}

const versionColumns = `version, name, persona_id, definition, published_at, published_by, change_note`

// FindVersion finds a published version. The error is errdefs.NotFound.
func FindVersion(ctx context.Context, tx *tenant.Tx, p id.Portal, version int64) (Version, error) {
	rows, err := tx.Query(ctx, `
		SELECT `+versionColumns+` FROM portal_version WHERE org_id = $1 AND portal_id = $2 AND version = $3`, tx.Org, p, version)
	if err != nil {
		return Version{}, err
	}
	v, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByPos[Version])
	if errors.Is(err, pgx.ErrNoRows) {
		err = errdefs.NotFound{Noun: VersionNoun, ID: strconv.FormatInt(version, 10)}
	}
	return v, err
}

// SetSubjectBase notes the pack of a portal's subjects in its draft and in what visitors
// see, neither of which becomes another version by it.
func SetSubjectBase(ctx context.Context, tx *tenant.Tx, p Portal, base id.KnowledgeBase) error {
	tx.Touch("portal", p.ID)
	if _, err := tx.Exec(ctx, `
		UPDATE portal SET definition = jsonb_set(definition, '{subjectBaseId}', to_jsonb($3::TEXT)) WHERE org_id = $1 AND id = $2`,
		tx.Org, p.ID, base.String()); err != nil {
		return err
	}
	if p.PublishedVersion != nil {
		tx.Touch("portal_version", p.ID, number(*p.PublishedVersion))
		if _, err := tx.Exec(ctx, `
			UPDATE portal_version SET definition = jsonb_set(definition, '{subjectBaseId}', to_jsonb($4::TEXT))
			WHERE org_id = $1 AND portal_id = $2 AND version = $3`, tx.Org, p.ID, *p.PublishedVersion, base.String()); err != nil {
			return err
		}
	}
	return Refresh(ctx, tx, p.ID)
}

// Refresh makes every process read again what visitors see of a portal. Whatever
// changes that does it: its versions, its doors, its subjects, who speaks.
func Refresh(ctx context.Context, tx *tenant.Tx, p id.Portal) error {
	tx.Touch("portal", p)
	_, err := tx.Exec(ctx, `UPDATE portal SET page_stamp = page_stamp + 1 WHERE org_id = $1 AND id = $2`, tx.Org, p)
	return err
}

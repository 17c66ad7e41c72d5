package avatar

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/personas/avatar/landmark"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/consent"
	"visavis.dev/pkg/store/tenant"
)

// ownColumns are what ScanOwn takes, of avatar a and consent c, in its order.
const ownColumns = `a.id, a.name, a.gender, a.age_band, a.heritage, a.width, a.height, a.landmarks, a.landmarks_source, a.metadata,
	a.picture_id, a.thumbnail_id, a.created_at, a.updated_at, a.deleted_at,
	c.id, c.state, c.policy_version, c.recorded_at,
	(SELECT count(*) FROM avatar_use u WHERE u.org_id = a.org_id AND u.avatar_id = a.id AND u.wearer_kind = 'persona'),
	(SELECT count(*) FROM avatar_use u WHERE u.org_id = a.org_id AND u.avatar_id = a.id AND u.wearer_kind = 'duo')`

const ownTables = ` FROM avatar a JOIN consent c ON c.org_id = a.org_id AND c.id = a.consent_id `

// Public is the small picture of an own face, where it is shown to everybody: on a
// page that was published, or in a widget. The error is errdefs.NotFound where there is none
// to be shown, as once the consent was withdrawn.
func Public(ctx context.Context, t *tenant.Tenants, l *Library, org id.Org, avatar id.Avatar) (id.File, error) {
	own, err := Get(ctx, t, l, org, avatar)
	if errdefs.IsGone(err, Noun) || err == nil && (own.Kind != Custom || own.Status() == Withdrawn) {
		err = Noun.NotFound(avatar)
	}
	return own.Thumbnail, err
}

// ScanOwn takes a row of SelectOwn.
func ScanOwn(row pgx.CollectableRow) (Avatar, error) {
	a := Avatar{Kind: Custom, Consent: &Consent{}}
	err := row.Scan(&a.ID, &a.Name, &a.Gender, &a.AgeBand, &a.Heritage, &a.Width, &a.Height, &a.Landmarks, &a.Marked, &a.Metadata,
		&a.Picture, &a.Thumbnail, &a.CreatedAt, &a.UpdatedAt, &a.DeletedAt,
		&a.Consent.ID, &a.Consent.State, &a.Consent.PolicyVersion, &a.Consent.RecordedAt,
		&a.Uses.Personas, &a.Uses.Duos)
	switch {
	case a.Landmarks == nil:
	case !a.Landmarks.Plausible():
		a.Landmarks, a.Marked = nil, "" // given before they were checked: they are looked for
	case a.Marked == "":
		a.Marked = landmark.Given // before others were looked for
	}
	return a, err
}

// SelectOwn reads one own face of an organization.
const SelectOwn = `SELECT ` + ownColumns + ownTables + `WHERE a.org_id = $1 AND a.id = $2`

// Get finds a face as an organization sees it. An own face that was deleted
// comes with errdefs.Gone.
func Get(ctx context.Context, t *tenant.Tenants, l *Library, org id.Org, avatar id.Avatar) (Avatar, error) {
	if face, ok := l.Find(avatar); ok {
		uses, err := usesOf(ctx, t, org, avatar)
		face.Uses = uses[avatar]
		return face, err
	}
	var found []Avatar
	err := t.Read(ctx, org, func(r *tenant.Reads) {
		r.Query(func(rows pgx.Rows) (err error) {
			found, err = pgx.CollectRows(rows, ScanOwn)
			return err
		}, SelectOwn, org, avatar)
	})
	switch {
	case err != nil:
		return Avatar{}, err
	case len(found) == 0:
		return Avatar{}, Noun.NotFound(avatar)
	case found[0].DeletedAt != nil:
		return found[0], Noun.Gone(avatar)
	}
	return found[0], nil
}

// usesOf counts who wears faces; the zero avatar asks for all.
func usesOf(ctx context.Context, t *tenant.Tenants, org id.Org, avatar id.Avatar) (map[id.Avatar]Uses, error) {
	var uses map[id.Avatar]Uses
	err := t.Read(ctx, org, func(r *tenant.Reads) {
		uses = map[id.Avatar]Uses{}
		r.Query(func(rows pgx.Rows) error {
			for rows.Next() {
				var (
					a id.Avatar
					u Uses
				)
				if err := rows.Scan(&a, &u.Personas, &u.Duos); err != nil {
					return err
				}
				uses[a] = u
			}
			return rows.Err()
		}, `
			SELECT avatar_id, count(*) FILTER (WHERE wearer_kind = 'persona'), count(*) FILTER (WHERE wearer_kind = 'duo')
			FROM avatar_use WHERE org_id = $1 AND ($2::UUID IS NULL OR avatar_id = $2) GROUP BY avatar_id`, org, avatar)
	})
	return uses, err
}

// Filter narrows a list; empty fields do not.
type Filter struct {
	Kind                      Kind
	Gender, AgeBand, Heritage string
}

// Position is where a page ended: at a library face, or at an own one.
type Position struct {
	Library bool      `json:"l,omitempty"`
	At      time.Time `json:"t,omitzero"`
	ID      id.Avatar `json:"i"`
}

// PositionOf is the position of a face.
func PositionOf(a Avatar) Position {
	if a.Kind == Builtin {
		return Position{Library: true, ID: a.ID}
	}
	return Position{At: a.CreatedAt, ID: a.ID}
}

// List is a page of faces, the library's first, then the organization's own,
// oldest first (Avatars, 1).
func List(ctx context.Context, t *tenant.Tenants, l *Library, org id.Org, f Filter, after *Position, limit int) ([]Avatar, error) {
	var page []Avatar
	if after == nil || after.Library {
		page = l.after(f, after)
		if len(page) > 0 {
			uses, err := usesOf(ctx, t, org, id.Avatar{})
			if err != nil {
				return nil, err
			}
			for i := range page {
				page[i].Uses = uses[page[i].ID]
			}
		}
		after = &Position{}
	}
	if len(page) >= limit || f.Kind == Builtin {
		return page[:min(len(page), limit)], nil
	}
	own, err := listOwn(ctx, t, org, f, *after, limit-len(page))
	return append(page, own...), err
}

// after is the library's faces that match a filter and come after a position.
func (l *Library) after(f Filter, after *Position) []Avatar {
	var page []Avatar
	reached := after == nil
	for _, face := range l.faces {
		if reached && f.matches(face) {
			page = append(page, face)
		}
		reached = reached || face.ID == after.ID
	}
	return page
}

func (f Filter) matches(a Avatar) bool {
	return (f.Kind == "" || f.Kind == a.Kind) && (f.Gender == "" || f.Gender == a.Gender) &&
		(f.AgeBand == "" || f.AgeBand == a.AgeBand) && (f.Heritage == "" || f.Heritage == a.Heritage)
}

// listOwn rides the index avatar_by_age.
func listOwn(ctx context.Context, t *tenant.Tenants, org id.Org, f Filter, after Position, limit int) ([]Avatar, error) {
	var page []Avatar
	err := t.Read(ctx, org, func(r *tenant.Reads) {
		r.Query(func(rows pgx.Rows) (err error) {
			page, err = pgx.CollectRows(rows, ScanOwn)
			return err
		}, `SELECT `+ownColumns+ownTables+`
			WHERE a.org_id = $1 AND (a.created_at, a.id) > ($2, $3) AND a.deleted_at IS NULL
				AND ($4 = '' OR a.gender = $4) AND ($5 = '' OR a.age_band = $5) AND ($6 = '' OR a.heritage = $6)
			ORDER BY a.created_at, a.id LIMIT $7`,
			org, after.At, after.ID, f.Gender, f.AgeBand, f.Heritage, limit)
	})
	return page, err
}

// Create adds an own face with the consent it rests on. full says that the terms leave no
// room and nothing was added.
func Create(ctx context.Context, tx *tenant.Tx, a Avatar, c consent.Consent, terms plan.Terms, who activity.Actor) (full bool, err error) {
	if full, err := insert(ctx, tx, a, c, terms); full || err != nil {
		return full, err
	}
	event.EmitConsent(tx, c)
	who.Log(tx, "avatar.created", "avatar", a.ID, map[string]any{"name": a.Name, "consentId": c.ID, "statement": c.Statement})
	return false, nil
}

func insert(ctx context.Context, tx *tenant.Tx, a Avatar, c consent.Consent, terms plan.Terms) (full bool, err error) {
	limit, limited := terms.Limit(plan.CustomAvatars)
	if full, err := tx.Increment(ctx, string(plan.CustomAvatars), limit, limited); full || err != nil {
		return full, err
	}
	if err := consent.Record(ctx, tx, c); err != nil {
		return false, err
	}
	tx.Touch("avatar", a.ID)
	_, err = tx.Exec(ctx, `
		INSERT INTO avatar (org_id, id, name, gender, age_band, heritage, width, height, picture_id, thumbnail_id,
			consent_id, landmarks, landmarks_source, metadata, created_at, updated_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $15)`,
		tx.Org, a.ID, a.Name, a.Gender, a.AgeBand, a.Heritage, a.Width, a.Height, a.Picture, a.Thumbnail,
		c.ID, a.Landmarks, a.Marked, a.Metadata, a.CreatedAt)
	return false, err
}

// lock reads an own face and holds its row until the transaction ends. Who
// starts to wear a face locks it too, so a worn face is never deleted.
func lock(ctx context.Context, tx *tenant.Tx, avatar id.Avatar) (Avatar, error) {
	rows, err := tx.Query(ctx, SelectOwn+` FOR UPDATE OF a`, tx.Org, avatar)
	if err != nil {
		return Avatar{}, err
	}
	found, err := pgx.CollectRows(rows, ScanOwn)
	switch {
	case err != nil:
		return Avatar{}, err
	case len(found) == 0:
		return Avatar{}, Noun.NotFound(avatar)
	case found[0].DeletedAt != nil:
		return found[0], Noun.Gone(avatar)
	}
	return found[0], nil
}

// Change changes an own face's name and landmarks; nil leaves them.
func Change(ctx context.Context, tx *tenant.Tx, l *Library, avatar id.Avatar, change func(*Avatar), who activity.Actor) (Avatar, error) {
	if _, ok := l.Find(avatar); ok {
		return Avatar{}, OfLibrary(avatar)
	}
	a, err := lock(ctx, tx, avatar)
	if err != nil {
		return a, err
	}
	change(&a)
	a.UpdatedAt = who.At
	tx.Touch("avatar", a.ID)
	if _, err := tx.Exec(ctx, `
		UPDATE avatar SET name = $3, landmarks = $4, landmarks_source = $5, updated_at = $6 WHERE org_id = $1 AND id = $2`,
		tx.Org, a.ID, a.Name, a.Landmarks, a.Marked, a.UpdatedAt); err != nil {
		return a, err
	}
	who.Log(tx, "avatar.updated", "avatar", a.ID, map[string]any{"name": a.Name})
	return a, nil
}

// DeleteFor is Delete because somebody asks for it.
func DeleteFor(ctx context.Context, tx *tenant.Tx, l *Library, avatar id.Avatar, who activity.Actor) (Avatar, error) {
	a, err := Delete(ctx, tx, l, avatar, who.At)
	if err != nil {
		return a, err
	}
	who.Log(tx, "avatar.deleted", "avatar", avatar, nil)
	return a, nil
}

// Delete deletes an own face that nobody wears. Its files are for the caller
// to discard; its consent stays.
func Delete(ctx context.Context, tx *tenant.Tx, l *Library, avatar id.Avatar, at time.Time) (Avatar, error) {
	if _, ok := l.Find(avatar); ok {
		return Avatar{}, OfLibrary(avatar)
	}
	a, err := lock(ctx, tx, avatar)
	if err != nil {
		return a, err
	}
	if a.Uses != (Uses{}) {
		return a, Noun.InUse(avatar, "The avatar is worn by %d personas and %d duos.", a.Uses.Personas, a.Uses.Duos)
	}
	tx.Touch("avatar", a.ID)
	if _, err := tx.Exec(ctx, `
		UPDATE avatar SET deleted_at = $3, updated_at = $3 WHERE org_id = $1 AND id = $2`, tx.Org, a.ID, at); err != nil {
		return a, err
	}
	return a, tx.Decrement(ctx, string(plan.CustomAvatars))
}

// Count is how many own faces an organization has.
func Count(ctx context.Context, t *tenant.Tenants, org id.Org) (n int64, err error) {
	err = t.Read(ctx, org, func(r *tenant.Reads) {
		n = 0
		var found bool
		r.QueryRow(&found, []any{&n}, `SELECT value FROM org_counter WHERE org_id = $1 AND name = $2`, org, string(plan.CustomAvatars))
	})
	return n, err
}

// rememberedFor is how long a deleted face is answered with 410 rather than 404.
const rememberedFor = 90 * 24 * time.Hour

// Sweep forgets faces of a shard that were deleted long ago.
func Sweep(ctx context.Context, t *tenant.Tenants, shard string, now time.Time) (int, error) {
	return t.SweepRows(ctx, shard, `
		DELETE FROM avatar WHERE (org_id, id) IN (
			SELECT a.org_id, a.id FROM avatar a JOIN org_fence f ON f.org_id = a.org_id AND f.state = 'open'
			WHERE a.deleted_at <= $1 LIMIT 1000)`, now.Add(-rememberedFor))
}

package voice

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/consent"
	"visavis.dev/pkg/store/tenant"
)

// ownColumns are what scanOwn takes, of voice v and consent k, in its order.
const ownColumns = `v.id, v.name, v.description, v.gender, v.languages, v.status, v.status_reason, v.connection_id, v.service_voice,
	v.samples, v.pronunciations, v.created_at, v.updated_at, v.deleted_at, k.id, k.state,
	(SELECT count(*) FROM voice_use u WHERE u.org_id = v.org_id AND u.voice_id = v.id AND u.user_kind = 'persona'),
	(SELECT count(*) FROM voice_use u WHERE u.org_id = v.org_id AND u.voice_id = v.id AND u.user_kind = 'duo')`

const ownTables = ` FROM voice v JOIN consent k ON k.org_id = v.org_id AND k.id = v.consent_id `

const selectOwn = `SELECT ` + ownColumns + ownTables + `WHERE v.org_id = $1 AND v.id = $2`

func scanOwn(row pgx.CollectableRow) (Voice, error) {
	span := spans[CloneEngine]
	v := Voice{Kind: Custom, Engine: CloneEngine, SpeedMin: span.min, SpeedMax: span.max, SpeedDefault: 1}
	err := row.Scan(&v.ID, &v.Name, &v.Description, &v.Gender, &v.Languages, &v.Made, &v.Reason, &v.Connection, &v.ServiceVoice,
		&v.Samples, &v.Pronunciations, &v.CreatedAt, &v.UpdatedAt, &v.DeletedAt, &v.Consent.ID, &v.Consent.State,
		&v.Uses.Personas, &v.Uses.Duos)
	if len(v.Languages) > 0 {
		v.PrimaryLanguage = v.Languages[0]
	}
	return v, err
}

// alone is the one own voice that was found; a deleted one comes with errdefs.Gone.
func alone(v id.Voice, found []Voice) (Voice, error) {
	switch {
	case len(found) == 0:
		return Voice{}, Noun.NotFound(v)
	case found[0].DeletedAt != nil:
		return found[0], Noun.Gone(v)
	}
	return found[0], nil
}

// Queue finds a voice, a studio one or an own one, among other reads. Once they
// are done, what it answers tells: the error can be errdefs.NotFound or errdefs.Gone.
func Queue(r *tenant.Reads, org id.Org, v id.Voice) func() (Voice, error) {
	if s, ok := FindStudio(v); ok {
		r.QueryRow(new(bool), []any{&s.Uses.Personas, &s.Uses.Duos}, selectUses, org, v)
		return func() (Voice, error) { return s, nil }
	}
	var found []Voice
	r.Query(func(rows pgx.Rows) (err error) {
		found, err = pgx.CollectRows(rows, scanOwn)
		return err
	}, selectOwn, org, v)
	return func() (Voice, error) { return alone(v, found) }
}

const selectUses = `
	SELECT count(*) FILTER (WHERE user_kind = 'persona'), count(*) FILTER (WHERE user_kind = 'duo')
	FROM voice_use WHERE org_id = $1 AND voice_id = $2`

// Get finds a voice as an organization sees it. The error can be errdefs.NotFound or
// errdefs.Gone.
func Get(ctx context.Context, t *tenant.Tenants, org id.Org, v id.Voice) (Voice, error) {
	var found func() (Voice, error)
	if err := t.Read(ctx, org, func(r *tenant.Reads) { found = Queue(r, org, v) }); err != nil {
		return Voice{}, err
	}
	return found()
}

// Find is Get in a transaction, but that the uses of a studio voice are not counted. An own
// voice's row is held until it ends: whoever begins to use a voice finds it so, and it is not
// deleted meanwhile.
func Find(ctx context.Context, tx *tenant.Tx, v id.Voice) (Voice, error) {
	if s, ok := FindStudio(v); ok {
		return s, nil
	}
	rows, err := tx.Query(ctx, selectOwn+` FOR UPDATE OF v`, tx.Org, v)
	if err != nil {
		return Voice{}, err
	}
	found, err := pgx.CollectRows(rows, scanOwn)
	if err != nil {
		return Voice{}, err
	}
	return alone(v, found)
}

// Create adds an own voice with the consent it rests on, and queues its making. full says
// that the terms leave no room and nothing was added. The error can be a
// connection.UnusableError.
func Create(ctx context.Context, tx *tenant.Tx, v Voice, k consent.Consent, terms plan.Terms, who activity.Actor) (full bool, err error) {
	if full, err := insert(ctx, tx, v, k, terms); full || err != nil {
		return full, err
	}
	j, err := propose(ctx, tx, v, who)
	if err != nil {
		return false, err
	}
	event.EmitConsent(tx, k)
	who.Log(tx, "voice.created", "voice", v.ID,
		map[string]any{"name": v.Name, "consentId": k.ID, "statement": k.Statement, "jobId": j.ID})
	return false, nil
}

func insert(ctx context.Context, tx *tenant.Tx, v Voice, k consent.Consent, terms plan.Terms) (full bool, err error) {
	limit, limited := terms.Limit(plan.ClonedVoices)
	if full, err := tx.Increment(ctx, string(plan.ClonedVoices), limit, limited); full || err != nil {
		return full, err
	}
	if err := connection.SetUses(ctx, tx, connection.ByVoice(v.ID), v.Connection); err != nil {
		return false, err
	}
	if err := consent.Record(ctx, tx, k); err != nil {
		return false, err
	}
	tx.Touch("voice", v.ID)
	_, err = tx.Exec(ctx, `
		INSERT INTO voice (org_id, id, name, description, gender, languages, status, status_reason, connection_id, service_voice,
			consent_id, samples, pronunciations, created_at, updated_at)
		VALUES ($1, $2, $3, $4, $5, $6, 'training', '', $7, '', $8, $9, '[]', $10, $10)`,
		tx.Org, v.ID, v.Name, v.Description, v.Gender, v.Languages, v.Connection, k.ID, v.Samples, v.CreatedAt)
	return false, err
}

// update writes an own voice that Find found.
func update(ctx context.Context, tx *tenant.Tx, v Voice) error {
	tx.Touch("voice", v.ID)
	_, err := tx.Exec(ctx, `
		UPDATE voice SET name = $3, description = $4, status = $5, status_reason = $6, service_voice = $7, samples = $8,
			pronunciations = $9, updated_at = $10, deleted_at = $11
		WHERE org_id = $1 AND id = $2`,
		tx.Org, v.ID, v.Name, v.Description, v.Made, v.Reason, v.ServiceVoice, v.Samples, v.Pronunciations, v.UpdatedAt, v.DeletedAt)
	return err
}

// Change changes an own voice's name, description and pronunciations.
func Change(ctx context.Context, tx *tenant.Tx, which id.Voice, change func(*Voice), who activity.Actor) (Voice, error) {
	if _, ok := FindStudio(which); ok {
		return Voice{}, ofStudio(which)
	}
	v, err := Find(ctx, tx, which)
	if err != nil {
		return v, err
	}
	change(&v)
	v.UpdatedAt = who.At
	if err := update(ctx, tx, v); err != nil {
		return v, err
	}
	who.Log(tx, "voice.updated", "voice", which, map[string]any{"name": v.Name})
	return v, nil
}

// Delete deletes an own voice that nobody uses, and answers it as it was. A job removes it
// from its service; its samples are for the caller to discard, and its consent stays.
func Delete(ctx context.Context, tx *tenant.Tx, which id.Voice, who activity.Actor) (Voice, error) {
	if _, ok := FindStudio(which); ok {
		return Voice{}, ofStudio(which)
	}
	v, err := Find(ctx, tx, which)
	if err != nil {
		return v, err
	}
	if v.Uses != (Uses{}) {
		return v, Noun.InUse(which, "The voice is used by %d personas and %d duos.", v.Uses.Personas, v.Uses.Duos)
	}
	deleted := v
	deleted.DeletedAt, deleted.UpdatedAt, deleted.Samples, deleted.ServiceVoice = &who.At, who.At, []id.File{}, ""
	if err := update(ctx, tx, deleted); err != nil {
		return v, err
	}
	if err := connection.SetUses(ctx, tx, connection.ByVoice(which)); err != nil {
		return v, err
	}
	if err := tx.Decrement(ctx, string(plan.ClonedVoices)); err != nil {
		return v, err
	}
	if err := proposeRemoval(ctx, tx, v, who); err != nil {
		return v, err
	}
	who.Log(tx, "voice.deleted", "voice", which, nil)
	return v, nil
}

// Count is how many own voices an organization has.
func Count(ctx context.Context, t *tenant.Tenants, org id.Org) (n int64, err error) {
	err = t.Read(ctx, org, func(r *tenant.Reads) {
		n = 0
		r.QueryRow(new(bool), []any{&n}, `SELECT value FROM org_counter WHERE org_id = $1 AND name = $2`, org, string(plan.ClonedVoices))
	})
	return n, err
}

// rememberedFor is how long a deleted voice is answered with 410 rather than 404.
const rememberedFor = 90 * 24 * time.Hour

// Sweep forgets voices of a shard that were deleted long ago.
func Sweep(ctx context.Context, t *tenant.Tenants, shard string, now time.Time) (int, error) {
	return t.SweepRows(ctx, shard, `
		DELETE FROM voice WHERE (org_id, id) IN (
			SELECT v.org_id, v.id FROM voice v JOIN org_fence f ON f.org_id = v.org_id AND f.state = 'open'
			WHERE v.deleted_at <= $1 LIMIT 1000)`, now.Add(-rememberedFor))
}

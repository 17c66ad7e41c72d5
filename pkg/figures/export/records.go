package export

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/hiring/candidate"
	"visavis.dev/pkg/learning/result"
	"visavis.dev/pkg/portals/person"
	"visavis.dev/pkg/sessions/inbox"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/store/tenant"
)

// record is how records of a kind are read and written.
type record struct {
	scope   scope.Scope
	filters []string
	// states are those that can be asked for.
	states  []string
	columns []string
	// sql reads a page after an id, in the order of the ids: $1 is the organization, $2 the id,
	// $3 and $4 the period, $5 how many, and what args adds follows. Each rides the primary key.
	sql  string
	args func(Order) []any
	// row reads a row and writes it for whoever asked.
	row func(pgx.CollectableRow, Order) (uuid.UUID, []any, error)
}

var records = map[Kind]record{
	Results: {
		scope: scope.ResultsRead, filters: []string{"portalId", "unitId", "subjectId", "state"}, states: texts(result.States()),
		columns: []string{
			"id", "kind", "state", "subjectId", "portalId", "unitId", "personId", "membershipId", "assignmentId", "attempt", "language", "startedAt",
			"completedAt", "releasedAt", "percent", "score", "maxScore", "band", "passed",
		},
		// What is not released tells nothing of what it is worth.
		sql: `
			SELECT id, kind, state, subject_id, portal_id, unit_id, person_id, membership_id, assignment_id, attempt, language, started_at, completed_at,
				released_at, CASE WHEN shown THEN percent END, CASE WHEN shown THEN score END, CASE WHEN shown THEN max_score END,
				CASE WHEN shown THEN band END, CASE WHEN shown THEN passed END
			FROM (SELECT *, state IN ('released', 'contested') AS shown FROM result WHERE org_id = $1) AS result
			WHERE org_id = $1 AND id > $2 AND created_at >= $3 AND created_at < $4 AND ($6::UUID IS NULL OR portal_id = $6)
				AND ($7::UUID IS NULL OR unit_id = $7) AND ($8::UUID IS NULL OR subject_id = $8) AND ($9 = '' OR state = $9)
			ORDER BY id LIMIT $5`,
		args: func(o Order) []any { return []any{o.Portal, o.Unit, o.Subject, o.State} },
		row:  resultRow,
	},
	Sessions: {
		scope: scope.SessionsRead, filters: []string{"portalId", "subjectId", "state"}, states: texts([]session.State{session.Created, session.Live, session.Ended, session.Failed, session.Expired}),
		columns: []string{
			"id", "state", "kind", "source", "channel", "personaId", "portalId", "subjectId", "personId", "language", "sandbox", "createdAt", "startedAt",
			"endedAt", "endReason", "durationS", "billedS", "turnCount", "outcome", "ratingScore", "ratingScale",
		},
		// A candidate's interview is not read as a session.
		sql: `
			SELECT id, state, kind, source, channel, persona_id, portal_id, subject_id, person_id, language, sandbox, created_at, started_at, ended_at,
				end_reason, duration_s, billed_s, turn_count, outcome, rating_score, rating_scale
			FROM session
			WHERE org_id = $1 AND id > $2 AND created_at >= $3 AND created_at < $4 AND kind <> 'screening' AND ($6::UUID IS NULL OR portal_id = $6)
				AND ($7::UUID IS NULL OR subject_id = $7) AND ($8 = '' OR state = $8)
			ORDER BY id LIMIT $5`,
		args: func(o Order) []any { return []any{o.Portal, o.Subject, o.State} },
		row:  sessionRow,
	},
	Leads: {
		scope: scope.InboxRead, filters: []string{"portalId", "state"}, states: texts(inbox.States()),
		columns: []string{
			"id", "state", "leadBand", "portalId", "widgetId", "personaId", "sessionId", "language", "name", "email", "phone", "company", "jobTitle",
			"preferredChannel", "contactConsent", "need", "budget", "timeline", "externalId", "forgottenAt", "createdAt", "updatedAt",
		},
		sql: `
			SELECT id, state, band, portal_id, widget_id, persona_id, session_id, language, contact, words, external_id, forgotten_at, created_at, updated_at
			FROM inbox_item
			WHERE org_id = $1 AND id > $2 AND created_at >= $3 AND created_at < $4 AND kind = 'lead' AND ($6::UUID IS NULL OR portal_id = $6)
				AND ($7 = '' OR state = $7)
			ORDER BY id LIMIT $5`,
		args: func(o Order) []any { return []any{o.Portal, o.State} },
		row:  leadRow,
	},
	People: {
		scope: scope.PeopleRead, filters: []string{"state"}, states: texts([]person.State{person.Invited, person.Active, person.Disabled}),
		columns: []string{
			"id", "state", "name", "givenName", "familyName", "email", "phone", "externalId", "language", "timezone", "ageBand", "lastSeenAt", "createdAt", "updatedAt",
		},
		sql: `
			SELECT id, state, name, given_name, family_name, email, phone, external_id, language, timezone, age_band, last_seen_at, created_at, updated_at
			FROM person
			WHERE org_id = $1 AND id > $2 AND created_at >= $3 AND created_at < $4 AND state <> 'erased' AND ($6 = '' OR state = $6)
			ORDER BY id LIMIT $5`,
		args: func(o Order) []any { return []any{o.State} },
		row:  personRow,
	},
	Candidates: {
		scope: scope.CandidatesRead, filters: []string{"roleId", "state"}, states: texts(candidate.States()),
		columns: []string{
			"id", "roleId", "inviteId", "state", "stage", "language", "sandbox", "screenedAt", "reviewedAt", "decision", "decidedAt", "name", "email", "phone",
			"externalId", "createdAt", "updatedAt",
		},
		// Of a blind role nothing tells who a candidate is before somebody decided on them (candidate.Hidden).
		sql: `
			SELECT c.id, c.role_id, c.invite_id, c.state, c.stage, c.language, c.sandbox, c.screened_at, c.reviewed_at, c.decision->>'value',
				c.decision->>'decidedAt', c.name, c.email, c.phone, c.external_id,
				COALESCE((r.definition->>'blind')::BOOL, false) AND (c.decision IS NULL OR c.decision->>'value' = 'hold' AND c.stage = 'screening'),
				c.created_at, c.updated_at
			FROM candidate c JOIN hiring_role r ON r.org_id = c.org_id AND r.id = c.role_id
			WHERE c.org_id = $1 AND c.id > $2 AND c.created_at >= $3 AND c.created_at < $4 AND c.state <> 'erased' AND ($6::UUID IS NULL OR c.role_id = $6)
				AND ($7 = '' OR c.state = $7)
			ORDER BY c.id LIMIT $5`,
		args: func(o Order) []any { return []any{o.Role, o.State} },
		row:  candidateRow,
	},
	Consents: {
		scope: scope.ConsentsRead, filters: []string{"state"}, states: []string{"given", "withdrawn"},
		columns: []string{
			"id", "kind", "state", "avatarId", "voiceId", "membershipId", "statement", "policyVersion", "personName", "personEmail", "signedAt", "recordedAt",
			"recordedBy", "withdrawnAt",
		},
		sql: `
			SELECT id, kind, state, avatar_id, voice_id, membership_id, statement, policy_version, person_name, person_email, signed_at, recorded_at,
				recorded_by, withdrawn_at
			FROM consent
			WHERE org_id = $1 AND id > $2 AND recorded_at >= $3 AND recorded_at < $4 AND ($6 = '' OR state = $6)
			ORDER BY id LIMIT $5`,
		args: func(o Order) []any { return []any{o.State} },
		row:  consentRow,
	},
}

func texts[S ~string](all []S) []string {
	out := make([]string, len(all))
	for i, s := range all {
		out[i] = string(s)
	}
	return out
}

// page reads the next records after one.
func page(ctx context.Context, t *tenant.Tenants, org id.Org, o Order, after uuid.UUID, limit int) (rows [][]any, last uuid.UUID, err error) {
	r := records[o.Kind]
	type found struct {
		id  uuid.UUID
		row []any
	}
	list, err := tenant.All(ctx, t, org, func(row pgx.CollectableRow) (f found, err error) {
		f.id, f.row, err = r.row(row, o)
		return f, err
	}, r.sql, append([]any{org, after, o.From, o.To, limit}, r.args(o)...)...)
	for _, f := range list {
		rows, last = append(rows, f.row), f.id
	}
	return rows, last, err
}

// or writes a value that may be missing.
func or[T any](v *T) any {
	if v == nil {
		return nil
	}
	return *v
}

// named writes an id; nil for none.
func named[K id.Kind](i id.ID[K]) any {
	if i.IsZero() {
		return nil
	}
	return i.String()
}

func at(t *time.Time) any {
	if t == nil {
		return nil
	}
	return t.UTC()
}

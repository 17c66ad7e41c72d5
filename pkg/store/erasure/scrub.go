package erasure

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/tenant"
)

// Subject is who is looked for: a person with their places, or some of their
// conversations, by whose ids whatever tells of them names them.
type Subject struct {
	Person   id.Person
	Places   []id.Membership
	Sessions []id.Session
}

// bare are the ids as they stand in texts, without their prefixes.
func (s Subject) bare() [][]byte {
	var all [][]byte
	if !s.Person.IsZero() {
		all = append(all, []byte(s.Person.Bare()))
	}
	for _, m := range s.Places {
		all = append(all, []byte(m.Bare()))
	}
	for _, c := range s.Sessions {
		all = append(all, []byte(c.Bare()))
	}
	return all
}

// ScrubButAnswers empties what is found of somebody at the places that are searched, but
// the answers that are kept: see ScrubAnswers. It may be repeated.
func ScrubButAnswers(ctx context.Context, tx *tenant.Tx, who Subject) error {
	for _, p := range Places {
		if p.Rule != Searched || p.Table == answers {
			continue
		}
		if err := searches[p.Table](ctx, tx, who); err != nil {
			return err
		}
	}
	return nil
}

// answers is the table whose every row of a day is read.
const answers = "idempotency_record"

// searches empty a table's columns that are searched.
var searches = map[string]func(context.Context, *tenant.Tx, Subject) error{"event": scrubEvents, "job": scrubLetters}

// Answer is a place among the answers that are searched; the zero one is before them all.
type Answer struct {
	Key    id.Key `json:"key"`
	Method string `json:"method"`
	Path   string `json:"path"`
	Client string `json:"client"`
}

// answersAtOnce is how many answers are searched at once: some megabytes.
const answersAtOnce = 2000

// ScrubAnswers empties those of some answers that tell of somebody, and says where to go on;
// nil after the last. Repeating their requests has no effect, as before, and is answered
// that it is gone. What is sealed for its caller alone has ids and secrets and no words. It
// rides idempotency_record_pkey; the records are those of a day.
func ScrubAnswers(ctx context.Context, tx *tenant.Tx, who Subject, from Answer) (next *Answer, err error) {
	var last Answer
	err = tx.QueryRow(ctx, `
		SELECT key_id, method, path, client_key FROM idempotency_record
		WHERE org_id = $1 AND (key_id, method, path, client_key) > (COALESCE($2::UUID, '00000000-0000-0000-0000-000000000000'), $3, $4, $5)
		ORDER BY key_id, method, path, client_key LIMIT 1 OFFSET $6`,
		tx.Org, from.Key, from.Method, from.Path, from.Client, answersAtOnce-1).Scan(&last.Key, &last.Method, &last.Path, &last.Client)
	whole := errors.Is(err, pgx.ErrNoRows)
	if err != nil && !whole {
		return nil, err
	}
	rows, err := tx.Query(ctx, `
		UPDATE idempotency_record SET answer = '', state = 'erased'
		WHERE org_id = $1 AND state = 'done'
			AND (key_id, method, path, client_key) > (COALESCE($3::UUID, '00000000-0000-0000-0000-000000000000'), $4, $5, $6)
			AND ($7 OR (key_id, method, path, client_key) <= (COALESCE($8::UUID, '00000000-0000-0000-0000-000000000000'), $9, $10, $11))
			AND EXISTS (SELECT 1 FROM unnest($2::BYTEA[]) AS n (needle) WHERE position(n.needle IN answer) > 0)
		RETURNING key_id, method, path, client_key`,
		tx.Org, who.bare(), from.Key, from.Method, from.Path, from.Client, whole, last.Key, last.Method, last.Path, last.Client)
	if err != nil {
		return nil, err
	}
	var one Answer
	if _, err := pgx.ForEachRow(rows, []any{&one.Key, &one.Method, &one.Path, &one.Client}, func() error {
		tx.Touch(answers, one.Key, part(one.Method), part(one.Path), part(one.Client))
		return nil
	}); err != nil || whole {
		return nil, err
	}
	return &last, nil
}

// scrubEvents empties the organization's own ids for people and conversations, which
// may be names or addresses. Everything else of an event that is about a person is read
// where it is. It rides event_by_type and event_by_session.
func scrubEvents(ctx context.Context, tx *tenant.Tx, who Subject) error {
	const blank = `UPDATE event SET data = jsonb_set(data, '{externalId}', 'null') WHERE org_id = $1 AND data->>'externalId' IS NOT NULL AND `
	for _, found := range []struct {
		none  bool
		where string
		which any
	}{
		{who.Person.IsZero(), `type = 'member.added' AND data->>'personId' = $2 RETURNING id`, who.Person.String()},
		{len(who.Sessions) == 0, `session_id = ANY($2) RETURNING id`, who.Sessions},
	} {
		if found.none {
			continue
		}
		rows, err := tx.Query(ctx, blank+found.where, tx.Org, found.which)
		if err != nil {
			return err
		}
		var which id.Event
		if _, err := pgx.ForEachRow(rows, []any{&which}, func() error {
			tx.Touch("event", which)
			return nil
		}); err != nil {
			return err
		}
	}
	return nil
}

// scrubLetters drops the sealed addresses of letters that were written: whose they are
// cannot be seen, and nobody needs them any more. It rides job_by_state.
func scrubLetters(ctx context.Context, tx *tenant.Tx, _ Subject) error {
	rows, err := tx.Query(ctx, `
		UPDATE job SET input = input - 'sealed'
		WHERE org_id = $1 AND kind = 'mail_send' AND finished_at IS NOT NULL AND input->'sealed' IS NOT NULL
		RETURNING id`, tx.Org)
	if err != nil {
		return err
	}
	var which id.Job
	_, err = pgx.ForEachRow(rows, []any{&which}, func() error {
		tx.Touch("job", which)
		return nil
	})
	return err
}

// part is a text that is part of a row's key.
type part string

func (p part) String() string { return string(p) }

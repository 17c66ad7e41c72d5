package knowledge

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/text/search"
)

// GapState is what is done about a gap.
type GapState string

// The states.
const (
	GapOpen      GapState = "open"
	GapAnswered  GapState = "answered"
	GapDismissed GapState = "dismissed"
)

// Gap is a question that the packs do not answer, however it was put.
type Gap struct {
	ID    id.Gap
	State GapState
	// Questions counts how often it was asked.
	Questions         int64
	Language          string
	Bases             []id.KnowledgeBase
	Persona           id.Persona
	Portal            id.Portal
	SuggestedDocument id.Document
	FirstSeen         time.Time
	LastSeen          time.Time
	UpdatedAt         time.Time
	// Samples are some of the questions in their words, oldest first.
	Samples []string
}

// Question is one that the packs did not answer.
type Question struct {
	Bases   []id.KnowledgeBase
	Persona id.Persona
	// Portal and Session are zero where there is none.
	Portal   id.Portal
	Session  id.Session
	Language string
	// Text tells what it means, also where it may not be kept.
	Text string
	// Withheld words are shown to people who may read transcripts, but never
	// sent in events.
	Withheld bool
	At       time.Time
}

// sameKey is alike for questions that mean the same: those with the same words
// that say something, whatever their order and form, of the same persona.
func (q Question) sameKey() []byte {
	var words []string
	for _, t := range search.Terms(q.Language, q.Text) {
		if !t.Stop {
			words = append(words, t.Text)
		}
	}
	if len(words) == 0 {
		words = strings.Fields(strings.ToLower(q.Text))
	}
	slices.Sort(words)
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\n%s\n%s\n%q", q.Persona, q.Portal, q.Language, slices.Compact(words)))
	return sum[:]
}

const (
	// maxSamples is how many of a gap's questions are kept in their words, and
	// maxSample how many characters of each.
	maxSamples = 5
	maxSample  = 1000
	// tellEvery is how often an event tells of a gap at most.
	tellEvery = 24 * time.Hour
)

// RecordGap notes a question. Those that mean the same are one gap, which
// opens again when it was answered. words says whether the question may be
// kept in its words: not while the organization keeps none (zero data
// retention). It is told of now and then.
func RecordGap(ctx context.Context, tx *tenant.Tx, q Question, words bool) (id.Gap, error) {
	g, told, err := grow(ctx, tx, q)
	if err != nil {
		return g.ID, err
	}
	if words && q.Text != "" {
		if err := keep(ctx, tx, g.ID, q); err != nil {
			return g.ID, err
		}
	}
	if !told || g.State == GapDismissed {
		return g.ID, nil
	}
	fields := map[string]any{
		"gapId": g.ID, "knowledgeBaseIds": g.Bases, "language": g.Language, "questionCount": g.Questions,
		"firstSeenAt": g.FirstSeen.UTC(), "lastSeenAt": g.LastSeen.UTC(), "state": g.State,
	}
	if !g.Persona.IsZero() {
		fields["personaId"] = g.Persona
	}
	if !g.Portal.IsZero() {
		fields["portalId"] = g.Portal
	}
	event.Emit(tx, event.Draft{Type: event.KnowledgeGap, At: q.At, Fields: fields, Session: q.Session})
	return g.ID, nil
}

// grow counts a question in its gap; told says that an event is to tell of it.
func grow(ctx context.Context, tx *tenant.Tx, q Question) (g Gap, told bool, err error) {
	bases := q.Bases
	if bases == nil {
		bases = []id.KnowledgeBase{}
	}
	mark, by := id.NewGap(), id.Gap{}
	err = tx.QueryRow(ctx, `
		INSERT INTO knowledge_gap AS g (org_id, id, same_key, state, questions, language, base_ids, persona_id, portal_id,
			first_seen_at, last_seen_at, told_at, told_by, updated_at)
		VALUES ($1, $2, $3, 'open', 1, $4, $5, $6, $7, $8, $8, $8, $2, $8)
		ON CONFLICT (org_id, same_key) DO UPDATE SET
			state = CASE WHEN g.state = 'answered' THEN 'open' ELSE g.state END, questions = g.questions + 1,
			base_ids = excluded.base_ids, last_seen_at = excluded.last_seen_at, updated_at = excluded.updated_at,
			told_at = CASE WHEN g.told_at <= $9 THEN excluded.told_at ELSE g.told_at END,
			told_by = CASE WHEN g.told_at <= $9 THEN excluded.told_by ELSE g.told_by END
		RETURNING id, state, questions, language, base_ids, persona_id, portal_id, first_seen_at, last_seen_at, told_by`,
		tx.Org, mark, q.sameKey(), q.Language, bases, q.Persona, q.Portal, q.At, q.At.Add(-tellEvery)).
		Scan(&g.ID, &g.State, &g.Questions, &g.Language, &g.Bases, &g.Persona, &g.Portal, &g.FirstSeen, &g.LastSeen, &by)
	tx.Touch("knowledge_gap", g.ID)
	return g, by == mark, err
}

// keep keeps a question in its words, unless there are enough or the same is
// there. The gap's row is locked, so the count holds.
func keep(ctx context.Context, tx *tenant.Tx, g id.Gap, q Question) error {
	text := q.Text
	if runes := []rune(text); len(runes) > maxSample {
		text = string(runes[:maxSample])
	}
	question := id.NewTurn()
	tx.Touch("knowledge_question", g, question)
	_, err := tx.Exec(ctx, `
		INSERT INTO knowledge_question (org_id, gap_id, id, session_id, text, withheld, asked_at)
		SELECT $1, $2, $3, $4, $5, $6, $7
		WHERE (SELECT count(*) FROM knowledge_question WHERE org_id = $1 AND gap_id = $2) < $8
			AND NOT EXISTS (SELECT 1 FROM knowledge_question WHERE org_id = $1 AND gap_id = $2 AND text = $5 AND withheld = $6)`,
		tx.Org, g, question, q.Session, text, q.Withheld, q.At, maxSamples)
	return err
}

// ForgetQuestions deletes the words of a session's questions. Their gaps stay.
// It rides knowledge_question_by_session.
func ForgetQuestions(ctx context.Context, tx *tenant.Tx, session id.Session) error {
	rows, err := tx.Query(ctx, `
		DELETE FROM knowledge_question WHERE org_id = $1 AND session_id = $2 RETURNING gap_id, id`, tx.Org, session)
	if err != nil {
		return err
	}
	var (
		g        id.Gap
		question id.Turn
	)
	_, err = pgx.ForEachRow(rows, []any{&g, &question}, func() error {
		tx.Touch("knowledge_question", g, question)
		return nil
	})
	return err
}

const selectGap = `
	SELECT g.id, g.state, g.questions, g.language, g.base_ids, g.persona_id, g.portal_id, g.suggested_document_id,
		g.first_seen_at, g.last_seen_at, g.updated_at,
		ARRAY(SELECT q.text FROM knowledge_question q WHERE q.org_id = g.org_id AND q.gap_id = g.id ORDER BY q.id)
	FROM knowledge_gap g `

// GapFilter narrows a list; zero fields do not.
type GapFilter struct {
	State   GapState
	Persona id.Persona
}

// ListGaps is a page of the gaps, newest first, after one of them; the zero id
// for the first page. It rides knowledge_gap_pkey.
func ListGaps(ctx context.Context, t *tenant.Tenants, org id.Org, f GapFilter, after id.Gap, limit int) (found []Gap, err error) {
	err = t.Read(ctx, org, func(r *tenant.Reads) {
		r.Query(func(rows pgx.Rows) (err error) {
			found, err = pgx.CollectRows(rows, pgx.RowToStructByPos[Gap])
			return err
		}, selectGap+`
			WHERE g.org_id = $1 AND ($2::UUID IS NULL OR g.id < $2) AND ($3 = '' OR g.state = $3)
				AND ($4::UUID IS NULL OR g.persona_id = $4)
			ORDER BY g.id DESC LIMIT $5`, org, after, f.State, f.Persona, limit)
	})
	return found, err
}

// LockGap reads a gap and holds its row until the transaction ends. The error
// is errdefs.NotFound.
func LockGap(ctx context.Context, tx *tenant.Tx, which id.Gap) (Gap, error) {
	rows, err := tx.Query(ctx, selectGap+`WHERE g.org_id = $1 AND g.id = $2 FOR UPDATE OF g`, tx.Org, which)
	if err != nil {
		return Gap{}, err
	}
	g, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByPos[Gap])
	if errors.Is(err, pgx.ErrNoRows) {
		err = GapNoun.NotFound(which)
	}
	return g, err
}

// AnswerGap notes of a gap that is open that the packs answer it now. One that is dismissed,
// or is not there, stays so.
func AnswerGap(ctx context.Context, tx *tenant.Tx, which id.Gap, at time.Time) error {
	tx.Touch("knowledge_gap", which)
	_, err := tx.Exec(ctx, `
		UPDATE knowledge_gap SET state = 'answered', updated_at = $3 WHERE org_id = $1 AND id = $2 AND state = 'open'`, tx.Org, which, at)
	return err
}

// UpdateGap writes what people made of a gap that LockGap found; changes are the new
// values by name.
func UpdateGap(ctx context.Context, tx *tenant.Tx, g Gap, changes map[string]any, who activity.Actor) error {
	tx.Touch("knowledge_gap", g.ID)
	if _, err := tx.Exec(ctx, `
		UPDATE knowledge_gap SET state = $3, suggested_document_id = $4, updated_at = $5 WHERE org_id = $1 AND id = $2`,
		tx.Org, g.ID, g.State, g.SuggestedDocument, g.UpdatedAt); err != nil {
		return err
	}
	who.Log(tx, "gap.updated", "gap", g.ID, changes)
	return nil
}

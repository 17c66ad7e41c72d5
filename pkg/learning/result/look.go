package result

import (
	"context"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/learning/certificate"
	"visavis.dev/pkg/learning/record"
	"visavis.dev/pkg/sessions/printed"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/store/tenant"
)

// Look is what is told of a result beside its own row.
type Look struct {
	// Review and Contest are the latest; nil for none.
	Review  *Review
	Contest *Contest
	// Completion rests on the result; zero for none.
	Completion id.Completion
	// Certificate rests on it, and was not revoked; zero for none.
	Certificate id.Certificate
	// Reports are those of it that there are, newest first.
	Reports []id.Report
	// heard is what was said in the turns that are quoted, by their places; nil where nobody
	// may read it.
	heard map[int64]string
	// Readable says that the conversation may be read by whoever may read transcripts.
	Readable bool
	// Summary is the conversation in short; nil where it is not Readable, or none is kept.
	Summary *string
}

// Line is what an avatar says of a criterion, and the learner's words that it rests on first; nil for none.
type Line struct {
	Text  string
	Quote *string
}

// Feedback are the lines on criteria that an avatar judged. Whoever calls it may read transcripts; where the conversation is
// not Readable there are none.
func (l *Look) Feedback(r *Result) []Line {
	lines := []Line{}
	for _, k := range r.Criteria {
		if !l.Readable || k.DecidedBy != ByAvatar || k.Rationale == "" {
			continue
		}
		line := Line{Text: k.Rationale}
		if words := l.Words(k); len(words) > 0 {
			line.Quote = &words[0]
		}
		lines = append(lines, line)
	}
	return lines
}

// Words are the quotes of a criterion, those that are still kept and may be read.
func (l *Look) Words(c Criterion) []string {
	words := []string{}
	for _, q := range c.Quotes {
		if text := l.heard[q.Index]; l.Readable && q.From >= 0 && q.From < q.To && q.To <= len(text) {
			words = append(words, text[q.From:q.To])
		}
	}
	return words
}

// LooksAt finds what is told beside results, by result. It rides review_by_result,
// contest_by_result, session_pkey and turn_pkey.
func LooksAt(ctx context.Context, t *tenant.Tenants, org id.Org, of []Result) (found map[id.Result]*Look, err error) {
	err = t.Read(ctx, org, func(r *tenant.Reads) { found = queueLooks(r, org, of) })
	return found, err
}

// LookIn is LooksAt of one result as it is in the transaction that changed it. What it tells of words is for whoever asks alone:
// it must not be kept with an answer.
func LookIn(ctx context.Context, tx *tenant.Tx, of Result) (*Look, error) {
	var found map[id.Result]*Look
	err := tx.Read(ctx, func(r *tenant.Reads) { found = queueLooks(r, tx.Org, []Result{of}) })
	return found[of.ID], err
}

// queueLooks queues what LooksAt finds.
func queueLooks(r *tenant.Reads, org id.Org, of []Result) map[id.Result]*Look {
	var (
		found     = map[id.Result]*Look{}
		results   []id.Result
		sessions  []id.Session
		places    session.TurnPlaces
		bySession = map[id.Session]id.Result{}
	)
	for _, r := range of {
		found[r.ID] = &Look{heard: map[int64]string{}}
		results, sessions = append(results, r.ID), append(sessions, r.Session)
		bySession[r.Session] = r.ID
		for _, c := range r.Criteria {
			for _, q := range c.Quotes {
				places.Add(r.Session, q.Index)
			}
		}
	}
	r.Query(func(rows pgx.Rows) error {
		reviews, err := pgx.CollectRows(rows, scanReview)
		for _, v := range reviews {
			found[v.Result].Review = &v
		}
		return err
	}, `SELECT `+reviewColumns+` FROM review WHERE org_id = $1 AND result_id = ANY($2) ORDER BY id`, org, results)
	r.Query(func(rows pgx.Rows) error {
		contests, err := pgx.CollectRows(rows, scanContest)
		for _, k := range contests {
			found[k.Result].Contest = &k
		}
		return err
	}, `SELECT `+contestColumns+` FROM contest WHERE org_id = $1 AND result_id = ANY($2) ORDER BY id`, org, results)
	record.OfResults(r, org, results, func(of id.Result, k id.Completion) { found[of].Completion = k })
	printed.QueueOfResults(r, org, results, func(of id.Result, k id.Report) { found[of].Reports = append(found[of].Reports, k) })
	certificate.OfResults(r, org, results, func(of id.Result, c id.Certificate) { found[of].Certificate = c })
	session.QueueReadable(r, org, sessions, func(s id.Session, summary *string) {
		look := found[bySession[s]]
		look.Readable, look.Summary = true, summary
	})
	session.QueueHeard(r, org, places, func(s id.Session, index int64, text string) { found[bySession[s]].heard[index] = text })
	return found
}

package result

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"strings"
	"time"

	"k8s.io/utils/clock"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/language"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/learning/rubric"
	"visavis.dev/pkg/portals/subject"
	"visavis.dev/pkg/sessions/conversation"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/tenant"
)

// Scorer does the jobs that score what was answered in sessions.
type Scorer struct {
	Tenants *tenant.Tenants
	// Minds give a persona its model, which scores what it can; nil for no models.
	Minds conversation.Minds
	Clock clock.PassiveClock
	Log   *slog.Logger
}

// Background is what workers do for results.
func (w *Scorer) Background() job.Background {
	return job.Background{Works: map[job.Kind]job.Work{job.ResultScore: {Prepare: w.prepare, GiveUp: giveUp}}}
}

// giveUp leaves to a person what could not be scored in many tries.
func giveUp(ctx context.Context, tx *tenant.Tx, j *job.Job, now time.Time) error {
	var in session.ToScore
	if err := json.Unmarshal(j.Input, &in); err != nil {
		return err
	}
	r, err := tenant.OneIn(ctx, tx, scan, Noun.NotFound(in.Session), selectOfSession+` FOR UPDATE`, tx.Org, in.Session)
	if errdefs.IsNotFound(err, Noun) || err == nil && r.State != InProgress {
		return nil
	}
	if err != nil {
		return err
	}
	s, err := session.Lock(ctx, tx, r.Session)
	if err != nil {
		return err
	}
	for i := range r.Criteria {
		r.Criteria[i].Rationale, r.Criteria[i].DecidedAt = "The answers could not be scored.", now
	}
	return r.end(ctx, tx, s, r.Criteria, now)
}

// maxTurns bounds the turns of a session that are looked at.
const maxTurns = 2000

// prepare works the scores out. What was read of the session cannot change any more but by
// being deleted.
func (w *Scorer) prepare(ctx context.Context, j job.Job) (job.Step, error) {
	var in session.ToScore
	if err := json.Unmarshal(j.Input, &in); err != nil {
		return nil, err
	}
	r, err := OfSession(ctx, w.Tenants, j.Org, in.Session)
	if errdefs.IsNotFound(err, Noun) {
		return done, nil // who it was of was erased
	}
	if err != nil {
		return nil, err
	}
	s, err := session.Get(ctx, w.Tenants, j.Org, in.Session)
	if err != nil {
		return nil, err
	}
	criteria, err := w.criteria(ctx, j.Org, r, s)
	return commit(r.ID, s, criteria), err
}

// done is the step of a job with nothing left to do.
func done(_ context.Context, _ *tenant.Tx, j *job.Job, _ time.Time) (time.Duration, error) {
	j.State = job.Succeeded
	return 0, nil
}

// criteria are the scores of what was answered.
func (w *Scorer) criteria(ctx context.Context, org id.Org, r Result, s session.Session) ([]Criterion, error) {
	_, v, err := subject.GetContent(ctx, w.Tenants, org, r.Subject, r.RubricVersion)
	if err != nil {
		return nil, err
	}
	turns, err := session.Turns(ctx, w.Tenants, org, s.ID, 0, maxTurns)
	if err != nil {
		return nil, err
	}
	in := func(words language.Words) string { return words[r.Language] } // what is said in another cannot be compared
	kept := wordsKept(s, turns)
	criteria := []Criterion{}
	reader, err := w.reader(ctx, org, s)
	if err != nil {
		return nil, err
	}
	for _, q := range r.questions(v.Content) {
		said := rubric.Answer{Text: s.Collected[session.AnswerTo+q.Key], Kept: kept, Unasked: !rubric.Asked(s, turns, q.Key)}
		said.Foreign = rubric.Foreign(r.Language, said.Text, turns)
		scores, by := reader.score(ctx, r.Language, q, said, in)
		scores, came := rubric.Timed(scores, said, s.Clocks, q.Key)
		for _, score := range scores {
			c := criterion(score, quoted(turns, score.Quotes), *s.EndedAt)
			c.Connection, c.Time = by, came
			criteria = append(criteria, c)
		}
	}
	return criteria, ctx.Err()
}

// criterion is what a score says of a criterion: no points where nobody could judge it.
func criterion(score rubric.Score, quotes []Quote, at time.Time) Criterion {
	c := Criterion{
		Key: score.Key, Label: score.Label, MaxScore: score.Max, Weight: score.Weight, Level: score.Level, Confidence: score.Confidence,
		Rationale: score.Rationale, Quotes: listed(quotes), DecidedBy: ByAvatar, DecidedAt: at,
	}
	if score.Confidence > 0 {
		c.Score = new(score.Score)
	}
	return c
}

// wordsKept says whether what was answered is known: its words were kept and not deleted
// since. Of a conversation without words nothing was said.
func wordsKept(s session.Session, turns []session.Turn) bool {
	if s.Withheld != nil && *s.Withheld == session.ZeroRetention {
		return false
	}
	spoke := func(t session.Turn) bool { return t.Speaker == session.User }
	return !slices.ContainsFunc(turns, func(t session.Turn) bool { return spoke(t) && t.Unrecorded })
}

// quoted is where words of an answer were said. What was not kept as it was said is nowhere.
func quoted(turns []session.Turn, quotes []string) []Quote {
	found := []Quote{}
	for quote := range strings.SplitSeq(strings.Join(quotes, "\n"), "\n") { // an answer can have several turns
		quote = strings.TrimSpace(quote)
		for _, t := range turns {
			if at := strings.Index(t.Heard(), quote); t.Speaker == session.User && quote != "" && at >= 0 {
				found = append(found, Quote{Turn: t.ID, Index: t.Index, From: at, To: at + len(quote)})
				break
			}
		}
	}
	return found
}

// commit is the step that keeps the scores, unless the result was changed meanwhile.
func commit(which id.Result, s session.Session, criteria []Criterion) job.Step {
	return func(ctx context.Context, tx *tenant.Tx, j *job.Job, now time.Time) (time.Duration, error) {
		r, err := Lock(ctx, tx, which)
		if errdefs.IsNotFound(err, Noun) || err == nil && r.State != InProgress {
			return done(ctx, tx, j, now)
		}
		if err != nil {
			return 0, err
		}
		if err := r.end(ctx, tx, s, criteria, now); err != nil {
			return 0, err
		}
		return done(ctx, tx, j, now)
	}
}

// end takes what came of the session.
func (r *Result) end(ctx context.Context, tx *tenant.Tx, s session.Session, criteria []Criterion, now time.Time) error {
	switch {
	case s.StartedAt == nil:
		return r.drop(ctx, tx, now)
	case s.State == session.Failed:
		// The fault was ours, so that the attempt does not count.
		r.State, r.CompletedAt, r.Criteria = Voided, s.EndedAt, nil
		return r.saveAlone(ctx, tx, now)
	case s.EndReason != nil && *s.EndReason == session.ConsentWithdrawn:
		r.State, r.CompletedAt, r.Criteria = Withdrawn, s.EndedAt, nil
		return r.saveAlone(ctx, tx, now)
	}
	r.Criteria, r.CompletedAt = criteria, s.EndedAt
	if err := r.weigh(ctx, tx); err != nil {
		return err
	}
	doubt := r.doubts(s)
	r.State, r.ReleasedAt = Released, &now
	if doubt != "" {
		r.State, r.ReleasedAt, r.NeedsReview, r.Doubt = AwaitingReview, nil, true, &doubt
	}
	if err := r.save(ctx, tx, now); err != nil {
		return err
	}
	event.Emit(tx, r.scored(now))
	if r.Kind == session.Assessment {
		completed, err := r.completed(ctx, tx, now)
		if err != nil {
			return err
		}
		event.Emit(tx, completed)
	}
	if doubt == "" {
		return r.complete(ctx, tx, "", activity.Actor{By: byPlatform, At: now})
	}
	if _, err := r.ask(ctx, tx, Ask{Reason: doubt}, byPlatform, now); err != nil {
		return err
	}
	return r.follow(ctx, tx, now)
}

// saveAlone saves a result that is worth nothing.
func (r *Result) saveAlone(ctx context.Context, tx *tenant.Tx, now time.Time) error {
	if err := r.save(ctx, tx, now); err != nil {
		return err
	}
	return r.follow(ctx, tx, now)
}

// byPlatform is who does what nobody asked for.
const byPlatform = "platform"

// The reasons for which the platform asks for a review.
const (
	LowConfidence = "low_confidence"
	NotJudged     = "not_judged"
	SafetyFlag    = "flagged"
	Interrupted   = "interrupted"
)

// doubts says why a person has to look at a result first; empty where nobody has. A practice
// is the learner's own, and waits for nobody.
func (r *Result) doubts(s session.Session) string {
	switch {
	case r.Kind == session.Practice:
		return ""
	case s.Flagged:
		return SafetyFlag
	case s.EndReason != nil && s.EndReason.Interrupts():
		return Interrupted
	case len(r.unjudged()) > 0:
		return NotJudged
	case *r.Confidence < rubric.Least:
		return LowConfidence
	}
	return ""
}

// drop deletes the result of a session to which nobody came.
func (r *Result) drop(ctx context.Context, tx *tenant.Tx, now time.Time) error {
	tx.Touch("result", r.ID)
	if _, err := tx.Exec(ctx, `DELETE FROM result WHERE org_id = $1 AND id = $2`, tx.Org, r.ID); err != nil {
		return err
	}
	return r.follow(ctx, tx, now)
}

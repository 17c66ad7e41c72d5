package screening

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/hiring/candidate"
	"visavis.dev/pkg/hiring/role"
	"visavis.dev/pkg/learning/rubric"
	"visavis.dev/pkg/portals/subject"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/store/tenant"
)

// Scorer does the jobs that follow the end of an interview.
type Scorer struct{ Tenants *tenant.Tenants }

// Background is what workers do for interviews.
func (w *Scorer) Background() job.Background {
	return job.Background{Works: map[job.Kind]job.Work{job.CandidateScore: {Prepare: w.prepare, GiveUp: giveUp}}}
}

// maxTurns bounds the turns of a session that are looked at.
const maxTurns = 2000

// prepare works out what came of an interview. What was read of the session cannot change any
// more but by being deleted.
func (w *Scorer) prepare(ctx context.Context, j job.Job) (job.Step, error) {
	var in session.ToScore
	if err := json.Unmarshal(j.Input, &in); err != nil {
		return nil, err
	}
	i, err := OfSession(ctx, w.Tenants, j.Org, in.Session)
	if errdefs.IsNotFound(err, Noun) {
		return done, nil
	}
	if err != nil {
		return nil, err
	}
	s, err := session.Get(ctx, w.Tenants, j.Org, in.Session)
	if err != nil {
		return nil, err
	}
	r, err := role.Get(ctx, w.Tenants, j.Org, i.Role)
	if err != nil {
		return nil, err
	}
	words, err := Said(ctx, w.Tenants, j.Org, &i, s)
	if err != nil {
		return nil, err
	}
	card := Card{Criteria: []Criterion{}}
	if r.Scoring == role.Advisory {
		card = words.scored(s.Clocks)
	}
	return commit(i.ID, s, outcome{Card: card, Answered: words.answered(), Knockouts: knockouts(words, r.Knockouts, s.Clocks)}), nil
}

// Said is what was asked in an interview and what was answered.
func Said(ctx context.Context, t *tenant.Tenants, org id.Org, i *Screening, s session.Session) (Words, error) {
	_, v, err := subject.GetContent(ctx, t, org, i.Subject, i.Version)
	if err != nil {
		return Words{}, err
	}
	turns, err := session.Turns(ctx, t, org, s.ID, 0, maxTurns)
	if err != nil {
		return Words{}, err
	}
	w := Words{Language: i.Language, Questions: i.Questions(v.Content), Answers: map[string]rubric.Answer{}}
	spoke := func(t session.Turn) bool { return t.Speaker == session.User && t.Unrecorded }
	kept := !slices.ContainsFunc(turns, spoke)
	for _, q := range w.Questions {
		text := s.Collected[session.AnswerTo+q.Key]
		w.Answers[q.Key] = rubric.Answer{Text: text, Kept: kept, Unasked: text == "" && !rubric.Asked(s, turns, q.Key), Foreign: rubric.Foreign(i.Language, text, turns)}
	}
	return w, nil
}

// answered counts the questions that were answered.
func (w *Words) answered() (n int64) {
	for _, q := range w.Questions {
		if strings.TrimSpace(w.Answers[q.Key].Text) != "" {
			n++
		}
	}
	return n
}

// outcome is what came of an interview.
type outcome struct {
	Card
	Answered  int64
	Knockouts []Met
}

// done is the step of a job with nothing left to do.
func done(_ context.Context, _ *tenant.Tx, j *job.Job, _ time.Time) (time.Duration, error) {
	j.State = job.Succeeded
	return 0, nil
}

// commit is the step that keeps what came of an interview.
func commit(which id.Screening, s session.Session, o outcome) job.Step {
	return func(ctx context.Context, tx *tenant.Tx, j *job.Job, now time.Time) (time.Duration, error) {
		if err := end(ctx, tx, which, s, o); err != nil {
			return 0, err
		}
		return done(ctx, tx, j, now)
	}
}

// giveUp leaves to a person what could not be scored in many tries.
func giveUp(ctx context.Context, tx *tenant.Tx, j *job.Job, _ time.Time) error {
	var in session.ToScore
	if err := json.Unmarshal(j.Input, &in); err != nil {
		return err
	}
	i, err := tenant.OneIn(ctx, tx, scan, Noun.NotFound(in.Session), selectOfSession, tx.Org, in.Session)
	if errdefs.IsNotFound(err, Noun) {
		return nil
	}
	if err != nil {
		return err
	}
	// Whoever changes both locks the candidate first.
	if _, err := candidate.Lock(ctx, tx, i.Candidate); err != nil {
		if errdefs.IsAbsent(err, candidate.Noun) {
			return nil
		}
		return err
	}
	s, err := session.Lock(ctx, tx, in.Session)
	if err != nil {
		return err
	}
	o := outcome{Card: Card{Criteria: []Criterion{}}, Knockouts: []Met{}}
	for _, key := range i.Asked {
		if strings.TrimSpace(s.Collected[session.AnswerTo+key]) != "" {
			o.Answered++
		}
	}
	return end(ctx, tx, i.ID, s, o)
}

// interruptions are ends that the candidate did not choose.
var interruptions = []session.Reason{
	session.ConnectionLost, session.MinutesExhausted, session.ConcurrencyReclaimed, session.Superseded, session.AccountPaused, session.EndedByAPI,
	session.EndedByStaff, session.ConsentWithdrawn, session.UpstreamError, session.EngineError,
}

// mostVoided is how often an interview that was interrupted begins again: what was asked is known
// by then.
const mostVoided = 3

// end ends an interview, unless that was done before.
func end(ctx context.Context, tx *tenant.Tx, which id.Screening, s session.Session, o outcome) error {
	i, err := tenant.OneIn(ctx, tx, scan, Noun.NotFound(which), selectOne, tx.Org, which)
	if err != nil {
		return err
	}
	c, err := candidate.Lock(ctx, tx, i.Candidate)
	if errdefs.IsAbsent(err, candidate.Noun) {
		return nil // they were erased meanwhile, and so is this
	}
	if err != nil {
		return err
	}
	if i, err = tenant.OneIn(ctx, tx, scan, Noun.NotFound(which), selectOne, tx.Org, which); err != nil || i.State != InProgress {
		return err
	}
	i.Answered, i.Complete = o.Answered, o.Answered == int64(len(i.Asked))
	i.DurationS, i.EndedAt = s.DurationS, s.EndedAt
	void, err := i.void(ctx, tx, s)
	if err != nil {
		return err
	}
	void = void || c.Consent.WithdrawnAt != nil
	if i.State = Scored; void {
		i.State = Voided
	} else {
		i.Criteria, i.Percent, i.Band, i.Knockouts = o.Criteria, o.Percent, o.Band, o.Knockouts
	}
	if err := i.save(ctx, tx); err != nil {
		return err
	}
	at := *s.EndedAt
	if err := i.observed(ctx, tx, &c, at); err != nil {
		return err
	}
	if err := i.close(ctx, tx, &c, s, at); err != nil || void {
		return err
	}
	c.Tell(tx, event.CandidateScreened, at, map[string]any{
		"screeningId": i.ID, "complete": i.Complete, "questionCount": len(i.Asked), "answeredCount": i.Answered, "durationS": i.DurationS,
		"language": i.Language, "screenedAt": at.UTC(),
	})
	return nil
}

// void says whether an interview does not count: nobody came, or it was interrupted before the
// end, and not too often. It rides screening_by_candidate and session_pkey.
func (i *Screening) void(ctx context.Context, tx *tenant.Tx, s session.Session) (bool, error) {
	if s.StartedAt == nil || s.EndReason != nil && *s.EndReason == session.ConsentWithdrawn {
		return true, nil
	}
	if i.Complete || s.State != session.Failed && (s.EndReason == nil || !slices.Contains(interruptions, *s.EndReason)) {
		return false, nil
	}
	var before int // those to which nobody came showed nobody what is asked
	err := tx.QueryRow(ctx, `
		SELECT count(*) FROM screening i JOIN session s ON s.org_id = i.org_id AND s.id = i.session_id
		WHERE i.org_id = $1 AND i.candidate_id = $2 AND i.state = 'voided' AND s.started_at IS NOT NULL`,
		tx.Org, i.Candidate).Scan(&before)
	return before < mostVoided, err
}

// Facts are what the record says of what was scored.
type Facts struct {
	Scored bool `json:"scored"`
	// Version is that of the subject's content, and Factors the keys of the criteria.
	Version int64    `json:"rubricVersion"`
	Factors []string `json:"factors"`
}

// facts are what the record says of the end of an interview.
func (i *Screening) facts(s session.Session) map[string]any {
	factors := i.factors()
	return map[string]any{
		"screeningId": i.ID, "complete": i.Complete, "questions": len(i.Asked), "answered": i.Answered, "endReason": s.EndReason,
		"scored": i.State == Scored && len(factors) > 0, "subjectId": i.Subject, "rubricVersion": i.Version, "factors": factors,
	}
}

// factors are the criteria that have a score: what is left to a person was scored by nobody.
func (i *Screening) factors() []string {
	keys := []string{}
	for _, c := range i.Criteria {
		if c.Score != nil {
			keys = append(keys, c.Key)
		}
	}
	return keys
}

package results

import (
	"time"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/learning/result"
	"visavis.dev/pkg/sessions/session"
)

// Result is what came of a practice or an assessment.
type Result struct {
	ID              id.Result                      `json:"id" doc:"Id of the result, with the prefix res_."`
	State           result.State                   `json:"state" enum:"in_progress,awaiting_review,released,contested,withdrawn,voided" doc:"in_progress until the session is over and scored, awaiting_review while a person is to look at it first, released, contested while an objection is open, withdrawn where the person took their consent back meanwhile, or voided."`
	Kind            string                         `json:"kind" enum:"assessment,practice" doc:"What it came of."`
	SubjectID       id.Subject                     `json:"subjectId" doc:"The subject."`
	PortalID        id.Portal                      `json:"portalId" doc:"The subject's portal."`
	PersonID        id.Person                      `json:"personId" doc:"Whose result it is."`
	MembershipID    id.Membership                  `json:"membershipId" doc:"The place in the portal by which they came."`
	UnitID          *id.Unit                       `json:"unitId" nullable:"true" doc:"The unit of that place when it began; null for none."`
	SessionID       id.Session                     `json:"sessionId" doc:"The conversation."`
	AssignmentID    *id.Assignment                 `json:"assignmentId" nullable:"true" doc:"The assignment that it is part of; null for none."`
	Attempt         int64                          `json:"attempt" doc:"Which attempt it was, from 1."`
	AttemptsAllowed *int64                         `json:"attemptsAllowed" doc:"How many attempts there were when it began, of the assignment where it is part of one; null for any number."`
	StartedAt       time.Time                      `json:"startedAt" doc:"When it began, in UTC."`
	CompletedAt     *time.Time                     `json:"completedAt" doc:"When its conversation ended, in UTC; null before."`
	ReleasedAt      *time.Time                     `json:"releasedAt" doc:"When it was released, in UTC; null before."`
	Percent         *float64                       `json:"percent" doc:"The share of the points that were reached, in percent; null before it is released, and where a criterion is not judged."`
	Score           *float64                       `json:"score" doc:"The points that were reached; null as percent is."`
	MaxScore        float64                        `json:"maxScore" doc:"The points that there were to reach."`
	Band            *string                        `json:"band" enum:"fail,pass,merit,distinction" nullable:"true" doc:"merit takes 75 percent and distinction 90, and both a pass; null as percent is, and where nobody can fail."`
	Passed          *bool                          `json:"passed" doc:"Whether it passed; null as band is."`
	PassPercent     *int64                         `json:"passPercent" doc:"What it takes to pass, in percent; null where nobody can fail."`
	Criteria        []ResultCriterion              `json:"criteria" nullable:"true" doc:"The scores by criterion; null before it is released."`
	Objectives      []ResultObjective              `json:"objectives" nullable:"true" doc:"The subject's objectives with how well they are mastered, as that was when it was scored last; null before it is released and of results that were scored before this was kept, and empty where the subject had none."`
	ScoredBy        *string                        `json:"scoredBy" enum:"avatar,person,mixed" nullable:"true" doc:"Who decided the scores; null before it is scored."`
	RubricVersion   int64                          `json:"rubricVersion" doc:"The version of the subject whose rubrics count."`
	Confidence      *float64                       `json:"confidence" doc:"How sure the least sure of the scores is, from 0 to 1; null before it is released."`
	NeedsReview     bool                           `json:"needsReview" doc:"Whether a person is to look at it."`
	Review          route.OrNull[ReviewReference]  `json:"review" doc:"The latest review; null for none."`
	Contest         route.OrNull[ContestReference] `json:"contest" doc:"The latest objection; null for none."`
	CompletionID    *id.Completion                 `json:"completionId" nullable:"true" doc:"The completion that rests on it; null for none."`
	CertificateID   *id.Certificate                `json:"certificateId" nullable:"true" doc:"The certificate that rests on it and was not revoked; null for none."`
	ReportIDs       []id.Report                    `json:"reportIds" doc:"The reports of it, newest first."`
	Summary         *string                        `json:"summary" doc:"The conversation in short, in its own words: what the learner said, and how each answer to that began; null without transcripts:read, before the result is released, and where nobody may read the conversation, or it is not kept."`
	Feedback        []ResultFeedback               `json:"feedback" nullable:"true" doc:"What the avatar says of each criterion that it judged; null as summary is, but for what is not kept."`
	OnHold          bool                           `json:"onHold" doc:"Whether nothing of it may change."`
	Language        string                         `json:"language" doc:"The language that it was taken in, as a code."`
	CreatedAt       time.Time                      `json:"createdAt" doc:"When it was entered, in UTC."`
	UpdatedAt       time.Time                      `json:"updatedAt" doc:"When it was last changed, in UTC."`
}

// ResultCriterion is the score of one criterion, and what it rests on.
type ResultCriterion struct {
	Key          string         `json:"key" doc:"The question's key and, of a rubric, the criterion's after a full stop."`
	Label        string         `json:"label" doc:"What is judged, in the language of the result."`
	Score        *float64       `json:"score" doc:"The points; null where nobody could judge the answer yet."`
	MaxScore     float64        `json:"maxScore" doc:"The points that there were."`
	Weight       float64        `json:"weight" doc:"How much it counts within its question."`
	Level        *int64         `json:"level" doc:"The level of the rubric that is reached, from 0; null where it has none, or a person gave points."`
	Confidence   float64        `json:"confidence" doc:"How sure the score is, from 0 to 1; 1 for a person's."`
	Rationale    *string        `json:"rationale" doc:"Why; null without transcripts:read, and where nobody may read the conversation."`
	Quotes       []string       `json:"quotes" nullable:"true" doc:"The learner's own words that it rests on, as far as they are kept; null as rationale is."`
	Time         *session.Came  `json:"time" enum:"in_time,ran_out,no_answer,not_asked,unknown" nullable:"true" doc:"What came of the question in the time that there was to answer it: in_time, ran_out where the time ran out over the answer, which is what was said by then, no_answer where it ran out and nothing was said, not_asked where the time of all questions ran out before, unknown where nobody kept the time; null where it had no limit, and while it had no answer yet."`
	TurnIDs      []id.Turn      `json:"turnIds" doc:"The turns that are quoted."`
	DecidedBy    string         `json:"decidedBy" doc:"avatar, or the id of the key or person that decided."`
	ConnectionID *id.Connection `json:"connectionId" nullable:"true" doc:"The connection whose model held the answer against the rubric; null where its words were weighed without a model, or a person decided."`
	DecidedAt    time.Time      `json:"decidedAt" doc:"When it was decided, in UTC."`
	Reason       *string        `json:"reason" doc:"Why a person gave another score; null where none did, and as rationale is."`
}

// ResultFeedback is what the avatar says of a criterion.
type ResultFeedback struct {
	Line  string  `json:"line" doc:"What it says."`
	Quote *string `json:"quote" doc:"The learner's own words that it rests on first; null where none are kept."`
}

// ResultObjective is what a result changed of how well an objective is mastered.
type ResultObjective struct {
	Key      string  `json:"key" doc:"The objective's key in the subject."`
	Mastery  float64 `json:"mastery" doc:"How likely it was mastered after the result, from 0 to 1."`
	Previous float64 `json:"previous" doc:"How likely it was mastered before, by earlier results that were released and what was forgotten since, from 0 to 1."`
}

// ReviewReference is the latest review of a result.
type ReviewReference struct {
	ID         id.Review  `json:"id" doc:"Id of the review, with the prefix rvw_."`
	State      string     `json:"state" enum:"open,completed" doc:"open until it has an outcome."`
	ReviewerID *id.Person `json:"reviewerId" nullable:"true" doc:"Who is to make it; null for nobody yet."`
	Outcome    *string    `json:"outcome" enum:"upheld,changed,voided" nullable:"true" doc:"What came of it; null before."`
}

// ContestReference is the latest objection to a result.
type ContestReference struct {
	ID    id.Contest `json:"id" doc:"Id of the objection, with the prefix ctst_."`
	State string     `json:"state" enum:"open,upheld,rejected,withdrawn" doc:"open until it is decided."`
}

// sees says whether the caller may see what a result is worth.
func sees(c *route.Call, shown bool) bool { return shown || writes(c) }

func readsWords(c *route.Call) bool { return c.Principal.Key.Grant().Holds(scope.TranscriptsRead) }

func show(c *route.Call, r result.Result, look *result.Look) Result {
	shown := Result{
		ID: r.ID, State: r.State, Kind: r.Kind, SubjectID: r.Subject, PortalID: r.Portal, PersonID: r.Person, MembershipID: r.Membership,
		UnitID: r.Unit.OrNil(), SessionID: r.Session, AssignmentID: r.Assignment.OrNil(), Attempt: r.Attempt, AttemptsAllowed: r.AttemptsAllowed, StartedAt: r.StartedAt.UTC(),
		CompletedAt: route.UTC(r.CompletedAt), ReleasedAt: route.UTC(r.ReleasedAt), MaxScore: r.MaxScore, PassPercent: r.PassPercent,
		CompletionID: look.Completion.OrNil(), CertificateID: look.Certificate.OrNil(), ReportIDs: append([]id.Report{}, look.Reports...), RubricVersion: r.RubricVersion, ScoredBy: r.ScoredBy, NeedsReview: r.NeedsReview, OnHold: r.OnHold, Language: r.Language,
		CreatedAt: r.CreatedAt.UTC(), UpdatedAt: r.UpdatedAt.UTC(),
	}
	if v := look.Review; v != nil {
		shown.Review.Value = &ReviewReference{ID: v.ID, State: v.State, ReviewerID: v.Assignee.OrNil(), Outcome: v.Outcome}
	}
	if k := look.Contest; k != nil {
		shown.Contest.Value = &ContestReference{k.ID, k.State}
	}
	if !sees(c, r.Shown()) {
		return shown
	}
	shown.Percent, shown.Score, shown.Band, shown.Passed = r.Percent, r.Score, r.Band, r.Passed
	shown.Confidence, shown.Criteria = r.Confidence, []ResultCriterion{}
	if r.State == result.InProgress {
		return shown // what is to be scored is no score
	}
	if readsWords(c) && look.Readable {
		shown.Summary, shown.Feedback = look.Summary, []ResultFeedback{}
		for _, l := range look.Feedback(&r) {
			shown.Feedback = append(shown.Feedback, ResultFeedback{l.Text, l.Quote})
		}
	}
	for _, k := range r.Criteria {
		shown.Criteria = append(shown.Criteria, showCriterion(k, look, readsWords(c) && look.Readable))
	}
	if r.Objectives != nil {
		shown.Objectives = []ResultObjective{}
	}
	for _, o := range r.Objectives {
		shown.Objectives = append(shown.Objectives, ResultObjective(o))
	}
	return shown
}

func showCriterion(k result.Criterion, look *result.Look, words bool) ResultCriterion {
	shown := ResultCriterion{
		Key: k.Key, Label: k.Label, Score: k.Score, MaxScore: k.MaxScore, Weight: k.Weight, Level: k.Level, Confidence: k.Confidence,
		TurnIDs: []id.Turn{}, DecidedBy: k.DecidedBy, ConnectionID: k.Connection, DecidedAt: k.DecidedAt.UTC(),
	}
	if k.Time != "" {
		shown.Time = &k.Time
	}
	for _, q := range k.Quotes {
		shown.TurnIDs = append(shown.TurnIDs, q.Turn)
	}
	if words {
		shown.Rationale, shown.Quotes, shown.Reason = &k.Rationale, look.Words(k), k.Reason
	}
	return shown
}

package hiring

import (
	"time"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/hiring/candidate"
	"visavis.dev/pkg/hiring/role"
	"visavis.dev/pkg/hiring/screening"
	"visavis.dev/pkg/sessions/session"
)

// Candidate is somebody who was invited to a role's interview.
type Candidate struct {
	ID                 id.Candidate                   `json:"id" doc:"Id of the candidate, with the prefix cand_."`
	RoleID             id.Role                        `json:"roleId" doc:"The role."`
	InviteID           id.Invite                      `json:"inviteId" doc:"How they were invited."`
	Name               *string                        `json:"name" doc:"The full name; null while the role is blind, and once they are erased."`
	Email              *string                        `json:"email" doc:"A mail address; null where it is not known or not shown."`
	Phone              *string                        `json:"phone" doc:"A phone number; null likewise."`
	Language           string                         `json:"language" doc:"The language of the interview, as a code."`
	ResumeURL          *string                        `json:"resumeUrl" format:"uri" doc:"Where the résumé is; for keys with candidates:data, and null while the role is blind."`
	Location           route.OrNull[CandidatePlace]   `json:"location" doc:"Where they work from, of a remote role; for keys with candidates:data, and null where it was not given and while the role is blind."`
	State              candidate.State                `json:"state" enum:"invited,opened,in_progress,screened,reviewed,decided,withdrawn,erased" doc:"How far they are."`
	Stage              candidate.Stage                `json:"stage" enum:"screening,interview,offer,closed" doc:"What they are at, by what was decided."`
	StartsFrom         *time.Time                     `json:"startsFrom" doc:"When the interview may begin at the earliest, in UTC; null while they were not given the notice."`
	ScreenedAt         *time.Time                     `json:"screenedAt" doc:"When the interview was over, in UTC; null before."`
	ReviewedAt         *time.Time                     `json:"reviewedAt" doc:"When a person had read it, in UTC; null before."`
	ReviewerID         *id.Person                     `json:"reviewerId" nullable:"true" doc:"Who read it; null before."`
	Decision           route.OrNull[Decision]         `json:"decision" doc:"What was decided last; null before."`
	Scorecard          route.OrNull[Scorecard]        `json:"scorecard" doc:"What was scored; null before the interview was reviewed, and where nothing is scored."`
	Interview          route.OrNull[InterviewSummary] `json:"interview" doc:"The interview; null before."`
	QuestionSetVersion *int64                         `json:"questionSetVersion" doc:"The version of the role's questions that they are asked; null where it is frozen once their interview begins."`
	Consent            CandidateConsent               `json:"consent" doc:"What they were told and agreed to."`
	OnHold             bool                           `json:"onHold" doc:"Whether nothing of them is deleted."`
	RetainUntil        time.Time                      `json:"retentionUntil" doc:"When they are erased, in UTC, unless they are held; who was interviewed is kept on until somebody decides."`
	ErasedAt           *time.Time                     `json:"erasedAt" doc:"When they were erased, in UTC; null for not."`
	ExternalID         *string                        `json:"externalId" doc:"The candidate's id in your own system; null where none was given."`
	Metadata           map[string]string              `json:"metadata" doc:"Your own notes: at most 20 keys of 40 characters, with values of 500."`
	CreatedAt          time.Time                      `json:"createdAt" doc:"When they were invited, in UTC."`
	UpdatedAt          time.Time                      `json:"updatedAt" doc:"When something of them last changed, in UTC."`
}

// CandidatePlace is where a candidate works from.
type CandidatePlace struct {
	City       string `json:"city" doc:"The place; empty where it was not given."`
	Region     string `json:"region" doc:"The state or province, likewise."`
	Country    string `json:"country" doc:"The country by its two letters."`
	Timezone   string `json:"timezone" doc:"The time zone by whose days notice is counted; empty for the role's."`
	OutsideNYC bool   `json:"outsideNewYorkCity" doc:"Whether it was said to lie outside of New York City."`
}

// CandidateConsent is what a candidate was told and agreed to.
type CandidateConsent struct {
	NoticeAt       *time.Time `json:"noticeAt" doc:"When they were given the notice, in UTC; null for not yet."`
	AcknowledgedAt *time.Time `json:"acknowledgedAt" doc:"When they said that they read it, in UTC; null for not yet."`
	InterviewAt    *time.Time `json:"interviewAt" doc:"When they agreed to be interviewed by an AI, in UTC; null for not."`
	WithdrawnAt    *time.Time `json:"withdrawnAt" doc:"When they took that back, in UTC; null for not."`
}

// Decision is what a person decided.
type Decision struct {
	Value         candidate.Value `json:"value" enum:"advance,reject,hold,hire,withdrawn" doc:"What was decided."`
	DecidedBy     id.Person       `json:"decidedBy" doc:"Who decided."`
	DecidedAt     time.Time       `json:"decidedAt" doc:"When, in UTC."`
	ReasonCode    string          `json:"reasonCode" doc:"Why, by a code of your own."`
	Note          *string         `json:"note" doc:"Your own note; for keys with candidates:data."`
	HumanReviewed bool            `json:"humanReviewed" doc:"Whether a person had read the interview, or there was none."`
	ReopenedAt    *time.Time      `json:"reopenedAt" doc:"When an appeal of it was granted, in UTC, so that it stands until it is decided anew; null for not."`
}

// Scorecard is what was scored of an interview.
type Scorecard struct {
	Percent     *float64          `json:"percent" doc:"The share of the points that could be judged; null where none could."`
	Band        *string           `json:"band" enum:"strong,good,mixed,weak,unclear" nullable:"true" doc:"strong from 80 percent, good from 60, mixed from 40, weak below; unclear where less than half of the points could be judged."`
	Criteria    []ScoredCriterion `json:"criteria" doc:"The scores, criterion by criterion."`
	Knockouts   []KnockoutFact    `json:"knockouts" doc:"Which of the role's knockouts are met. Nobody is rejected by one."`
	Advisory    bool              `json:"advisory" doc:"Always true: a person decides."`
	AIGenerated bool              `json:"aiGenerated" doc:"Always true."`
}

// ScoredCriterion is a score of what was said.
type ScoredCriterion struct {
	Key        string        `json:"key" doc:"The keys of the question and, after a full stop, of the criterion."`
	Label      string        `json:"label" doc:"What is judged."`
	Score      *float64      `json:"score" doc:"The points; null where a person has to judge it."`
	MaxScore   float64       `json:"maxScore" doc:"The points for a full answer."`
	Weight     float64       `json:"weight" doc:"How much it counts within its question."`
	Confidence float64       `json:"confidence" doc:"From 0, for what was not judged, to 1."`
	Evaluation string        `json:"evaluation" doc:"Why, in English."`
	Evidence   []string      `json:"evidence" doc:"The candidate's own words that it rests on; for keys with candidates:data."`
	Time       *session.Came `json:"time" enum:"in_time,ran_out,no_answer,not_asked,unknown" nullable:"true" doc:"What came of the question in the time that there was to answer it: in_time, ran_out where the time ran out over the answer, which is what was said by then, no_answer where it ran out and nothing was said, not_asked where the time of all questions ran out before, unknown where nobody kept the time; null where it had no limit, and while it had no answer yet."`
}

// KnockoutFact says whether a knockout is met.
type KnockoutFact struct {
	Question string `json:"question" doc:"The key of the question."`
	Met      *bool  `json:"met" doc:"Whether one of its options was chosen; null where that is not sure."`
}

// InterviewSummary is an interview in short.
type InterviewSummary struct {
	ID    id.Screening    `json:"id" doc:"Id of the interview, with the prefix scr_."`
	State screening.State `json:"state" enum:"in_progress,scored,voided" doc:"voided where it was interrupted, and the candidate can begin again."`
}

func (a *API) show(c *route.Call, x candidate.Candidate, r *role.Role, i *screening.Screening) Candidate {
	data := c.Principal.Key.Grant().Holds(scope.CandidatesData)
	shown := Candidate{
		ID: x.ID, RoleID: x.Role, InviteID: x.Invite, Name: &x.Name, Email: x.Email, Phone: x.Phone, Language: x.Language, State: x.State, Stage: x.Stage,
		StartsFrom: route.UTC(x.StartsFrom), ScreenedAt: route.UTC(x.ScreenedAt), ReviewedAt: route.UTC(x.ReviewedAt), ReviewerID: x.Reviewer.OrNil(),
		OnHold: x.OnHold, RetainUntil: x.RetainUntil.UTC(), ErasedAt: route.UTC(x.ErasedAt), ExternalID: x.ExternalID, Metadata: x.Metadata,
		CreatedAt: x.CreatedAt.UTC(), UpdatedAt: x.UpdatedAt.UTC(),
		Consent: CandidateConsent{InterviewAt: route.UTC(x.Consent.InterviewAt), WithdrawnAt: route.UTC(x.Consent.WithdrawnAt)},
	}
	if data {
		shown.ResumeURL = x.ResumeURL
	}
	if p := x.Place; p != nil && data && !x.Hidden(r) {
		shown.Location.Value = &CandidatePlace{p.City, p.Region, p.Country, p.Timezone, p.OutsideNYC}
	}
	if x.QuestionSet > 0 {
		shown.QuestionSetVersion = &x.QuestionSet
	}
	if hidden := x.Hidden(r); hidden || x.State == candidate.Erased {
		shown.Name, shown.Email, shown.Phone, shown.ResumeURL = nil, nil, nil, nil
		if hidden {
			shown.ExternalID, shown.Metadata = nil, map[string]string{}
		}
	}
	if x.Notice != nil {
		shown.Consent.NoticeAt, shown.Consent.AcknowledgedAt = new(x.Notice.At.UTC()), route.UTC(x.Notice.AcknowledgedAt)
	}
	if d := x.Decision; d != nil {
		shown.Decision.Value = &Decision{Value: d.Value, DecidedBy: d.By, DecidedAt: d.At.UTC(), ReasonCode: d.ReasonCode, HumanReviewed: d.Reviewed, ReopenedAt: route.UTC(d.ReopenedAt)}
		if data {
			shown.Decision.Value.Note = x.DecisionNote
		}
	}
	if i != nil {
		shown.Interview.Value = &InterviewSummary{i.ID, i.State}
		if x.ReviewedAt != nil && len(i.Criteria)+len(i.Knockouts) > 0 {
			shown.Scorecard.Value = card(i, data, x.Redact(r))
		}
	}
	return shown
}

// card is what was scored; data says that the candidate's own words may be read, redacted.
func card(i *screening.Screening, data bool, redact func(string) string) *Scorecard {
	s := &Scorecard{Percent: i.Percent, Band: i.Band, Criteria: []ScoredCriterion{}, Knockouts: []KnockoutFact{}, Advisory: true, AIGenerated: true}
	for _, c := range i.Criteria {
		one := ScoredCriterion{c.Key, c.Label, c.Score, c.MaxScore, c.Weight, c.Confidence, redact(c.Evaluation), []string{}, nil}
		if c.Time != "" {
			one.Time = &c.Time
		}
		if data {
			for _, words := range c.Evidence {
				one.Evidence = append(one.Evidence, redact(words))
			}
		}
		s.Criteria = append(s.Criteria, one)
	}
	for _, k := range i.Knockouts {
		s.Knockouts = append(s.Knockouts, KnockoutFact(k))
	}
	return s
}

package hiring

import (
	"context"
	"time"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/hiring/candidate"
	"visavis.dev/pkg/hiring/screening"
	"visavis.dev/pkg/sessions/session"
)

// Interview is what was asked and said in a candidate's interview.
type Interview struct {
	CandidateID id.Candidate            `json:"candidateId" doc:"Whose interview it is."`
	SessionID   id.Session              `json:"sessionId" doc:"The session, which is not read as one."`
	StartedAt   time.Time               `json:"startedAt" doc:"When it was begun, in UTC."`
	EndedAt     *time.Time              `json:"endedAt" doc:"When it was over, in UTC; null before."`
	DurationS   *int64                  `json:"durationS" doc:"How long it took, in seconds; null before it is over."`
	Language    string                  `json:"language" doc:"The language that it was held in, as a code."`
	Complete    bool                    `json:"complete" doc:"Whether every question was answered."`
	Questions   []InterviewQuestion     `json:"questions" doc:"The questions, in the order in which they were to be asked."`
	Transcript  []InterviewTurn         `json:"transcript" doc:"What was said, turn by turn; at most 2,000 turns."`
	Integrity   route.OrNull[Integrity] `json:"integrity" doc:"What the page saw beside the words; null for nothing. Nothing is concluded from it."`
	AIGenerated bool                    `json:"aiGenerated" doc:"Always true: an avatar asked."`
	RetainUntil time.Time               `json:"retentionUntil" doc:"When the candidate is erased, in UTC, unless they are held; who was interviewed is kept on until somebody decides."`
}

// InterviewQuestion is a question with its answer.
type InterviewQuestion struct {
	Key    string            `json:"key" doc:"The question's key in the subject."`
	Text   string            `json:"text" doc:"What was to be asked."`
	Asked  bool              `json:"asked" doc:"Whether it was asked or answered."`
	Answer string            `json:"answer" doc:"What was answered; empty for nothing."`
	Scores []ScoredCriterion `json:"scores" doc:"What was scored of it; none before the interview was reviewed."`
}

// InterviewTurn is something that was said.
type InterviewTurn struct {
	Speaker   session.Speaker `json:"speaker" enum:"avatar,user,staff" doc:"Who said it; user is the candidate."`
	Text      string          `json:"text" doc:"What was heard of it."`
	Language  string          `json:"language" doc:"The language of it, as a code."`
	StartedAt time.Time       `json:"startedAt" doc:"When it was begun, in UTC."`
}

// Integrity are facts that the page saw beside the words.
type Integrity struct {
	Pastes      int64 `json:"pastes" doc:"How often something was pasted."`
	TabSwitches int64 `json:"tabSwitches" doc:"How often the page was left for another."`
}

// longestTranscript bounds the turns that are shown.
const longestTranscript = 2000

func (a *API) interview(ctx context.Context, c *route.Call, p *CandidatePath) (Interview, error) {
	which, err := p.candidate()
	if err != nil {
		return Interview{}, err
	}
	x, err := candidate.Get(ctx, a.Tenants, c.Org(), which)
	if err != nil {
		return Interview{}, err
	}
	if x.Screening.IsZero() {
		return Interview{}, problem.Missing("interview").WithParam("path.id")
	}
	i, err := screening.Get(ctx, a.Tenants, c.Org(), x.Screening)
	if err != nil {
		return Interview{}, err
	}
	s, err := session.Get(ctx, a.Tenants, c.Org(), i.Session)
	if err != nil {
		return Interview{}, err
	}
	said, err := screening.Said(ctx, a.Tenants, c.Org(), &i, s)
	if err != nil {
		return Interview{}, err
	}
	turns, err := session.Turns(ctx, a.Tenants, c.Org(), s.ID, 0, longestTranscript)
	if err != nil {
		return Interview{}, err
	}
	shown := Interview{
		CandidateID: x.ID, SessionID: s.ID, StartedAt: i.StartedAt.UTC(), EndedAt: route.UTC(i.EndedAt), DurationS: i.DurationS, Language: i.Language,
		Complete: i.Complete, Questions: []InterviewQuestion{}, Transcript: make([]InterviewTurn, len(turns)), AIGenerated: true, RetainUntil: x.RetainUntil.UTC(),
	}
	if i.Integrity != nil {
		shown.Integrity.Value = &Integrity{i.Integrity.Pastes, i.Integrity.TabSwitches}
	}
	for n, t := range turns {
		shown.Transcript[n] = InterviewTurn{t.Speaker, t.Heard(), t.Language, t.StartedAt.UTC()}
	}
	for _, q := range said.Questions {
		answer := said.Answers[q.Key]
		one := InterviewQuestion{Key: q.Key, Text: q.Text[i.Language], Asked: !answer.Unasked, Answer: answer.Text, Scores: []ScoredCriterion{}}
		if x.ReviewedAt != nil {
			for _, scored := range card(&i, true).Criteria {
				if screening.OfQuestion(scored.Key, q.Key) {
					one.Scores = append(one.Scores, scored)
				}
			}
		}
		shown.Questions = append(shown.Questions, one)
	}
	return shown, nil
}

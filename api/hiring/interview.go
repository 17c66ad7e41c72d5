package hiring

import (
	"context"
	"time"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/hiring/candidate"
	"visavis.dev/pkg/hiring/question"
	"visavis.dev/pkg/hiring/role"
	"visavis.dev/pkg/hiring/screening"
	"visavis.dev/pkg/portals/subject"
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
	QuestionSet route.OrNull[AskedSet]  `json:"questionSet" doc:"Which of the role's versions of the questions was asked; null of an interview from before they were frozen."`
	Complete    bool                    `json:"complete" doc:"Whether every question was answered."`
	MustHaves   []string                `json:"mustHaves" doc:"What reviewers look for, as the role has it now. Nothing is decided by it."`
	Questions   []InterviewQuestion     `json:"questions" doc:"The questions, in the order in which they were to be asked."`
	Transcript  []InterviewTurn         `json:"transcript" doc:"What was said, turn by turn; at most 2,000 turns."`
	Integrity   route.OrNull[Integrity] `json:"integrity" doc:"What the page saw beside the words, of who was told that it notes it (notice.signals); null where it noted nothing. Nothing is concluded from it, and nothing scored."`
	AIGenerated bool                    `json:"aiGenerated" doc:"Always true: an avatar asked."`
	RetainUntil time.Time               `json:"retentionUntil" doc:"When the candidate is erased, in UTC, unless they are held; who was interviewed is kept on until somebody decides."`
}

// AskedSet names a version of the questions.
type AskedSet struct {
	Version int64  `json:"version" doc:"Its number among those of the role, from one."`
	Hash    string `json:"hash" doc:"The SHA-256 of its words, in hexadecimal."`
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
	PasteDetected bool     `json:"pasteDetected" doc:"Whether something was pasted where answers are typed."`
	Pastes        int64    `json:"pastes" doc:"How often something was."`
	TabSwitches   int64    `json:"tabSwitches" doc:"How often the page was left for another, or for another program."`
	AwayS         int64    `json:"awayS" doc:"For how long in all, in seconds."`
	Signals       []Signal `json:"signals" doc:"The first 500 of them, in their order."`
}

// Signal is a fact that the page saw.
type Signal struct {
	Kind       screening.SignalKind `json:"kind" enum:"pasted,left" doc:"pasted: a text was pasted or dropped where answers are typed. left: the page was not to be seen."`
	At         time.Time            `json:"at" doc:"When it was, or began, in UTC."`
	Question   *string              `json:"questionKey" doc:"The key of the question that was asked last; null before the first."`
	DurationMs *int64               `json:"durationMs" doc:"For how long the page was left, in milliseconds; null of what was pasted."`
	Characters *int64               `json:"characters" doc:"How many characters were pasted; null of a page that was left."`
}

func showIntegrity(g *screening.Integrity) *Integrity {
	shown := &Integrity{PasteDetected: g.Pastes > 0, Pastes: g.Pastes, TabSwitches: g.TabSwitches, AwayS: g.AwayMs / 1000, Signals: make([]Signal, len(g.Signals))}
	for i, s := range g.Signals {
		one := Signal{Kind: s.Kind, At: s.At.UTC()}
		if s.Question != "" {
			one.Question = &s.Question
		}
		if s.Kind == screening.Left {
			one.DurationMs = &s.DurationMs
		} else {
			one.Characters = &s.Characters
		}
		shown.Signals[i] = one
	}
	return shown
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
	r, err := role.Get(ctx, a.Tenants, c.Org(), x.Role)
	if err != nil {
		return Interview{}, err
	}
	redact := x.Redact(&r)
	shown := Interview{
		CandidateID: x.ID, SessionID: s.ID, StartedAt: i.StartedAt.UTC(), EndedAt: route.UTC(i.EndedAt), DurationS: i.DurationS, Language: i.Language,
		Complete: i.Complete, MustHaves: append([]string{}, r.MustHaves...), Questions: []InterviewQuestion{}, Transcript: make([]InterviewTurn, len(turns)), AIGenerated: true, RetainUntil: x.RetainUntil.UTC(),
	}
	if i.Integrity != nil {
		shown.Integrity.Value = showIntegrity(i.Integrity)
	}
	words, err := a.asked(ctx, c, &x, &i, &shown)
	if err != nil {
		return Interview{}, err
	}
	for n, t := range turns {
		shown.Transcript[n] = InterviewTurn{t.Speaker, redact(t.Heard()), t.Language, t.StartedAt.UTC()}
	}
	for _, q := range said.Questions {
		answer := said.Answers[q.Key]
		one := InterviewQuestion{Key: q.Key, Text: words(q), Asked: !answer.Unasked, Answer: redact(answer.Text), Scores: []ScoredCriterion{}}
		if x.ReviewedAt != nil {
			for _, scored := range card(&i, true, redact).Criteria {
				if screening.OfQuestion(scored.Key, q.Key) {
					one.Scores = append(one.Scores, scored)
				}
			}
		}
		shown.Questions = append(shown.Questions, one)
	}
	return shown, nil
}

// asked adds to an interview which version of the questions was asked in it, and answers their words.
func (a *API) asked(ctx context.Context, c *route.Call, x *candidate.Candidate, i *screening.Screening, shown *Interview) (func(subject.Question) string, error) {
	words := func(q subject.Question) string { return q.Text[i.Language] }
	if x.QuestionSet == 0 {
		return words, nil
	}
	set, err := question.Get(ctx, a.Tenants, c.Org(), x.Role, x.QuestionSet)
	if err != nil || set.SubjectVersion != i.Version { // a process from before there were any asked what was published
		return words, err
	}
	d, err := set.Read()
	shown.QuestionSet.Value = &AskedSet{set.Version, set.Hash}
	return func(q subject.Question) string { return d.Words(q.Key, i.Language) }, err
}

package hiring

import (
	"context"
	"net/http"
	"time"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/language"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/hiring/question"
)

func (a *API) registerQuestions(s *route.Service) {
	route.List(s, route.Operation{
		ID: "listQuestionSets", Group: group, Method: http.MethodGet, Path: "/roles/{id}/question-sets", Class: "read", Scope: scope.CandidatesRead, Since: contract.V20261001,
		Summary: "What the candidates of a role are asked, version by version, newest first",
		Description: "A version is frozen when candidates are invited: whoever has it is asked the same questions, in the same words and order, also in a further interview, " +
			"whatever becomes of the subject. Where the subject has been published anew with other questions or rubrics since, who is invited then has another version. " +
			"The SHA-256 of document is hash, which the record of each candidate has.",
	}, a.listQuestionSets)
}

// QuestionSetSummary is a version of what candidates are asked, without its words.
type QuestionSetSummary struct {
	Version       int64     `json:"version" doc:"Its number among those of the role, from one."`
	Hash          string    `json:"hash" doc:"The SHA-256 of its words, in hexadecimal."`
	RubricVersion int64     `json:"rubricVersion" doc:"The version of the subject's content in which it was first published, whose rubrics answers are held against."`
	Questions     int64     `json:"questions" doc:"How many questions it has."`
	Invited       int64     `json:"invited" doc:"How many candidates were invited to be asked it, those who were erased since among them."`
	Interviewed   int64     `json:"interviewed" doc:"How many of them have begun their interview."`
	CreatedAt     time.Time `json:"createdAt" doc:"When it was frozen, in UTC."`
}

// QuestionSet is a version of what candidates are asked.
type QuestionSet struct {
	QuestionSetSummary
	RoleID   id.Role          `json:"roleId" doc:"The role."`
	Language string           `json:"language" doc:"The language whose words are said where a text lacks that of the interview, as a code."`
	Asked    []FrozenQuestion `json:"asked" doc:"The questions, in the order in which they are asked."`
	Document string           `json:"document" doc:"The same as JSON, exactly as it was hashed."`
}

// FrozenQuestion is a question of a version.
type FrozenQuestion struct {
	Key        string         `json:"key" doc:"The question's key in the subject."`
	Kind       string         `json:"kind" enum:"open,choice,scenario,rating" doc:"What kind of answer it takes."`
	Text       language.Words `json:"text" doc:"What is asked, by language."`
	Options    []FrozenOption `json:"options" doc:"Of a choice: what there is to choose."`
	FollowUps  int64          `json:"followUps" doc:"How often the avatar may ask for more, always in the same words."`
	Required   bool           `json:"required" doc:"Whether it is asked once more where it was not answered."`
	TimeLimitS *int64         `json:"timeLimitS" doc:"How many seconds there are to answer; null for no limit."`
}

// FrozenOption is an answer to choose.
type FrozenOption struct {
	Key  string         `json:"key" doc:"The option's key."`
	Text language.Words `json:"text" doc:"The answer to choose, by language."`
}

func showSummary(s *question.Set) QuestionSetSummary {
	return QuestionSetSummary{
		Version: s.Version, Hash: s.Hash, RubricVersion: s.SubjectVersion, Questions: s.Questions, Invited: s.Invited, Interviewed: s.Interviewed, CreatedAt: s.CreatedAt.UTC(),
	}
}

func showSet(s *question.Set) (QuestionSet, error) {
	d, err := s.Read()
	shown := QuestionSet{QuestionSetSummary: showSummary(s), RoleID: s.Role, Language: d.Language, Asked: []FrozenQuestion{}, Document: s.Text}
	for _, q := range d.Questions {
		one := FrozenQuestion{Key: q.Key, Kind: q.Kind, Text: q.Text, Options: []FrozenOption{}, FollowUps: q.FollowUps, Required: q.Required, TimeLimitS: q.TimeLimitS}
		for _, o := range q.Options {
			one.Options = append(one.Options, FrozenOption(o))
		}
		shown.Asked = append(shown.Asked, one)
	}
	return shown, err
}

// asked adds to a role which versions of its questions there are.
func (shown *Role) asked(all []question.Set) {
	shown.QuestionSets, shown.QuestionsDiffer = []QuestionSetSummary{}, question.Differ(all)
	for i := range all {
		shown.QuestionSets = append(shown.QuestionSets, showSummary(&all[i]))
	}
}

func (a *API) listQuestionSets(ctx context.Context, c *route.Call, q *OfRole) (route.Page[QuestionSet], error) {
	r, err := a.findRole(ctx, c, &q.RolePath)
	if err != nil {
		return route.Page[QuestionSet]{}, err
	}
	var failed error
	page, err := route.Listed(c, q.Paging, func(before int64, limit int) ([]question.Set, error) {
		return question.List(ctx, a.Tenants, c.Org(), r.ID, before, limit)
	}, func(s question.Set) int64 { return s.Version }, func(s question.Set) QuestionSet {
		shown, err := showSet(&s)
		if err != nil {
			failed = err
		}
		return shown
	})
	if err == nil {
		err = failed
	}
	return page, err
}

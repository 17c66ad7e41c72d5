package personas

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/language"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/personas/persona"
	"visavis.dev/pkg/sessions/conversation"
	"visavis.dev/pkg/sessions/rehearsal"
)

func (a *API) registerAsk(s *route.Service, o route.Operation) {
	o.ID, o.Method, o.Path, o.Class = "askPersona", http.MethodPost, "/personas/{id}/ask", "live"
	o.Since, o.Errors = contract.V20261001, append(o.Errors, problem.AccountPaused, problem.UpstreamError)
	o.Summary = "Ask a persona one question, in text, without a session"
	o.Description = "For trying a persona out: it answers as it does at the beginning of a conversation, by its guardrails, its packs and its model. " +
		"Nothing of it is kept, no gap is recorded, and it takes no minutes."
	route.Handle(s, o, a.ask)
}

// AskInput is the request of an answer.
type AskInput struct {
	Path
	Body PersonaQuestion
}

// PersonaQuestion is a question.
type PersonaQuestion struct {
	Question string `json:"question" minLength:"1" maxLength:"1000" doc:"What to ask, as a visitor would."`
	Language string `json:"language,omitempty" maxLength:"40" doc:"A code or a name. Unless given, the persona's, or the question's where the persona detects it."`
	Explain  bool   `json:"explain,omitempty" doc:"Whether to say why it is answered so."`
}

// PersonaAnswer is what a persona answers.
type PersonaAnswer struct {
	Answer      string             `json:"answer" doc:"What the persona says."`
	Language    string             `json:"language" doc:"The language of the answer, as a code."`
	Sources     []AnswerSource     `json:"sources" doc:"What the answer rests on, whether or not the persona cites it."`
	Grounded    *bool              `json:"grounded" doc:"Whether the answer rests on the packs; null for what is no answer, such as a greeting."`
	Gap         bool               `json:"gap" doc:"Whether the packs do not answer the question."`
	AIGenerated bool               `json:"aiGenerated" enum:"true" doc:"Always true: an avatar wrote the answer. Keep the mark with it."`
	Explain     *AnswerExplanation `json:"explain,omitempty" doc:"Why it is answered so; only where that was asked for."`
}

// AnswerSource is a passage that an answer rests on.
type AnswerSource struct {
	DocumentID id.Document `json:"documentId" doc:"The document that it is from."`
	Title      string      `json:"title" doc:"The document's title."`
	ChunkID    id.Chunk    `json:"chunkId" doc:"The passage, by id."`
	Page       *int64      `json:"page" doc:"The page that it is on, from 1; null where the document has no pages."`
	URL        *string     `json:"url" doc:"The address that the document was read from; null for a file or a text."`
	Score      float64     `json:"score" doc:"How far it supports an answer, from 0 to 1."`
}

func (a *API) ask(ctx context.Context, c *route.Call, in *AskInput) (PersonaAnswer, error) {
	wanted, err := in.persona()
	if err != nil {
		return PersonaAnswer{}, err
	}
	if strings.TrimSpace(in.Body.Question) == "" {
		return PersonaAnswer{}, problem.Invalid("body.question", "question has no words.")
	}
	if err := awake(c); err != nil {
		return PersonaAnswer{}, err
	}
	p, err := persona.Get(ctx, a.Tenants, c.Org(), wanted)
	if err != nil {
		return PersonaAnswer{}, err
	}
	code, err := spoken(in.Body.Language)
	if err != nil {
		return PersonaAnswer{}, err
	}
	config := rehearsal.Config(a.Minds, a.Clock, c.Org(), p.Name, p.Definition, code)
	if err := a.Minds.Furnish(ctx, c.Org(), &config); err != nil {
		return PersonaAnswer{}, asModelProblem(err)
	}
	if in.Body.Explain {
		config.Explain = &conversation.Explanation{}
	}
	reply, err := conversation.Ask(ctx, config, in.Body.Question)
	answer := showReply(reply)
	answer.Explain = showExplanation(config.Explain)
	return answer, asModelProblem(err)
}

// awake refuses what makes a persona of a paused account answer.
func awake(c *route.Call) error {
	if c.Principal.Org.PausedAt == nil {
		return nil
	}
	return problem.New(problem.AccountPaused, "The account is paused, so no persona answers.")
}

// asModelProblem says that a model failed that nobody may stand in for.
func asModelProblem(err error) error {
	if errors.Is(err, conversation.ErrNoModel) {
		return problem.New(problem.UpstreamError, "The persona's model did not answer, and its connection lets nobody answer instead.").WithCause(err)
	}
	return err
}

// spoken is the code of a language of a body, by its code or name; empty for none.
func spoken(text string) (code string, err error) {
	if text == "" {
		return "", nil
	}
	l, ok := language.Lookup(text)
	if !ok {
		return "", problem.Invalid("body.language", "There is no language %q; GET /languages lists them.", text)
	}
	return l.Code, nil
}

func showReply(r conversation.Reply) PersonaAnswer {
	shown := PersonaAnswer{Answer: r.Text, Language: r.Language, Sources: []AnswerSource{}, Grounded: r.Grounded, Gap: r.Gap, AIGenerated: true}
	for _, s := range r.Sources {
		shown.Sources = append(shown.Sources, showSource(s))
	}
	return shown
}

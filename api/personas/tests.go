package personas

import (
	"context"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"time"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/personas/persona"
	"visavis.dev/pkg/sessions/rehearsal"
	"visavis.dev/pkg/store/tenant"
)

func (a *API) registerTests(s *route.Service, read, write route.Operation) {
	read.Since, read.Items, write.Since, write.Items = contract.V20261001, "", contract.V20261001, ""

	list := read
	list.ID, list.Method, list.Path = "listPersonaTests", http.MethodGet, "/personas/{id}/tests"
	list.Summary = "The tests of a persona, newest first, each with what came of it last"
	route.List(s, list, a.tests)

	create := write
	create.ID, create.Method, create.Path = "createPersonaTest", http.MethodPost, "/personas/{id}/tests"
	create.Status, create.Idempotent = http.StatusCreated, true
	create.Summary = "Add a question that a persona is to answer well"
	create.Description = fmt.Sprintf("A persona has at most %d tests. They are copied when it is duplicated, and deleted with it.", rehearsal.MaxTests)
	route.Handle(s, create, a.createTest)

	a.registerRun(s, write)

	get := read
	get.ID, get.Method, get.Path, get.Summary = "getPersonaTest", http.MethodGet, "/persona-tests/{id}", "One test, with what came of it last"
	get.Errors = nil
	route.Handle(s, get, a.getTest)

	update := write
	update.ID, update.Method, update.Path, update.Errors = "updatePersonaTest", http.MethodPatch, "/persona-tests/{id}", nil
	update.Summary = "Change a test; expect is replaced as a whole"
	route.Handle(s, update, a.updateTest)

	remove := write
	remove.ID, remove.Method, remove.Path, remove.Errors = "deletePersonaTest", http.MethodDelete, "/persona-tests/{id}", nil
	remove.Summary = "Delete a test"
	route.Handle(s, remove, a.deleteTest)
}

// PersonaTest is a question that a persona is to answer well.
type PersonaTest struct {
	ID        id.PersonaTest                  `json:"id" doc:"Id of the test, with the prefix ptst_."`
	PersonaID id.Persona                      `json:"personaId" doc:"The persona that is asked."`
	Name      string                          `json:"name" doc:"What the test is called, for people."`
	Question  string                          `json:"question" doc:"What it is asked."`
	Language  *string                         `json:"language" doc:"The one it is asked in; null for the persona's, or the question's where the persona detects it."`
	Expect    rehearsal.Expectation           `json:"expect" doc:"What makes an answer good."`
	Enabled   bool                            `json:"enabled" doc:"Whether a run of all tests has it."`
	LastRun   route.OrNull[rehearsal.LastRun] `json:"lastRun" doc:"The last run in which the persona answered; null before."`
	GapID     *id.Gap                         `json:"gapId" nullable:"true" doc:"The gap that it was made for; null for none."`
	CreatedAt time.Time                       `json:"createdAt" doc:"When the test was made, in UTC."`
	UpdatedAt time.Time                       `json:"updatedAt" doc:"When the test was last changed, in UTC."`
}

func showTest(t rehearsal.Test) PersonaTest {
	shown := PersonaTest{
		ID: t.ID, PersonaID: t.Persona, Name: t.Name, Question: t.Question, Language: t.Language, Expect: t.Expect, Enabled: t.Enabled,
		CreatedAt: t.CreatedAt.UTC(), UpdatedAt: t.UpdatedAt.UTC(),
	}
	shown.LastRun.Value = t.LastRun
	if !t.Gap.IsZero() {
		shown.GapID = &t.Gap
	}
	return shown
}

// Expected is what makes an answer good.
type Expected struct {
	Facts       []string `json:"facts,omitempty" maxItems:"20" doc:"Each of at most 500 characters must be in the answer, word for word but for case, accents, punctuation and the way numbers are written."`
	NotFacts    []string `json:"notFacts,omitempty" maxItems:"20" doc:"None may be in the answer."`
	DocumentIDs []string `json:"documentIds,omitempty" maxItems:"20" doc:"One of them must be among the sources."`
	Grounded    *bool    `json:"grounded,omitempty" nullable:"true" doc:"true: the answer must rest on the packs; false: the persona must say that it does not know."`
}

// read checks what a schema does not say.
func (e *Expected) read() (rehearsal.Expectation, error) {
	read := rehearsal.Expectation{
		Facts: append([]string{}, e.Facts...), NotFacts: append([]string{}, e.NotFacts...), DocumentIDs: []id.Document{}, Grounded: e.Grounded,
	}
	for i, text := range e.DocumentIDs {
		d, err := id.ParseDocument(text)
		if err != nil {
			return read, problem.Invalid(fmt.Sprintf("body.expect.documentIds[%d]", i), "This is not the id of a document.")
		}
		read.DocumentIDs = append(read.DocumentIDs, d)
	}
	return read, read.Check()
}

// TestInput is the request for a new test.
type TestInput struct {
	Path
	Body PersonaTestInput
}

// PersonaTestInput is a test to be made.
type PersonaTestInput struct {
	Name     string    `json:"name" minLength:"1" maxLength:"120" doc:"What to call the test, for people."`
	Question string    `json:"question" minLength:"1" maxLength:"1000" doc:"What to ask, as a visitor would."`
	Language *string   `json:"language,omitempty" maxLength:"40" nullable:"true" doc:"A code or a name."`
	Expect   *Expected `json:"expect,omitempty" doc:"What makes an answer good. A test of a gap need not say: then an answer from the packs, and from the gap's suggested document where it has one."`
	Enabled  *bool     `json:"enabled,omitempty" doc:"true unless given."`
	GapID    *string   `json:"gapId,omitempty" maxLength:"80" nullable:"true" doc:"A gap of the persona that the question is about, in words of your own: visitors' words are erased with them. Unless given, the language is the gap's. Once the test passes with an answer from the packs, the gap is answered."`
}

// expected is what makes an answer good; of a test of a gap it may be left open.
func (b *PersonaTestInput) expected() (rehearsal.Expectation, error) {
	if b.Expect == nil && b.GapID != nil {
		return rehearsal.Expectation{Facts: []string{}, NotFacts: []string{}, DocumentIDs: []id.Document{}}, nil
	}
	if b.Expect == nil {
		return rehearsal.Expectation{}, problem.Invalid("body.expect", "expect is missing: say what makes an answer good.")
	}
	return b.Expect.read()
}

// gap is the gap that a test is made for; zero for none.
func (b *PersonaTestInput) gap() (id.Gap, error) {
	if b.GapID == nil {
		return id.Gap{}, nil
	}
	g, err := id.ParseGap(*b.GapID)
	if err != nil {
		err = problem.Invalid("body.gapId", "gapId is not the id of a gap.")
	}
	return g, err
}

func (a *API) createTest(ctx context.Context, c *route.Call, in *TestInput) (PersonaTest, error) {
	of, err := in.persona()
	if err != nil {
		return PersonaTest{}, err
	}
	now := c.Now()
	t := rehearsal.Test{
		ID: id.NewPersonaTest(), Persona: of, Name: in.Body.Name, Enabled: in.Body.Enabled == nil || *in.Body.Enabled, CreatedAt: now, UpdatedAt: now,
	}
	if t.Question, err = asked(in.Body.Question); err != nil {
		return PersonaTest{}, err
	}
	if t.Language, err = spokenOrNil(in.Body.Language); err != nil {
		return PersonaTest{}, err
	}
	if t.Gap, err = in.Body.gap(); err != nil {
		return PersonaTest{}, err
	}
	if t.Expect, err = in.Body.expected(); err != nil {
		return PersonaTest{}, err
	}
	return route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (PersonaTest, error) {
		made, err := rehearsal.Create(ctx, tx, t, c.Actor())
		return showTest(made), err
	})
}

// TestPath names a test.
type TestPath struct {
	ID string `path:"id" doc:"The test's id, with or without ptst_."`
}

func (p TestPath) test() (id.PersonaTest, error) {
	return route.Lookup(id.ParsePersonaTest, p.ID, "persona test")
}

// TestUpdateInput is the request for a change of a test.
type TestUpdateInput struct {
	TestPath
	Body PersonaTestChange
}

// PersonaTestChange is what to change of a test.
type PersonaTestChange struct {
	Name     route.Opt[string]     `json:"name,omitzero" minLength:"1" maxLength:"120" doc:"A new name, for people."`
	Question route.Opt[string]     `json:"question,omitzero" minLength:"1" maxLength:"1000" doc:"Another question."`
	Language route.OptNull[string] `json:"language,omitzero" maxLength:"40" doc:"The language to ask in, as a code or a name; null for the persona's own."`
	Expect   route.Opt[Expected]   `json:"expect,omitzero" doc:"What makes an answer good, all of it anew."`
	Enabled  route.Opt[bool]       `json:"enabled,omitzero" doc:"Whether runs of all tests include it."`
}

// apply makes the changes.
func (b *PersonaTestChange) apply(t *rehearsal.Test) (err error) {
	if b.Name.Set {
		t.Name = b.Name.Value
	}
	if b.Question.Set {
		if t.Question, err = asked(b.Question.Value); err != nil {
			return err
		}
	}
	if b.Language.Set {
		if t.Language, err = spokenOrNil(b.Language.Value); err != nil {
			return err
		}
	}
	if b.Expect.Set {
		if t.Expect, err = b.Expect.Value.read(); err != nil {
			return err
		}
	}
	if b.Enabled.Set {
		t.Enabled = b.Enabled.Value
	}
	return nil
}

func (a *API) updateTest(ctx context.Context, c *route.Call, in *TestUpdateInput) (PersonaTest, error) {
	wanted, err := in.test()
	if err != nil {
		return PersonaTest{}, err
	}
	return route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (PersonaTest, error) {
		before, err := rehearsal.Lock(ctx, tx, wanted)
		if err != nil {
			return PersonaTest{}, err
		}
		after := before
		if err := in.Body.apply(&after); err != nil {
			return PersonaTest{}, err
		}
		if reflect.DeepEqual(before, after) {
			return showTest(before), nil
		}
		after.UpdatedAt = c.Now()
		if err := rehearsal.Update(ctx, tx, before, after, c.Actor()); err != nil {
			return PersonaTest{}, err
		}
		return showTest(after), nil
	})
}

func (a *API) deleteTest(ctx context.Context, c *route.Call, p *TestPath) (route.Deleted, error) {
	wanted, err := p.test()
	if err != nil {
		return route.Deleted{}, err
	}
	return route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (route.Deleted, error) {
		if err := rehearsal.Delete(ctx, tx, wanted, c.Actor()); err != nil {
			return route.Deleted{}, err
		}
		return route.Deleted{Deleted: true, ID: wanted.String()}, nil
	})
}

func (a *API) getTest(ctx context.Context, c *route.Call, p *TestPath) (PersonaTest, error) {
	wanted, err := p.test()
	if err != nil {
		return PersonaTest{}, err
	}
	t, err := rehearsal.Get(ctx, a.Tenants, c.Org(), wanted)
	return showTest(t), err
}

// TestQuery pages through the tests of a persona.
type TestQuery struct {
	Path
	route.Paging
}

func (a *API) tests(ctx context.Context, c *route.Call, q *TestQuery) (route.Page[PersonaTest], error) {
	of, err := q.persona()
	if err != nil {
		return route.Page[PersonaTest]{}, err
	}
	if _, err := persona.Get(ctx, a.Tenants, c.Org(), of); err != nil {
		return route.Page[PersonaTest]{}, err
	}
	return route.Listed(c, q.Paging, func(after id.PersonaTest, limit int) ([]rehearsal.Test, error) {
		return rehearsal.List(ctx, a.Tenants, c.Org(), of, after, limit)
	}, func(t rehearsal.Test) id.PersonaTest { return t.ID }, showTest)
}

// asked refuses a question of nothing.
func asked(question string) (string, error) {
	if strings.TrimSpace(question) == "" {
		return "", problem.Invalid("body.question", "question has no words.")
	}
	return question, nil
}

func spokenOrNil(text *string) (*string, error) {
	if text == nil || *text == "" {
		return nil, nil
	}
	code, err := spoken(*text)
	return &code, err
}

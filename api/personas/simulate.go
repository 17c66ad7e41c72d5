package personas

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"visavis.dev/api/jobs"
	"visavis.dev/api/route"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/personas/persona"
	"visavis.dev/pkg/sessions/rehearsal"
	"visavis.dev/pkg/store/tenant"
)

// registerSimulate declares the operation. Its words need no transcripts:read, which
// guards what visitors say: here the caller wrote one side, and the persona, which
// POST /personas/{id}/ask hears with less, the other.
func (a *API) registerSimulate(s *route.Service, o route.Operation) {
	o.ID, o.Method, o.Path, o.Class = "simulatePersona", http.MethodPost, "/personas/{id}/simulate", "heavy"
	o.Since, o.Status, o.Idempotent, o.Items = contract.V20261001, http.StatusAccepted, true, ""
	o.Errors = []problem.Code{problem.Gone, problem.AccountPaused}
	o.Summary = "Hold a conversation with a persona by a script"
	o.Description = "The visitor says one turn after the other, and the persona answers as in a session of channel chat: with its greeting, goals, " +
		"guardrails, packs and model. Nothing of it is a session: it takes no minutes, no event tells of it, no gap, lead or memory comes of it, and " +
		"tools are only told. The job counts turns, grounded and unanswered answers, goals that were met of those that had to be, and uses of tools. " +
		"GET /jobs/{id}/download answers the transcript, the goals, tools and guardrails, and the outcome, also of a job that failed with unavailable " +
		"or timeout, where the persona's model broke off or the conversation took longer than 8 minutes."
	route.Handle(s, o, a.simulate)
}

// SimulateInput is the request for a conversation by a script.
type SimulateInput struct {
	Path
	Body Simulation
}

// Simulation is a script.
type Simulation struct {
	Turns     []string          `json:"turns" minItems:"1" maxItems:"30" doc:"What the visitor says, each of 1 to 2,000 characters."`
	Language  string            `json:"language,omitempty" maxLength:"40" doc:"A code or a name; the persona's unless given."`
	Variables map[string]string `json:"variables,omitempty" doc:"Stand for {{name}} in the persona's texts; at most 50."`
	Context   string            `json:"context,omitempty" maxLength:"8000" doc:"What a connected model is told of this conversation."`
	Goals     []string          `json:"goals,omitempty" maxItems:"20" doc:"The keys of the goals that must be met; all that are required, unless given."`
	Version   int64             `json:"version,omitempty" minimum:"1" doc:"A version of the persona; the current one unless given."`
}

// maxTurn bounds what a visitor says at once, in characters.
const maxTurn = 2000

func (a *API) simulate(ctx context.Context, c *route.Call, in *SimulateInput) (jobs.Job, error) {
	if err := in.Body.check(); err != nil {
		return jobs.Job{}, err
	}
	of, v, err := a.castOf(ctx, c, in.Path, in.Body.Version)
	if err != nil {
		return jobs.Job{}, err
	}
	script := rehearsal.Script{Turns: in.Body.Turns, Variables: in.Body.Variables, Context: in.Body.Context}
	if script.Goals, err = in.Body.goals(v.Definition.Goals); err != nil {
		return jobs.Job{}, err
	}
	if script.Language, err = spoken(in.Body.Language); err != nil {
		return jobs.Job{}, err
	}
	source, err := rehearsal.Put(ctx, a.Files, c.Org(), script)
	if err != nil {
		return jobs.Job{}, err
	}
	return route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (jobs.Job, error) {
		j, err := rehearsal.Begin(ctx, tx, a.Files, of, v.Version, source, c.Actor())
		return jobs.Show(j), err
	})
}

// castOf finds a persona that may answer, in a version; zero for the current one.
func (a *API) castOf(ctx context.Context, c *route.Call, path Path, version int64) (id.Persona, persona.Version, error) {
	of, err := path.persona()
	if err != nil {
		return of, persona.Version{}, err
	}
	if err := awake(c); err != nil {
		return of, persona.Version{}, err
	}
	p, err := persona.Get(ctx, a.Tenants, c.Org(), of)
	if err != nil {
		return of, persona.Version{}, err
	}
	if version == 0 {
		version = p.Version
	}
	v, err := persona.GetVersion(ctx, a.Tenants, c.Org(), of, version)
	return of, v, asProblem(err)
}

// check checks what a schema does not say.
func (s *Simulation) check() error {
	for i, turn := range s.Turns {
		if strings.TrimSpace(turn) == "" || utf8.RuneCountInString(turn) > maxTurn {
			return problem.Invalid(fmt.Sprintf("body.turns[%d]", i), "A turn has words, and at most %d characters.", maxTurn)
		}
	}
	return route.CheckVariables(s.Variables)
}

// goals are the keys of those that must be met, of all that there are.
func (s *Simulation) goals(all []persona.Goal) (keys []string, err error) {
	for i, key := range s.Goals {
		if !slices.ContainsFunc(all, func(g persona.Goal) bool { return g.Key == key }) {
			return nil, problem.Invalid(fmt.Sprintf("body.goals[%d]", i), "The persona has no such goal in this version.")
		}
	}
	if s.Goals != nil {
		return s.Goals, nil
	}
	for _, g := range all {
		if g.Required {
			keys = append(keys, g.Key)
		}
	}
	return keys, nil
}

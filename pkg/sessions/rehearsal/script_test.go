package rehearsal_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/event/eventtest"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/personas/persona"
	"visavis.dev/pkg/provider/model/modeltest"
	"visavis.dev/pkg/sessions/conversation"
	"visavis.dev/pkg/sessions/rehearsal"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/tenant"
)

// reception is a persona that wants something, may do something, and must not speak
// of something.
func reception(d *persona.Definition) {
	message := "Of that I do not speak."
	d.Greeting.Text = persona.Words{"en": "Hello, {{guest}}."}
	d.Goals = []persona.Goal{
		{Key: "name", Prompt: "What is your name?", Required: true, Outputs: []string{"name"}, Confirm: "auto"},
		{Key: "email", Prompt: "What is your e-mail address?", Outputs: []string{"email"}, Confirm: "auto"},
	}
	d.Tools = []persona.Tool{{Kind: "lead", Enabled: true}}
	d.Guardrails = []persona.Guardrail{{Key: "law", Rule: `"lawsuit"`, Action: "refuse", Message: &message}}
}

// texts are what was said.
func texts(r rehearsal.Report) (all []string) {
	for _, t := range r.Transcript {
		all = append(all, t.Text)
	}
	return all
}

// What came of a script is told, and nothing else comes of it.
func TestScript(t *testing.T) {
	w := newWorld(t, reception)
	w.crash()
	j := w.end(w.begin(rehearsal.Script{
		Turns:     []string{"When does the museum open?", "Can I file a lawsuit?", "I'm Ada Lovelace", "ada@example.com", "Who invented the telephone?"},
		Variables: map[string]string{"guest": "Ada"}, Goals: []string{"name"},
	}))
	require.Equal(t, []any{job.Succeeded, "persona", w.persona.ID.String()}, []any{j.State, j.ResourceKind, j.ResourceID})
	require.Equal(t, map[string]int64{"turns": 13, "grounded": 1, "unanswered": 1, "goalsMet": 1, "goalsTotal": 1, "toolCalls": 1}, j.Counts)
	require.Equal(t, []int64{1, 5, 5}, []int64{j.Attempts, j.Done, j.Total}, "only a process that ends counts")

	r := read[rehearsal.Report](w, j)
	require.Equal(t, []string{
		"Hello, Ada.", "What is your name?", "When does the museum open?", "The museum opens at nine.", "What is your name?",
		"Can I file a lawsuit?", "Of that I do not speak.", "I'm Ada Lovelace", "Thank you, I have noted that. By answering the next question you agree that our team may contact you. What is your e-mail address?",
		"ada@example.com", "Thank you, I have noted that.", "Who invented the telephone?", "I am sorry, I do not know that.",
	}, texts(r))
	answer := r.Transcript[3]
	require.Equal(t, []any{int64(3), session.Avatar, session.Typed, "en", true}, []any{answer.Index, answer.Speaker, answer.Source, answer.Language, *answer.Grounded})
	require.Equal(t, museum, answer.Sources[0].DocumentID)
	require.Equal(t, session.Greeting, r.Transcript[0].Source)
	require.Equal(t, []session.ToolCall{{Name: "lead", Status: "completed"}}, r.Transcript[10].ToolCalls)
	ada, mail := "Ada Lovelace", "ada@example.com"
	require.Equal(t, []rehearsal.Goal{{Key: "name", Required: true, Met: true, Value: &ada}, {Key: "email", Met: true, Value: &mail}}, r.Goals)
	require.Equal(t, []conversation.ToolUse{{Name: "lead", Status: "completed"}}, r.Tools)
	require.Equal(t, []conversation.RuleKept{{Key: "law", Action: "refuse", Turn: 6}}, r.Guardrails)
	require.Equal(t, []any{"lead", true, int64(1), "en"}, []any{*r.Outcome, r.AIGenerated, r.PersonaVersion, r.Language})
	require.Nil(t, r.EndReason)

	for _, table := range []string{"session", "turn", "knowledge_gap", "memory", "usage_block", "minute_debit", "connection_call"} {
		require.Zero(t, w.count(`SELECT count(*) FROM `+table+` WHERE org_id = $1`), table)
	}
	require.Len(t, eventtest.Log(t, w.tenants, w.org), 1, "the job's")

	n, err := job.SweepSources(context.Background(), w.tenants, w.files, "a")
	require.NoError(t, err)
	require.Equal(t, 1, n, "the script goes, the file of the job stays")
	require.Len(t, read[rehearsal.Report](w, w.job(j.ID)).Transcript, 13)
}

// A version says what it said, and what the current one says is said of it.
func TestAScriptOfAVersion(t *testing.T) {
	w := newWorld(t)
	first := w.persona.Version
	w.change(func(p *persona.Persona) { p.Definition.Greeting.Text = persona.Words{"en": "Welcome."} })
	r := read[rehearsal.Report](w, w.end(w.begin(rehearsal.Script{Turns: []string{"Hi"}})))
	require.Equal(t, []any{"Welcome.", first + 1}, []any{r.Transcript[0].Text, r.PersonaVersion})
	w.persona.Version = first
	r = read[rehearsal.Report](w, w.end(w.begin(rehearsal.Script{Turns: []string{"Hi"}})))
	require.Equal(t, []any{"Hello! How can I help you?", first}, []any{r.Transcript[0].Text, r.PersonaVersion})

	german := read[rehearsal.Report](w, w.end(w.begin(rehearsal.Script{Turns: []string{"Wer erfand das Telefon?"}, Language: "de"})))
	require.Equal(t, "de", german.Language)
	require.Contains(t, german.Transcript[2].Text, "weiß")
}

// The persona's model writes what it would in a session; where it is away the packs
// answer, and where they may not the job fails with what was said until then.
func TestAScriptWithAModel(t *testing.T) {
	w := newWorld(t, func(d *persona.Definition) { d.Greeting.Mode, d.Model.TimeoutMs = persona.GreetNone, 500 })
	lines := rehearsal.Script{Turns: []string{"When does the museum open?", "And what is the museum?"}, Context: "The visitor is a child."}
	models := w.modelled(modeltest.Stream("At nine ", "sharp [1]."))
	r := read[rehearsal.Report](w, w.end(w.begin(lines)))
	require.Equal(t, []string{lines.Turns[0], "At nine sharp.", lines.Turns[1], "At nine sharp."}, texts(r))
	require.Contains(t, modeltest.Instructions(models.Requests()[0].Messages), "The visitor is a child.")

	for name, away := range map[string]modeltest.Behaviour{"broken": silence, "stalled": modeltest.Stall()} {
		models.Behave(away)
		began := time.Now()
		j := w.end(w.begin(lines))
		require.Equal(t, job.Succeeded, j.State, name)
		require.Equal(t, "The museum opens at nine.", read[rehearsal.Report](w, j).Transcript[1].Text)
		require.Less(t, time.Since(began), 10*time.Second, "it is not waited for")
	}

	w.minds.modelOnly = true
	asked := 0
	models.Behave(func(rw http.ResponseWriter, r *http.Request, q modeltest.Request) {
		if asked++; asked == 1 {
			modeltest.Stream("At nine [1].")(rw, r, q)
			return
		}
		silence(rw, r, q)
	})
	j := w.end(w.begin(lines))
	require.Equal(t, []any{job.Failed, "unavailable"}, []any{j.State, j.ErrorCode})
	r = read[rehearsal.Report](w, j)
	require.Equal(t, []string{lines.Turns[0], "At nine.", lines.Turns[1]}, texts(r))
	require.Equal(t, conversation.EndedModel, *r.EndReason)
	require.Equal(t, int64(3), j.Counts["turns"])

	w.minds.refused = conversation.ErrNoModel
	j = w.end(w.begin(lines))
	require.Equal(t, []any{job.Failed, "no_connection", true}, []any{j.State, j.ErrorCode, j.File.IsZero()})
}

// A conversation that takes too long fails, with what was said until then.
func TestAScriptIsBounded(t *testing.T) {
	w := newWorld(t, func(d *persona.Definition) { d.Greeting.Mode, d.Model.TimeoutMs = persona.GreetNone, 60_000 })
	w.modelled(modeltest.Stall())
	rehearsal.ShortenTo(t, 200*time.Millisecond)
	began := time.Now()
	j := w.end(w.begin(rehearsal.Script{Turns: []string{"When does the museum open?", "Hello?"}}))
	require.Less(t, time.Since(began), 10*time.Second)
	require.Equal(t, []any{job.Failed, "timeout", int64(1), int64(2)}, []any{j.State, j.ErrorCode, j.Done, j.Total})
	require.Equal(t, []string{"When does the museum open?"}, texts(read[rehearsal.Report](w, j)))
}

// While the packs are away nothing is held against the persona.
func TestAScriptWaitsForThePacks(t *testing.T) {
	w := newWorld(t)
	w.minds.away = errors.New("the database is away")
	which := w.begin(rehearsal.Script{Turns: []string{"When does the museum open?"}})
	for range 2 {
		w.clock.Step(time.Minute)
		_, err := w.runner.Advance(context.Background(), "a")
		require.NoError(t, err)
		require.Equal(t, job.Running, w.job(which).State)
	}
	w.minds.away = nil
	require.Equal(t, int64(1), w.end(which).Counts["grounded"])
}

// A conversation that is cancelled ends with the next breath of its lease.
func TestAScriptIsCancelled(t *testing.T) {
	w := newWorld(t)
	w.minds.modelOnly = true
	asked := make(chan struct{}, 1)
	w.modelled(func(rw http.ResponseWriter, r *http.Request, q modeltest.Request) {
		asked <- struct{}{}
		modeltest.Stall()(rw, r, q)
	})
	which := w.begin(rehearsal.Script{Turns: []string{"When does the museum open?"}})
	done := make(chan error, 1)
	go func() {
		_, err := w.runner.Advance(context.Background(), "a")
		done <- err
	}()
	<-asked
	w.must(func(ctx context.Context, tx *tenant.Tx) error {
		_, err := job.Cancel(ctx, tx, which, activity.Actor{By: "test", At: w.clock.Now()})
		return err
	})
	began := time.Now()
	w.clock.Step(11 * time.Second)
	require.NoError(t, <-done)
	require.Less(t, time.Since(began), 20*time.Second, "the model was not waited for")
	j := w.job(which)
	require.Equal(t, []any{job.Cancelled, true}, []any{j.State, j.File.IsZero()})
}

func TestThePersonaGoes(t *testing.T) {
	w := newWorld(t)
	which := w.begin(rehearsal.Script{Turns: []string{"Hi"}})
	w.must(func(ctx context.Context, tx *tenant.Tx) error {
		_, err := persona.Delete(ctx, tx, w.persona.ID, id.Duo{}, author())
		return err
	})
	j := w.end(which)
	require.Equal(t, []any{job.Failed, "persona_gone"}, []any{j.State, j.ErrorCode})
	for name, begin := range map[string]func(context.Context, *tenant.Tx) error{
		"a script": func(ctx context.Context, tx *tenant.Tx) error {
			_, err := rehearsal.Begin(ctx, tx, w.files, w.persona.ID, 1, id.File{}, author())
			return err
		},
		"tests": func(ctx context.Context, tx *tenant.Tx) error {
			_, err := rehearsal.BeginTests(ctx, tx, w.files, w.persona.ID, 1, id.File{}, 1, author())
			return err
		},
	} {
		require.ErrorIs(t, w.tenants.InTx(context.Background(), w.org, begin), errdefs.Gone{Noun: persona.Noun}, name)
	}
}

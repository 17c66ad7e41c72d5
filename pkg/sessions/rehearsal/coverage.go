package rehearsal

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/personas/persona"
	"visavis.dev/pkg/sessions/conversation"
	"visavis.dev/pkg/store/file"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/text/search"
)

// Coverage is what a persona can answer of its packs: the file of its job.
type Coverage struct {
	PersonaID      id.Persona `json:"personaId"`
	PersonaVersion int64      `json:"personaVersion"`
	// Made is how many questions the packs gave, and Asked how many of them were asked.
	Made     int64      `json:"made"`
	Asked    int64      `json:"asked"`
	Answered int64      `json:"answered"`
	Failing  []Unproven `json:"failing"`
	// AIGenerated is always true: an avatar wrote the answers.
	AIGenerated bool `json:"aiGenerated"`
}

// Unproven is a question that was not answered as the pack has it.
type Unproven struct {
	Question string         `json:"question"`
	Language string         `json:"language"`
	Of       ProbeKind      `json:"of"`
	Concept  *string        `json:"concept"`
	Reason   CoverageReason `json:"reason"`
	Answer   string         `json:"answer"`
	// DocumentID, Title and Heading are where the answer stands, and Sources where the
	// answer that was given does.
	DocumentID id.Document `json:"documentId"`
	Title      string      `json:"title"`
	Heading    *string     `json:"heading"`
	Sources    []Source    `json:"sources"`
}

// CoverageReason is why an answer is none.
type CoverageReason string

// The reasons. What is talk, such as a heading that reads as a greeting, is not looked up.
const (
	Unknown      CoverageReason = "not_answered"
	NotLookedUp  CoverageReason = "not_looked_up"
	OtherPassage CoverageReason = "other_passage"
	FigureAbsent CoverageReason = "figure_missing"
)

// probes is the source of a job: what to ask, of how many that were made.
type probes struct {
	Made   int     `json:"made"`
	Probes []Probe `json:"probes"`
}

// PutProbes writes what a job asks. Nothing refers to it yet.
func PutProbes(ctx context.Context, files *file.Store, org id.Org, some []Probe, made int) (id.File, error) {
	return put(ctx, files, org, probes{made, some})
}

// BeginCoverage queues the job that asks a persona, in one of its versions, what PutProbes
// wrote. There is one at a time: the error can be an errdefs.Conflict (ReasonRunning),
// errdefs.NotFound or errdefs.Gone.
func BeginCoverage(
	ctx context.Context, tx *tenant.Tx, files *file.Store, p id.Persona, version int64, source id.File, questions int, who persona.Author,
) (job.Job, error) {
	if _, err := persona.Lock(ctx, tx, p); err != nil {
		return job.Job{}, err
	}
	if err := alone(ctx, tx, p, ofCoverage, "The persona's coverage is being looked at. Wait for that job, or cancel it."); err != nil {
		return job.Job{}, err
	}
	j, err := insert(ctx, tx, files, order{ofCoverage, p, version}, source, who)
	if err != nil {
		return j, err
	}
	who.Log(tx, "persona.coverage_checked", "persona", p, map[string]any{"jobId": j.ID, "version": version, "questions": questions})
	return j, nil
}

// alone refuses a second job of a kind for a persona. It rides job_rehearsal.
func alone(ctx context.Context, tx *tenant.Tx, p id.Persona, of what, message string) error {
	running, err := tenant.AllIn(ctx, tx, pgx.RowTo[id.Job], `
		SELECT id FROM job
		WHERE org_id = $1 AND resource_id = $2 AND kind = 'simulate' AND finished_at IS NULL AND input->>'what' = $3`,
		tx.Org, p.String(), of)
	if err != nil || len(running) == 0 {
		return err
	}
	return &errdefs.Conflict{Noun: persona.Noun, ID: p.String(), Reason: ReasonRunning, Details: map[string]any{"jobId": running[0]}, Message: message}
}

// cover asks the next questions, and the last time writes the file of all.
func (r *Rehearser) cover(ctx context.Context, j job.Job, o order, v persona.Version) (job.Step, error) {
	var (
		source probes
		at     progress
	)
	if err := errors.Join(json.Unmarshal(j.Progress, &at), r.read(ctx, j, &source)); err != nil {
		return nil, err
	}
	if at.Next >= len(source.Probes) {
		notes, err := job.Notes[[]Unproven](ctx, r.Tenants, j)
		if err != nil {
			return nil, err
		}
		c := Coverage{
			PersonaID: o.Persona, PersonaVersion: o.Version, Made: int64(source.Made), Asked: int64(len(source.Probes)),
			Failing: append([]Unproven{}, slices.Concat(notes...)...), AIGenerated: true,
		}
		c.Answered = c.Asked - int64(len(c.Failing))
		return r.last(ctx, j, c, func(j *job.Job) {
			j.Total, j.Done = c.Asked, c.Asked
			j.Counts = map[string]int64{"made": c.Made, "asked": c.Asked, "answered": c.Answered, "failing": int64(len(c.Failing))}
		})
	}
	v.Definition.Model.ConnectionID = nil // what the packs answer, whoever writes it
	failing, asked := []Unproven{}, 0
	for until := r.Clock.Now().Add(stepFor); at.Next+asked < len(source.Probes) && asked < batch; asked++ {
		if asked > 0 && !r.Clock.Now().Before(until) {
			break
		}
		p := &source.Probes[at.Next+asked]
		a, err := r.ask(ctx, j.Org, v, Test{Question: p.Question, Language: &p.Language})
		if err != nil {
			return nil, err
		}
		if reason := p.judge(a.reply); reason != "" {
			failing = append(failing, p.unproven(a.reply, reason))
		}
	}
	return func(ctx context.Context, tx *tenant.Tx, j *job.Job, _ time.Time) (time.Duration, error) {
		counts := map[string]int64{}
		maps.Copy(counts, j.Counts)
		counts["made"] = int64(source.Made)
		counts["asked"] += int64(asked)
		counts["failing"] += int64(len(failing))
		counts["answered"] = counts["asked"] - counts["failing"]
		j.Counts, j.Total, j.Done = counts, int64(len(source.Probes)), int64(at.Next+asked)
		var err error
		if j.Progress, err = json.Marshal(progress{at.Next + asked}); err != nil {
			return 0, err
		}
		return 0, j.Note(ctx, tx, int64(at.Next), failing)
	}, nil
}

// judge says why an answer is not the one of the pack; empty where it is.
func (p *Probe) judge(r conversation.Reply) CoverageReason {
	said := search.NewPhrase(r.Text)
	switch {
	case r.Gap:
		return Unknown
	case r.Grounded == nil || !*r.Grounded:
		return NotLookedUp
	case slices.ContainsFunc(p.Figures, func(f string) bool { return !said.Has(search.NewPhrase(f)) }):
		return FigureAbsent
	case len(p.Figures) == 0 && !slices.ContainsFunc(r.Sources, func(s conversation.Source) bool { return slices.Contains(p.Chunks, s.ChunkID) }):
		return OtherPassage
	}
	return ""
}

func (p *Probe) unproven(r conversation.Reply, reason CoverageReason) Unproven {
	return Unproven{
		Question: p.Question, Language: p.Language, Of: p.Of, Concept: orNil(p.Concept), Reason: reason, Answer: r.Text,
		DocumentID: p.Text, Title: p.Title, Heading: orNil(p.Heading), Sources: documents(r.Sources),
	}
}

package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	_ "gocloud.dev/blob/memblob"
	"k8s.io/utils/clock"

	"visavis.dev/config"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/personas/knowledge"
	"visavis.dev/pkg/personas/persona"
	"visavis.dev/pkg/personas/voice"
	"visavis.dev/pkg/process/backend"
	"visavis.dev/pkg/sessions/conversation"
	"visavis.dev/pkg/sessions/rehearsal"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/database"
	"visavis.dev/pkg/store/database/databasetest"
	"visavis.dev/pkg/store/directory"
	"visavis.dev/pkg/store/organization"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/text/extract"
)

const shard = "shard-1"

// fixture is a backend as it runs in production, on an empty database.
type fixture struct{ backend *backend.Backend }

func newFixture(ctx context.Context) (*fixture, error) {
	admin := os.Getenv(databasetest.Env)
	if admin == "" {
		return nil, fmt.Errorf("%s names no database server; run make quality", databasetest.Env)
	}
	directoryURL, err := makeDatabase(ctx, admin, "quality_directory", database.Directory)
	if err != nil {
		return nil, err
	}
	shardURL, err := makeDatabase(ctx, admin, "quality_shard", database.Shard)
	if err != nil {
		return nil, err
	}
	b, err := backend.Open(ctx, backend.Options{
		DirectoryURL: directoryURL, FilesURL: "mem://", PlansText: config.Plans,
		Clock: clock.RealClock{}, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		return nil, err
	}
	return &fixture{b}, b.Directory.AddShard(ctx, shard, shardURL)
}

// makeDatabase makes a database afresh, with a schema.
func makeDatabase(ctx context.Context, admin, name string, schema database.Schema) (string, error) {
	conn, err := pgx.Connect(ctx, admin)
	if err != nil {
		return "", err
	}
	defer conn.Close(ctx)
	if err := errors.Join(database.Drop(ctx, conn, name), database.Create(ctx, conn, name)); err != nil {
		return "", err
	}
	u, err := url.Parse(admin)
	if err != nil {
		return "", err
	}
	u.Path = "/" + name
	db, err := database.Open(u.String(), database.PoolOptions{})
	if err != nil {
		return "", err
	}
	defer db.Close()
	return u.String(), db.Migrate(ctx, schema, slog.New(slog.DiscardHandler))
}

// stage is an organization's persona with its knowledge.
type stage struct {
	// traces says that it is kept how answers were chosen, which takes its time.
	traces   bool
	config   conversation.Config
	passages []knowledge.Chunk
}

// ask asks the questions of a set, and ranks its passages.
func (f *fixture) ask(ctx context.Context, s *set, traces bool) ([]outcome, ranking, error) {
	p, err := f.prepare(ctx, s)
	if err != nil {
		return nil, ranking{}, err
	}
	p.traces = traces
	// What is made once a pack is not held against the first question.
	p.answer(ctx, s, &s.Questions[0])
	all := make([]outcome, len(s.Questions))
	for i := range s.Questions {
		q := &s.Questions[i]
		a, took, traces := p.answer(ctx, s, q)
		all[i] = outcome{s.domain, q, a, judge(q, a), took, traces}
	}
	if len(s.filler) > 0 {
		return all, ranking{}, nil // BM25 would not have to find it among them
	}
	rank, err := p.rank(ctx, s)
	return all, rank, err
}

// prepare makes an organization with a pack of the set's handbook and a persona that
// answers from it, as a caller does who leaves everything else as it is: only that the
// persona speaks the visitor's language, and may call a person.
func (f *fixture) prepare(ctx context.Context, s *set) (*stage, error) {
	now := time.Now().UTC().Truncate(time.Microsecond)
	org := directory.Organization{
		ID: id.NewOrg(), Name: s.Organization, Slug: organization.Slug(s.domain), Region: "eu", Timezone: s.Zone, Shard: shard,
		Epoch: 1, Plan: "enterprise", CreatedAt: now,
	}
	if err := organization.Create(ctx, f.backend.Directory, f.backend.Tenants, org); err != nil {
		return nil, err
	}
	base := knowledge.Base{ID: id.NewKnowledgeBase(), Name: s.Organization, CreatedAt: now, UpdatedAt: now}
	err := f.backend.Tenants.InTx(ctx, org.ID, func(ctx context.Context, tx *tenant.Tx) error {
		_, err := knowledge.InsertBase(ctx, tx, base, plan.Terms{}, activity.Actor{By: "quality", At: base.CreatedAt})
		return err
	})
	if err != nil {
		return nil, err
	}
	var p stage
	for name, text := range s.documents {
		d, err := f.add(ctx, org.ID, base.ID, name, text)
		if err != nil {
			return nil, err
		}
		chunks, err := f.read(ctx, org.ID, d)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		p.passages = append(p.passages, chunks...)
	}
	for name, text := range s.filler {
		d, err := f.add(ctx, org.ID, base.ID, name, text)
		if err != nil {
			return nil, err
		}
		if _, err := f.read(ctx, org.ID, d); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	made, err := f.persona(ctx, org.ID, s, base.ID)
	if err != nil {
		return nil, err
	}
	minds := f.backend.NewMinds()
	p.config = rehearsal.Config(minds, newClock(s.now), org.ID, made.Name, made.Definition, "")
	return &p, minds.Furnish(ctx, org.ID, &p.config)
}

// add adds a document to a pack.
func (f *fixture) add(ctx context.Context, org id.Org, base id.KnowledgeBase, name, text string) (id.Document, error) {
	sum := sha256.Sum256([]byte(text))
	stored, err := f.backend.Files.Put(ctx, org, extract.TypeMarkdown, []byte(text))
	if err != nil {
		return id.Document{}, err
	}
	now := time.Now().UTC().Truncate(time.Microsecond)
	d := knowledge.Document{
		ID: id.NewDocument(), Base: base, Kind: knowledge.File, Title: name, ContentType: extract.TypeMarkdown, Bytes: int64(len(text)),
		SHA256: sum[:], File: stored, Tags: []string{}, Refresh: knowledge.Never, CreatedAt: now, UpdatedAt: now,
	}
	return d.ID, f.backend.Tenants.InTx(ctx, org, func(ctx context.Context, tx *tenant.Tx) error {
		if _, _, err := knowledge.Add(ctx, tx, d, plan.Terms{}, activity.Actor{By: "quality", At: d.CreatedAt}); err != nil {
			return err
		}
		return f.backend.Files.Keep(ctx, tx, stored)
	})
}

// mostPassages is how many passages a handbook may have.
const mostPassages = 1000

// read has a document read, and answers its passages.
func (f *fixture) read(ctx context.Context, org id.Org, d id.Document) ([]knowledge.Chunk, error) {
	reader := knowledge.Reader{Tenants: f.backend.Tenants, Files: f.backend.Files, Extract: extract.Here, Clock: clock.RealClock{}}
	runner := job.Runner{
		Tenants: f.backend.Tenants, Works: map[job.Kind]job.Work{job.KnowledgeSync: reader.Work()}, Clock: clock.RealClock{}, Log: slog.Default(),
		Shards: func(context.Context) ([]string, error) { return []string{shard}, nil },
	}
	for {
		made, err := runner.Advance(ctx, shard)
		if err != nil {
			return nil, err
		}
		got, err := knowledge.GetDocument(ctx, f.backend.Tenants, org, d)
		switch {
		case err != nil:
			return nil, err
		case got.Status == knowledge.Ready:
			return knowledge.ListChunks(ctx, f.backend.Tenants, org, d, 0, mostPassages)
		case got.Status == knowledge.Failed || made == 0:
			return nil, fmt.Errorf("the document is %s", got.Status)
		}
	}
}

// spoken are the languages in which visitors ask.
var spoken = []string{"en", "de", "es", "fr", "it", "pt", "nl", "pl", "tr", "zh", "ja", "ar"}

func (f *fixture) persona(ctx context.Context, org id.Org, s *set, base id.KnowledgeBase) (made persona.Persona, err error) {
	v := voice.Studio()[0]
	d := persona.Defaults(v)
	d.Settings.Language, d.Settings.AutoDetectLanguage, d.Settings.Languages = s.Language, true, spoken
	d.Greeting.Mode = persona.GreetNone // which some languages have no words for, and no question needs
	d.Knowledge.BaseIDs = []id.KnowledgeBase{base}
	d.Tools = []persona.Tool{{Kind: "handoff", Enabled: true, Config: map[string]any{}}}
	draft := persona.Persona{ID: id.NewPersona(), Name: "Mia", Kind: persona.Standard, Avatar: id.NamedAvatar("amara"), Voice: v.ID, Definition: d}
	err = f.backend.Tenants.InTx(ctx, org, func(ctx context.Context, tx *tenant.Tx) (err error) {
		made, err = persona.Insert(ctx, tx, f.backend.Library, draft, persona.Author{By: "quality", At: time.Now().UTC().Truncate(time.Microsecond)})
		return err
	})
	return made, err
}

// answer is what a visitor is answered last who says the turns of a question, and how
// long it took from the question to the answer's end.
func (p *stage) answer(ctx context.Context, s *set, q *question) (a answer, took time.Duration, traces []conversation.Trace) {
	config := p.config
	if p.traces {
		config.Trace = func(t conversation.Trace) {
			before := 0
			for _, turn := range t.Question.History {
				if turn.Speaker == session.User {
					before++
				}
			}
			if before == len(q.Ask)-1 {
				traces = append(traces, t)
			}
		}
	}
	config.Clock = newClock(s.now)
	r := conversation.Rehearse(ctx, config, q.Ask)
	last := -1
	for i, t := range slices.Backward(r.Turns) {
		if t.Speaker == session.User {
			last = i
			break
		}
	}
	if last < 0 || r.Turns[last].Text == "" {
		return a, 0, nil
	}
	for _, t := range r.Turns[last+1:] {
		a.text += t.Text + "\n"
		if act := r.Acts[t.Index]; a.act == "" || act == conversation.ActAnswer {
			a.act = act
		}
		if t.EndedAt != nil {
			took = t.EndedAt.Sub(r.Turns[last].StartedAt)
		}
	}
	return a, took, traces
}

// setClock is the real clock, put forward or back.
type setClock struct {
	clock.RealClock
	ahead time.Duration
}

// newClock is a clock that shows a moment now.
func newClock(at time.Time) clock.WithDelayedExecution {
	return setClock{ahead: time.Until(at)}
}

// Now implements clock.PassiveClock.
func (c setClock) Now() time.Time { return c.RealClock.Now().Add(c.ahead) }

// Since implements clock.PassiveClock.
func (c setClock) Since(t time.Time) time.Duration { return c.Now().Sub(t) }

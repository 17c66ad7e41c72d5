// Package minds is what personas think with: the knowledge packs of their organizations,
// and the models and tools of the connections that they use.
package minds

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/utils/clock"

	"visavis.dev/pkg/base/egress"
	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/vault"
	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/personas/knowledge"
	"visavis.dev/pkg/provider/model"
	"visavis.dev/pkg/sessions/conversation"
	"visavis.dev/pkg/store/organization"
	"visavis.dev/pkg/store/tenant"
)

// Options are what minds work with.
type Options struct {
	Tenants       *tenant.Tenants
	Organizations *organization.Cache
	Vault         *vault.Vault
	Egress        *egress.Guard
	// SearchMemory is what the knowledge packs in memory take together, in bytes; zero
	// means a quarter of what the process may use.
	SearchMemory int64
	Clock        clock.WithTickerAndDelayedExecution
	Log          *slog.Logger
	Metrics      prometheus.Registerer
}

// Minds implements conversation.Minds, for every organization.
type Minds struct {
	// Connections opens the organizations' connections, and Reporter follows how well
	// they work.
	Connections *connection.Opener
	Reporter    *connection.Reporter
	Searcher    *knowledge.Searcher

	options  Options
	breakers *breakers
	vectors  *vectors
}

// New makes minds.
func New(o Options) *Minds {
	m := &Minds{
		Connections: connection.NewOpener(o.Tenants, o.Vault, o.Clock),
		Reporter:    &connection.Reporter{Tenants: o.Tenants, Clock: o.Clock, Log: o.Log},
		options:     o, breakers: newBreakers(o.Clock), vectors: newVectors(),
	}
	m.Searcher = knowledge.NewSearcher(o.Tenants, knowledge.SearcherOptions{
		Memory: cmp.Or(o.SearchMemory, searchMemory()), Metrics: o.Metrics, Vectors: m.vector,
	})
	return m
}

// Start begins to report how well connections work.
func (m *Minds) Start() { m.Reporter.Start() }

// Stop ends what Start began.
func (m *Minds) Stop() { m.Reporter.Stop() }

// Breaker is the circuit breaker of a connection, of this process.
func (m *Minds) Breaker(o *connection.Opened) *model.Breaker { return m.breakers.of(o) }

// Knowledge implements conversation.Minds.
func (m *Minds) Knowledge(org id.Org) conversation.Knowledge { return packs{m.Searcher, org} }

// packs are an organization's knowledge packs.
type packs struct {
	searcher *knowledge.Searcher
	org      id.Org
}

// Search implements conversation.Knowledge.
func (p packs) Search(ctx context.Context, q conversation.Query) ([]conversation.Passage, error) {
	found, err := p.searcher.Search(ctx, p.org, knowledge.Query{
		Text: q.Text, Language: q.Language, Bases: q.Bases, Tags: q.Tags, Languages: q.Languages, Limit: q.Limit, Synonyms: q.Synonyms, WordsAlone: q.WordsAlone,
	})
	passages := make([]conversation.Passage, len(found))
	for i, f := range found {
		passages[i] = conversation.Passage{
			Document: f.Document, Chunk: f.Chunk, Title: f.Title, Heading: f.Heading, Text: f.Text, Language: f.Language,
			Page: f.Page, URL: f.URL, Score: f.Score,
		}
	}
	return passages, err
}

// Headings implements conversation.Outline.
func (p packs) Headings(ctx context.Context, bases []id.KnowledgeBase, tags []string, language string) ([]string, error) {
	return p.searcher.Headings(ctx, p.org, bases, tags, language)
}

// Furnish implements conversation.Minds. A conversation whose connection cannot be
// opened answers by itself, unless the connection is to fail then.
func (m *Minds) Furnish(ctx context.Context, org id.Org, c *conversation.Config) error {
	own, _, err := m.options.Organizations.Get(ctx, org)
	if err != nil {
		return err
	}
	if zone, err := time.LoadLocation(own.Timezone); err == nil {
		c.Zone = zone
	}
	d := c.Persona.Model
	if d.ConnectionID == nil {
		return nil
	}
	opened, err := m.Connections.Open(ctx, org, *d.ConnectionID)
	switch {
	case errdefs.IsAbsent(err, connection.Noun):
		return nil
	case errors.Is(err, connection.ErrDisabled) && opened.Fallback != connection.FallbackFail:
		return nil
	case errors.Is(err, connection.ErrDisabled):
		return errors.Join(conversation.ErrNoModel, err)
	case err != nil:
		return err
	}
	m.equip(org, c, &opened)
	return m.lend(ctx, org, c)
}

// lend gives a conversation the tools of the connections that its persona names. One that
// cannot be opened has none.
func (m *Minds) lend(ctx context.Context, org id.Org, c *conversation.Config) error {
	for _, t := range c.Persona.Tools {
		if !t.Enabled || t.ConnectionID == nil {
			continue
		}
		opened, err := m.Connections.Open(ctx, org, *t.ConnectionID)
		switch {
		case errdefs.IsAbsent(err, connection.Noun), errors.Is(err, connection.ErrDisabled):
			continue
		case err != nil:
			return err
		}
		tools, err := opened.RemoteTools(m.options.Egress)
		if err != nil {
			return err
		}
		for i := range tools {
			c.Remotes = append(c.Remotes, conversation.Remote{Tool: tools[i].Tool, Use: m.use(org, &opened, &tools[i])})
		}
	}
	return nil
}

// use has a tool used, and notes what came of it.
func (m *Minds) use(org id.Org, opened *connection.Opened, t *connection.RemoteTool) func(context.Context, map[string]any, string) (string, error) {
	return func(ctx context.Context, arguments map[string]any, key string) (string, error) {
		began := m.options.Clock.Now()
		answer, err := t.Use(ctx, arguments, key)
		m.Reporter.Report(org, opened.ID, connection.OutcomeOf("tool."+t.Name, began, m.options.Clock.Now(), err))
		return answer, err
	}
}

// equip gives a conversation the model of a connection.
func (m *Minds) equip(org id.Org, c *conversation.Config, opened *connection.Opened) {
	d := &c.Persona.Model
	name := ""
	if d.Name != nil {
		name = *d.Name
	}
	if c.ModelOnly = opened.Fallback == connection.FallbackFail; c.ModelOnly {
		d.TimeoutMs = max(d.TimeoutMs, opened.TimeoutMs) // nobody answers instead
	}
	first := time.Duration(d.TimeoutMs) * time.Millisecond
	c.Model = opened.Model(m.options.Egress, name, model.Timeouts{First: first, Between: first, Whole: longestAnswer})
	if !c.ModelOnly {
		c.ModelBreaker = m.breakers.of(opened)
	}
	which := opened.ID
	c.ModelOutcome = func(err error, took time.Duration) {
		now := m.options.Clock.Now()
		m.Reporter.Report(org, which, connection.OutcomeOf("answer", now.Add(-took), now, err))
	}
}

// longestAnswer is how long a model may take for a whole answer.
const longestAnswer = time.Minute

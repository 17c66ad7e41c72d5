package server

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/base/readthrough"
	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/personas/knowledge"
	"visavis.dev/pkg/personas/persona"
	"visavis.dev/pkg/personas/voice"
	"visavis.dev/pkg/provider/model"
	"visavis.dev/pkg/sessions/conversation"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/store/database"
	"visavis.dev/pkg/store/directory"
	"visavis.dev/pkg/store/setting"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/text/answer"
	"visavis.dev/pkg/visits/live"
	"visavis.dev/pkg/visits/memory"
)

// Live makes what holds live conversations. address is where other processes
// reach its sockets. It must be stopped before the server.
func (s *Server) Live(address string) *live.Server {
	o := s.options
	go answer.Load() // before the first visitor speaks
	return live.New(live.Options{
		Tenants: s.Tenants, Shards: s.shardNames, Address: address, Secret: s.relays, PublicURL: o.PublicURL, Clock: o.Clock, Log: o.Log, Metrics: o.Metrics,
		Organization: s.organization,
		Persona: func(ctx context.Context, org id.Org, p id.Persona, version int64) (string, persona.Definition, error) {
			v, err := persona.GetVersion(ctx, s.Tenants, org, p, version)
			return v.Name, v.Definition, err
		},
		Voice: s.voice, Recognition: s.recognition,
		Minds: minds{s},
		Gap:   s.recordGap,
		Media: s.Connections.Open, MediaOutcome: s.Reporter.Report, Egress: s.Egress,
		Recall: func(ctx context.Context, org id.Org, of session.Session) ([]string, error) {
			return memory.Recall(ctx, s.Tenants, org, of, o.Clock.Now().UTC())
		},
	})
}

// voice is what a session is said aloud with. A voice that was deleted meanwhile is
// replaced by one that sounds alike.
func (s *Server) voice(ctx context.Context, org id.Org, which id.Voice) (live.Voice, error) {
	if s.options.Speaker == nil {
		return live.Voice{}, nil
	}
	v, err := voice.Get(ctx, s.Tenants, org, which)
	if err != nil && !errdefs.IsAbsent(err, voice.Noun) {
		return live.Voice{}, err
	}
	return live.Voice{Speaker: s.options.Speaker, In: v.Request}, nil
}

// Sockets serves a live server behind the limit of the caller's address. What
// another process brings was counted there: all of it comes from one address.
func (s *Server) Sockets(l *live.Server) http.Handler {
	counted := s.Service.Sockets(l)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if l.Relayed(r) {
			l.ServeHTTP(w, r)
			return
		}
		counted.ServeHTTP(w, r)
	})
}

// liveURL is where clients reach the sockets.
func (o Options) liveURL() string {
	if o.LiveURL != "" {
		return strings.TrimSuffix(o.LiveURL, "/")
	}
	return "ws" + strings.TrimPrefix(o.PublicURL, "http")
}

// knownOrganization is an organization with what it may have.
type knownOrganization struct {
	organization directory.Organization
	terms        plan.Terms
}

// organization finds an organization and what it may have.
func (s *Server) organization(ctx context.Context, org id.Org) (directory.Organization, plan.Terms, error) {
	found, err := s.known.Get(ctx, org)
	return found.organization, found.terms, err
}

// terms are what an organization may have.
func (s *Server) terms(ctx context.Context, org id.Org) (plan.Terms, error) {
	_, terms, err := s.organization(ctx, org)
	return terms, err
}

// knownOrganizations remembers organizations as briefly as keys are remembered,
// so that a pause ends live sessions soon.
func (s *Server) knownOrganizations() *readthrough.Cache[id.Org, knownOrganization] {
	return readthrough.New(readthrough.Options[id.Org, knownOrganization]{
		Size: 50_000, Fresh: time.Second, Stale: 5 * time.Minute, Outage: database.Unavailable, Name: id.Org.String, Clock: s.options.Clock,
		Load: func(ctx context.Context, org id.Org) (knownOrganization, error) {
			o, err := s.Directory.Organization(ctx, org)
			return knownOrganization{o, s.Plans.Terms(o.Plan, o.Overrides)}, err
		},
	})
}

// recordGap notes a question that the packs do not answer.
func (s *Server) recordGap(ctx context.Context, tx *tenant.Tx, q live.Question) error {
	zero, err := setting.On(ctx, tx, setting.ZeroRetention)
	if err != nil {
		return err
	}
	_, err = knowledge.RecordGap(ctx, tx, knowledge.Question{
		Bases: q.Bases, Persona: q.Session.Persona, Session: q.Session.ID, Language: q.Language, Text: q.Text, At: q.At,
		Withheld: !q.Session.WordsTold(),
	}, !zero)
	return err
}

// Minds give conversations the packs and the models of their organizations.
func (s *Server) Minds() conversation.Minds { return minds{s} }

// minds give conversations the packs and the models of their organizations.
type minds struct{ *Server }

// Knowledge implements conversation.Minds.
func (m minds) Knowledge(org id.Org) conversation.Knowledge { return packs{m.Searcher, org} }

// packs are an organization's knowledge packs.
type packs struct {
	searcher *knowledge.Searcher
	org      id.Org
}

// Search implements conversation.Knowledge.
func (p packs) Search(ctx context.Context, q conversation.Query) ([]conversation.Passage, error) {
	found, err := p.searcher.Search(ctx, p.org, knowledge.Query{Text: q.Text, Language: q.Language, Bases: q.Bases, Tags: q.Tags, Limit: q.Limit})
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
func (p packs) Headings(ctx context.Context, bases []id.KnowledgeBase, tags []string) ([]string, error) {
	return p.searcher.Headings(ctx, p.org, bases, tags)
}

// Furnish implements conversation.Minds. A conversation whose connection cannot be
// opened answers by itself, unless the connection is to fail then.
func (m minds) Furnish(ctx context.Context, org id.Org, c *conversation.Config) error {
	own, _, err := m.organization(ctx, org)
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
func (m minds) lend(ctx context.Context, org id.Org, c *conversation.Config) error {
	for _, t := range c.Persona.Tools {
		if !t.Enabled || t.Kind != persona.HTTPTool || t.ConnectionID == nil {
			continue
		}
		opened, err := m.Connections.Open(ctx, org, *t.ConnectionID)
		switch {
		case errdefs.IsAbsent(err, connection.Noun), errors.Is(err, connection.ErrDisabled):
			continue
		case err != nil:
			return err
		}
		tools, err := opened.Config.HTTPTools()
		if err != nil {
			return err
		}
		for i := range tools {
			c.Remotes = append(c.Remotes, conversation.Remote{Tool: tools[i].Tool, Use: m.use(org, &opened, &tools[i])})
		}
	}
	return nil
}

// use makes the requests of a tool, and notes what came of them.
func (m minds) use(org id.Org, opened *connection.Opened, t *connection.HTTPTool) func(context.Context, map[string]any, string) (string, error) {
	return func(ctx context.Context, arguments map[string]any, key string) (string, error) {
		began := m.options.Clock.Now()
		answer, err := opened.UseTool(ctx, m.Egress, t, arguments, key)
		m.Reporter.Report(org, opened.ID, connection.OutcomeOf("tool."+t.Name, began, m.options.Clock.Now(), err))
		return answer, err
	}
}

// equip gives a conversation the model of a connection.
func (m minds) equip(org id.Org, c *conversation.Config, opened *connection.Opened) {
	d := &c.Persona.Model
	name := ""
	if d.Name != nil {
		name = *d.Name
	}
	if c.ModelOnly = opened.Fallback == connection.FallbackFail; c.ModelOnly {
		d.TimeoutMs = max(d.TimeoutMs, opened.TimeoutMs) // nobody answers instead
	}
	first := time.Duration(d.TimeoutMs) * time.Millisecond
	c.Model = opened.Model(m.Egress, name, model.Timeouts{First: first, Between: first, Whole: longestAnswer})
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

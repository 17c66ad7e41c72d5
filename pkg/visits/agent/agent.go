// Package agent answers AI assistants, which have no key: what the visitors of a portal may
// ask its persona (spec, Agents). An organization switches it on (setting agents.enabled);
// then each of its published portals is an agent whose visitors come in without a sign-in
// and without saying how old they are. Answers are
// the built-in engine's, which says nothing that the portal's packs do not, and of whoever
// asks nothing is kept.
package agent

import (
	"cmp"
	"context"
	"errors"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/golang-lru/v2/expirable"
	"k8s.io/utils/clock"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/language"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/learning/certificate"
	"visavis.dev/pkg/portals/door"
	"visavis.dev/pkg/portals/portal"
	"visavis.dev/pkg/portals/portal/published"
	"visavis.dev/pkg/sessions/conversation"
	"visavis.dev/pkg/store/directory"
	"visavis.dev/pkg/store/tenant"
)

// Noun is what the errors of this package call an agent.
const Noun errdefs.Noun = "agent"

// Options are what agents answer with.
type Options struct {
	Tenants *tenant.Tenants
	Sites   *published.Store
	Minds   conversation.Minds
	Clock   clock.WithDelayedExecution
	// Organization finds an organization and what it may have.
	Organization func(ctx context.Context, org id.Org) (directory.Organization, plan.Terms, error)
	// Registry signs what agents answer.
	Registry *certificate.Registry
	// PortalURL is where the portals' pages are, without a path.
	PortalURL string
}

// Agents finds and asks agents. It is safe for concurrent use.
type Agents struct {
	options Options
	// threads keep nobody's conversation: whoever asks carries it.
	threads *threads
	// headings are those of sites, as they were published: reading them takes a query for each
	// document, and every request shows them.
	headings *expirable.LRU[headingsKey, []string]
	// answers are those to first questions, for a minute.
	answers *expirable.LRU[answerKey, Answer]
}

// answerKey is a first question of an agent, at a minute and by what it then knows.
type answerKey struct {
	portal                  id.Portal
	edition, language, text string
	minute                  int64
}

// keptAnswers is how many answers are kept: some kilobytes each.
const keptAnswers = 2000

// headingsKey is a site as it was published.
type headingsKey struct {
	portal id.Portal
	stamp  published.Stamp
}

// How many sites' headings are kept, and for how long: packs change without a publication.
const (
	keptHeadings  = 1000
	headingsAlive = 5 * time.Minute
)

// New makes agents. The secret is one of NewThreadSecret, which all processes share.
func New(o Options, secret []byte) (*Agents, error) {
	t, err := newThreads(secret)
	return &Agents{
		options: o, threads: t,
		headings: expirable.NewLRU[headingsKey, []string](keptHeadings, nil, headingsAlive),
		answers:  expirable.NewLRU[answerKey, Answer](keptAnswers, nil, time.Minute),
	}, err
}

// Agent is a portal that AI assistants may ask.
type Agent struct {
	Slug, Name, OrganizationName string
	// Description is what the portal's first page says, in its default language.
	Description string
	// Languages are codes, the default one first.
	Languages []string
	// Topics are headings of what it can be asked about.
	Topics    []string
	UpdatedAt time.Time
	// Disclosure says in the default language that an AI answers.
	Disclosure string
	// HumanURL is the portal, for people.
	HumanURL string

	Org  id.Org
	site *published.Site
}

// Find finds the agent of a slug, as it is now. The error is errdefs.NotFound, whatever the
// reason, so that nobody learns what a portal is that is not to be asked.
func (a *Agents) Find(ctx context.Context, slug string) (Agent, error) {
	site, err := a.options.Sites.Site(ctx, directory.Address{Kind: directory.Slug, Name: slug})
	switch {
	case errors.Is(err, published.ErrNone), errors.Is(err, published.ErrGone), err == nil && !Asked(site):
		return Agent{}, errdefs.NotFound{Noun: Noun, ID: slug}
	case err != nil:
		return Agent{}, err
	}
	org, terms, err := a.options.Organization(ctx, site.Org)
	if err != nil {
		return Agent{}, err
	}
	if org.PausedAt != nil || !terms.Has("portals") {
		return Agent{}, errdefs.NotFound{Noun: Noun, ID: slug}
	}
	return a.options.show(ctx, org, site, a.headingsOf)
}

// headingsOf are the headings of a site, read once in a while.
func (a *Agents) headingsOf(ctx context.Context, s *published.Site) ([]string, error) {
	key := headingsKey{s.Portal, s.Stamp}
	if found, ok := a.headings.Get(key); ok {
		return found, nil
	}
	found, err := a.options.readHeadings(ctx, s)
	if err == nil {
		a.headings.Add(key, found)
	}
	return found, err
}

// readHeadings reads the headings of the packs that a site is answered from.
func (o *Options) readHeadings(ctx context.Context, s *published.Site) ([]string, error) {
	outline, ok := o.Minds.Knowledge(s.Org).(conversation.Outline)
	if !ok {
		return nil, nil
	}
	return outline.Headings(ctx, bases(s), nil, s.Definition.DefaultLanguage)
}

// Asked says whether a site may be asked by whoever comes.
func Asked(s *published.Site) bool {
	_, interviews := s.Doors[string(door.Candidates)]
	return s.Stamp.Agents && anonymous(s) && s.Kind != portal.Hiring && !interviews && !s.Speaker.Persona.IsZero()
}

// given are the requirements of a door that are about a visitor who is remembered, which an
// assistant is not. Nobody vouches for who asks through one, nor for their age: what else a
// door requires keeps assistants out.
var given = []string{"name", "email", "consent"}

// anonymous says whether a site lets in visitors of whom nothing must be known.
func anonymous(s *published.Site) bool {
	visitors, open := s.Doors[string(door.Visitors)]
	d := s.Definition
	return open && d.MinAge == nil && d.GuardianConsentUnder == nil && !slices.ContainsFunc(visitors.Requires, func(what string) bool {
		return !slices.Contains(given, what)
	})
}

// addTopic adds a topic that is not among them yet, where there is room.
func (a *Agent) addTopic(topic string) {
	if len(a.Topics) < maxTopics && !slices.Contains(a.Topics, topic) {
		a.Topics = append(a.Topics, topic)
	}
}

// maxTopics is how many headings are told.
const maxTopics = 30

func (o *Options) show(ctx context.Context, org directory.Organization, s *published.Site,
	headingsOf func(context.Context, *published.Site) ([]string, error),
) (Agent, error) {
	d := s.Definition
	shown := Agent{
		Slug: s.Slug, Name: s.Name, OrganizationName: org.Name, UpdatedAt: s.PublishedAt.UTC(), Org: s.Org, site: s,
		Description: d.Pages.Welcome[d.DefaultLanguage], Languages: []string{d.DefaultLanguage},
		Disclosure: cmp.Or(s.Speaker.Disclosure[d.DefaultLanguage], "Answers are written by an AI."),
	}
	for _, code := range d.Languages {
		if code != d.DefaultLanguage {
			shown.Languages = append(shown.Languages, code)
		}
	}
	var err error
	if shown.HumanURL, err = url.JoinPath(o.PortalURL, "p", s.Slug); err != nil {
		return shown, err
	}
	headings, err := headingsOf(ctx, s)
	for _, taught := range s.Subjects {
		shown.addTopic(taught.Title)
	}
	for _, heading := range headings {
		shown.addTopic(heading)
	}
	return shown, err
}

// bases are the packs that the visitors of a site are answered from, but those of the
// persona.
func bases(s *published.Site) []id.KnowledgeBase {
	all := slices.Clone(s.Definition.KnowledgeBaseIDs)
	if s.SubjectBase != nil {
		all = append(all, *s.SubjectBase)
	}
	return all
}

// Speaks says whether an agent answers in a language, by its code.
func (a *Agent) Speaks(code string) bool { return slices.Contains(a.Languages, code) }

// LanguageNames are the names of an agent's languages in English, for people.
func (a *Agent) LanguageNames() string {
	names := map[string]string{}
	for _, l := range language.Catalogue() {
		names[l.Code] = l.Name
	}
	var all []string
	for _, code := range a.Languages {
		all = append(all, cmp.Or(names[code], code))
	}
	return strings.Join(all, ", ")
}

package agent

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"
	"time"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/personas/knowledge"
	"visavis.dev/pkg/personas/persona"
	"visavis.dev/pkg/sessions/conversation"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/store/setting"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/text/search"
	"visavis.dev/pkg/visits/admission"
)

// Confidence is how sure an answer is.
type Confidence string

// The confidences. Medium is what is not about the packs, such as a courtesy, or rests on
// them less surely; low is what is not known.
const (
	High   Confidence = "high"
	Medium Confidence = "medium"
	Low    Confidence = "low"
)

// highScore is how well a passage supports an answer that is sure.
const highScore = 0.75

// Question is what an assistant asks.
type Question struct {
	// Text has a word at least, and Language is one of the agent's, or empty for the
	// question's own.
	Text, Language string
	// Thread is what Answer.Thread was of the question before; empty for the first one.
	Thread string
}

// Answer is what an agent says.
type Answer struct {
	Text, Language string
	Sources        []Source
	// Grounded says that the answer rests on the portal's packs.
	Grounded   bool
	Confidence Confidence
	// FollowUps are what else can be asked about.
	FollowUps []string
	// Handoff says that a person is to be asked instead.
	Handoff bool
	Thread  string
	// Edition names what was known to it, and At is when it was given.
	Edition string
	At      time.Time
	// After are the questions that went before in the conversation, oldest first.
	After []string

	// gap says that the packs do not answer it.
	gap bool
}

// Source is a passage that an answer rests on.
type Source struct {
	Title, Snippet string
	// SHA256 is of the passage's whole text, in hexadecimal.
	SHA256 string
	// URL is where the document was read from; nil for a file or a text.
	URL *string
}

// Ask answers a question, which it has counted first. The error is ErrThread, that of counting, or that of reading.
func (a *Agents) Ask(ctx context.Context, of *Agent, q Question, count func() (*Charge, error)) (Answer, error) {
	now := a.options.Clock.Now()
	charge, err := count()
	if err != nil {
		return Answer{}, err
	}
	past, err := a.threads.open(of.Org.String(), q.Thread, now)
	if err != nil {
		return Answer{}, err
	}
	p, err := persona.Get(ctx, a.options.Tenants, of.Org, of.site.Speaker.Persona)
	if errdefs.IsAbsent(err, persona.Noun) {
		err = errdefs.NotFound{Noun: Noun, ID: of.Slug}
	}
	if err != nil {
		return Answer{}, err
	}
	config := a.config(of, p, q, past, now)
	edition, err := a.edition(ctx, of, p, config.Bases)
	if err != nil {
		return Answer{}, err
	}
	// What it says can depend on the minute: the hours of today, and of now.
	key := answerKey{of.site.Portal, edition, q.Language, q.Text, now.Truncate(time.Minute).Unix()}
	said, given := a.answers.Get(key)
	if given = given && len(past) == 0; given {
		charge.Settle(CostKept)
	} else {
		if said, err = a.find(ctx, of, config, q); err != nil {
			return Answer{}, err
		}
		said.Edition, said.At, said.After = edition, now.UTC().Truncate(time.Millisecond), []string{}
		for _, e := range past {
			said.After = append(said.After, e.Question)
		}
		// What it was found in can have changed meanwhile: then nobody else gets it.
		if since, err := a.edition(ctx, of, p, config.Bases); err != nil {
			return Answer{}, err
		} else if since == edition && len(past) == 0 {
			a.answers.Add(key, said)
		}
	}
	if said.gap {
		if err := a.note(ctx, of, p.ID, config.Bases, said.Language, q.Text, now); err != nil {
			return Answer{}, err
		}
	}
	said.Thread, err = a.threads.seal(of.Org.String(), past, exchange{q.Text, said.Text}, now)
	return said, err
}

// find finds the answer.
func (a *Agents) find(ctx context.Context, of *Agent, config conversation.Config, q Question) (Answer, error) {
	read := &reading{Knowledge: config.Knowledge, texts: map[id.Chunk]string{}}
	config.Knowledge = read
	if err := a.options.Minds.Furnish(ctx, of.Org, &config); err != nil {
		return Answer{}, err
	}
	reply, err := conversation.Ask(ctx, config, q.Text)
	if err != nil {
		return Answer{}, err
	}
	said := answered(of, reply, read.texts)
	said.gap = reply.Gap
	return said, nil
}

// config is a conversation of nobody's: by the persona's guardrails and packs, without its
// model and its tools, which cost money and act.
func (a *Agents) config(of *Agent, p persona.Persona, q Question, past []exchange, now time.Time) conversation.Config {
	d := p.Definition
	d.Model.ConnectionID, d.Tools = nil, nil
	c := conversation.Config{
		Session: conversation.Facts{Channel: conversation.Chat, Language: q.Language}, Persona: d, PersonaName: p.Name, Clock: a.options.Clock,
		Knowledge: a.options.Minds.Knowledge(of.Org), Bases: admission.Distinct(append(bases(of.site), d.Knowledge.BaseIDs...)), Turns: turns(past, now),
	}
	if q.Language == "" {
		c.Session.Language = of.Languages[0]
		c.Detect = search.Detect
	}
	return c
}

// turns are a conversation as it was held.
func turns(past []exchange, at time.Time) []session.Turn {
	var all []session.Turn
	for _, e := range past {
		n := int64(len(all))
		all = append(all,
			session.Turn{Index: n, Speaker: session.User, Text: e.Question, Spoken: e.Question, StartedAt: at, EndedAt: &at},
			session.Turn{Index: n + 1, Speaker: session.Avatar, Text: e.Answer, Spoken: e.Answer, StartedAt: at, EndedAt: &at})
	}
	return all
}

// note keeps a question that the packs do not answer, for whoever writes them.
func (a *Agents) note(ctx context.Context, of *Agent, p id.Persona, bases []id.KnowledgeBase, language, text string, at time.Time) error {
	err := a.options.Tenants.InTx(ctx, of.Org, func(ctx context.Context, tx *tenant.Tx) error {
		set, err := setting.At(ctx, tx, setting.Place{Portal: of.site.Portal})
		if err != nil {
			return err
		}
		none := set.On(setting.ZeroRetention) || set.On(setting.YoungLearners)
		_, err = knowledge.RecordGap(ctx, tx, knowledge.Question{
			Bases: bases, Persona: p, Portal: of.site.Portal, Language: language, Text: text, Withheld: true, At: at.UTC(),
		}, !none)
		return err
	})
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

const (
	maxFollowUps = 3
	maxSnippet   = 300
)

// answered is a reply with the passages that it rests on, by their texts.
func answered(of *Agent, r conversation.Reply, texts map[id.Chunk]string) Answer {
	said := Answer{Text: r.Text, Language: r.Language, Grounded: r.Grounded != nil && *r.Grounded, Confidence: Medium, Sources: []Source{}, FollowUps: []string{}}
	best := 0.0
	for _, s := range r.Sources {
		text := texts[s.ChunkID]
		sum := sha256.Sum256([]byte(text))
		said.Sources = append(said.Sources, Source{Title: s.Title, URL: s.URL, Snippet: snippet(text), SHA256: hex.EncodeToString(sum[:])})
		best = max(best, s.Score)
	}
	switch {
	case r.Gap, r.Act == conversation.ActUnknown:
		said.Confidence = Low
		said.FollowUps = append(said.FollowUps, of.Topics[:min(len(of.Topics), maxFollowUps)]...)
	case said.Grounded && best >= highScore:
		said.Confidence = High
	}
	said.Handoff = said.Confidence == Low || r.Act == conversation.ActHandoff
	return said
}

// snippet is the beginning of a passage.
func snippet(text string) string {
	runes := []rune(strings.Join(strings.Fields(text), " "))
	if len(runes) <= maxSnippet {
		return string(runes)
	}
	return string(runes[:maxSnippet]) + "…"
}

// reading is a Knowledge that remembers the texts of what was found. One question is asked
// of it at a time.
type reading struct {
	conversation.Knowledge
	texts map[id.Chunk]string
}

// Search implements conversation.Knowledge.
func (r *reading) Search(ctx context.Context, q conversation.Query) ([]conversation.Passage, error) {
	q.WordsAlone = true // who asks is nobody's visitor, and services cost their owner money
	found, err := r.Knowledge.Search(ctx, q)
	for _, p := range found {
		r.texts[p.Chunk] = p.Text
	}
	return found, err
}

// Headings implements conversation.Outline.
func (r *reading) Headings(ctx context.Context, bases []id.KnowledgeBase, tags []string, language string) ([]string, error) {
	outline, ok := r.Knowledge.(conversation.Outline)
	if !ok {
		return nil, nil
	}
	return outline.Headings(ctx, bases, tags, language)
}

package conversation

import (
	"context"
	"slices"
	"time"

	"visavis.dev/pkg/text/answer"
)

// Reply is what is answered to one question.
type Reply struct {
	Text, Language string
	// Sources are what the answer rests on, each once.
	Sources []Source
	// Grounded is nil where there is nothing to rest on, as in small talk.
	Grounded *bool
	// Gap says that the packs do not answer the question.
	Gap bool
	// Act is what the answer does.
	Act Act
}

// maxAsked bounds how long a model may take for a whole answer, since somebody
// waits for it. The built-in brain answers then, if nothing was said.
const maxAsked = 15 * time.Second

// Ask answers one question as a conversation does that begins with it, or goes on from the
// turns of config, which are all over: by the
// guardrails, by what needs no knowledge, or by a brain. Nobody is told, nothing
// is kept, and no tool is used; of config neither Journal nor Send nor End is
// needed. The error is that of the knowledge, or of the context.
func Ask(ctx context.Context, config Config, text string) (Reply, error) {
	config.Send = func(Message) {}
	c := New(config)
	defer c.running.Wait()
	c.resume()
	text = clean(text)
	c.detect(text)
	why := config.Explain
	if rule := matching(c.rules, c.language, text); rule != nil {
		why.answeredBy(ByGuardrail)
		return c.told(rule.act(), c.rebuff(rule)), nil
	}
	why.answeredBy(ByTalk)
	means := heardIntent(c.language, text)
	if means == askPerson && answer.SeeksWhom(c.language, text) {
		if r, err := c.gather(c.whom(ctx, c.question(text))); r.Text != "" || err != nil {
			why.answeredBy(ByBuiltin)
			return r, err
		}
	}
	if texts, ok := c.chat(means); ok {
		act := actsOf[means]
		if means == askRepeat || means == askSure {
			act = ActClarify // nothing was said yet
		}
		return c.told(act, texts), nil
	}
	q := c.question(text)
	switch means {
	case askPerson, askAbility, askLanguages, askKept:
		return c.gather(c.asides[means](ctx, q))
	}
	why.answeredBy(ByBuiltin)
	if c.model != nil && !q.danger {
		thinking, cancel := context.WithTimeout(ctx, maxAsked)
		defer cancel()
		r, err := c.gather(c.model.Answer(thinking, q))
		if r.Text != "" {
			return r, nil
		}
		if config.ModelOnly {
			return r, err
		}
	}
	why.answeredBy(ByBuiltin)
	why.rankAnew()
	r, err := c.gather(c.builtin.Answer(ctx, q))
	if err == nil && r.Text == "" {
		err = ctx.Err() // the caller is gone
	}
	return r, err
}

// chat is the reply to what needs no knowledge, when nothing was said before.
func (c *Conversation) chat(means intent) (texts []string, ok bool) {
	switch means {
	case sayGoodbye:
		return []string{c.farewell()}, true
	case askPerson:
		return []string{c.filledIn(bookOf(c.language).handoff)}, c.enabled(handoff)
	case askRepeat, askSure:
		return []string{bookOf(c.language).askAgain}, true
	}
	return c.pleasantry(means)
}

// told is a reply that rests on nothing.
func (c *Conversation) told(act Act, texts []string) Reply {
	r := Reply{Language: c.language, Act: act}
	for _, text := range texts {
		r.Text = join(r.Text, text)
	}
	return r
}

// gather puts the pieces of an answer together. A guardrail that one falls under
// ends it, as aloud. Where it breaks off, what was said stands.
func (c *Conversation) gather(answer Stream) (Reply, error) {
	r := Reply{Language: c.language}
	for p, err := range answer {
		if err != nil {
			return r, err
		}
		if rule := matching(c.rules, c.language, p.Text+p.withheld); rule != nil && c.model != nil {
			r.Text, r.Act = join(r.Text, c.told(rule.act(), c.rebuff(rule)).Text), rule.act()
			return r, nil
		}
		if p.withheld != "" {
			continue
		}
		r.Text = join(r.Text, p.Text)
		r.Gap = r.Gap || p.Gap
		r.Act = r.Act.with(p)
		r.Grounded = groundedWith(r.Grounded, p)
		for _, source := range p.Sources {
			if !slices.ContainsFunc(r.Sources, func(had Source) bool { return had.ChunkID == source.ChunkID }) {
				r.Sources = append(r.Sources, source)
			}
		}
	}
	return r, nil
}

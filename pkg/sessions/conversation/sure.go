package conversation

import (
	"path"
	"slices"
	"strings"

	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/text/answer"
)

// standBy answers whether the last answer is sure: by its words again, with what says so, or that it
// is not certain, where it was only offered. What rests on nothing is said again. It is false where
// nothing was said, or a model is to answer for its own words.
func (c *Conversation) standBy() bool {
	said := c.lastWords()
	if len(said) == 0 {
		return false
	}
	var titles []string
	var sources []Source
	grounded := true
	for i := range said {
		t := &said[i]
		titles = titlesOf(t.Sources, titles)
		for _, s := range t.Sources {
			sources = append(sources, Source{Source: s})
		}
		grounded = grounded && (t.Grounded == nil || *t.Grounded)
	}
	switch {
	case len(titles) == 0 && c.model != nil && c.config.Persona.Knowledge.Mode != strict:
		return false
	case len(titles) == 0:
		c.repeat()
		return true
	}
	p := Piece{Text: bySource(c.language, "sure", titles), Sources: sources, Grounded: &grounded, Retrieval: untold, ModelFirst: untold}
	if grounded {
		c.repeat(p)
		return true
	}
	p.Text = bySource(c.language, "unsure", titles)
	s := c.reply(c.ownOrigin())
	s.act, s.pending = ActUnknown, append(s.pending, p)
	c.speak(s)
	return true
}

// bySource is one of the engine's sentences about what documents say.
func bySource(language, key string, titles []string) string {
	return strings.ReplaceAll(answer.Say(language, key), "{{title}}", listed(language, titles))
}

// withoutSources is what a turn says besides what said it: who asks twice hears it once.
func withoutSources(t *session.Turn, text string) string {
	if rest, found := strings.CutPrefix(text, bySource(t.Language, "sure", titlesOf(t.Sources, nil))); found && len(t.Sources) > 0 {
		return strings.TrimSpace(rest)
	}
	return text
}

// titlesOf adds the titles of sources to some, each once.
func titlesOf(sources []session.Source, titles []string) []string {
	for _, s := range sources {
		if title := spokenTitle(s.Title); title != "" && !slices.Contains(titles, title) {
			titles = append(titles, title)
		}
	}
	return titles
}

// spokenTitle is a document's title as it is said: without the ending of a file.
func spokenTitle(title string) string {
	title = strings.TrimSpace(title)
	if end := path.Ext(title); len(end) > 1 && len(end) <= 5 && !strings.ContainsAny(end, " )") && len(end) < len(title) {
		return strings.TrimSuffix(title, end)
	}
	return title
}

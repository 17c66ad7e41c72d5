package conversation

import (
	"path"
	"slices"
	"strings"

	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/text/answer"
)

// spokenAs is how a turn was said: whether it asks for what the avatar wants to know, and the sentences
// of documents in it.
type spokenAs struct {
	asking bool
	quotes []Piece
}

// standBy answers whether the last answer is sure: by what documents say of it again, or that it is not
// certain, where it was only offered. Words that no document says are said again without one. It is
// false where nothing was said, or a model is to answer for its own words.
func (c *Conversation) standBy() bool {
	said := c.lastWords(func(t *session.Turn) bool { return c.saidAs[t.ID].asking })
	if len(said) == 0 {
		said = c.lastWords(nil)
	}
	if len(said) == 0 {
		return false
	}
	var (
		titles  []string
		sources []Source
		quotes  []Piece
	)
	grounded := true
	for i := range said {
		t := &said[i]
		by := c.saysAgain(t)
		for _, q := range c.saidAs[t.ID].quotes {
			for _, source := range q.Sources {
				titles = titlesOf([]session.Source{source.Source}, titles)
				sources = append(sources, source)
			}
			q.host = by
			quotes = append(quotes, q)
		}
		grounded = grounded && (t.Grounded == nil || *t.Grounded)
	}
	if len(titles) == 0 {
		if c.model != nil && c.config.Persona.Knowledge.Mode != strict {
			return false
		}
		c.sayAgain(said)
		return true
	}
	s := c.reply(c.ownOrigin())
	p := Piece{Text: bySource(c.language, "sure", titles), Sources: sources, Grounded: &grounded, Retrieval: untold, ModelFirst: untold}
	if grounded {
		s.act, s.pending = ActRepeat, append([]Piece{p}, quotes...)
	} else {
		p.Text, p.quoted = bySource(c.language, "unsure", titles), true
		s.act, s.pending = ActUnknown, []Piece{p}
	}
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

// endings are those of files that are documents of packs.
var endings = []string{".md", ".markdown", ".txt", ".pdf", ".doc", ".docx", ".odt", ".rtf", ".html", ".htm", ".xls", ".xlsx", ".csv", ".ppt", ".pptx", ".vtt", ".srt"}

// spokenTitle is a document's title as it is said: without the ending of a file.
func spokenTitle(title string) string {
	title = strings.TrimSpace(title)
	if end := path.Ext(title); len(end) < len(title) && slices.Contains(endings, strings.ToLower(end)) {
		return strings.TrimSuffix(title, end)
	}
	return title
}

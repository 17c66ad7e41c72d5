package conversation

import (
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"visavis.dev/pkg/base/language"
	"visavis.dev/pkg/text/answer"
)

// Reach says how a person is reached, where none can be asked to join: by what the packs
// say of it.
func (b extractive) Reach(ctx context.Context, q Question) Stream {
	return func(yield func(Piece, error) bool) {
		one := q
		one.Text, one.Previous = answer.Say(q.Language, "contactWords"), ""
		passages, took, err := b.find(ctx, one)
		if err != nil {
			yield(Piece{}, err)
			return
		}
		found := b.best(one, passages)
		if len(found.chosen) == 0 {
			yield(Piece{Text: answer.Say(q.Language, "person"), Act: ActHandoff, Retrieval: took, ModelFirst: untold}, nil)
			return
		}
		pieces := stated(one, finding{chosen: found.chosen}, passages)
		pieces[0].Text = join(answer.Say(q.Language, "contact"), pieces[0].Text)
		for _, p := range pieces {
			p.Act, p.Retrieval, p.ModelFirst = ActHandoff, took, untold
			if !yield(p, nil) {
				return
			}
		}
	}
}

// Whom says whom to turn to in a matter, as the packs say it. Where they name nobody, or cannot be
// searched, a person is to be asked for.
func (b extractive) Whom(ctx context.Context, q Question) Stream {
	return func(yield func(Piece, error) bool) {
		pieces, err := b.answer(ctx, q)
		reaches := func(p Piece) bool {
			return !p.Gap && p.Act != ActClarify && answer.Reaches(q.Language, p.Text)
		}
		if err != nil || !slices.ContainsFunc(pieces, reaches) {
			yield(Piece{person: true}, nil)
			return
		}
		for _, p := range pieces {
			if !yield(p, nil) {
				return
			}
		}
	}
}

const (
	// maxTopics is how many headings are told, of so many characters each at most.
	maxTopics  = 6
	topicRunes = 60
)

// Abilities say what can be asked: by the headings of the packs.
func (b extractive) Abilities(ctx context.Context, q Question) Stream {
	return func(yield func(Piece, error) bool) {
		text := answer.Say(q.Language, "abilityNone")
		if outline, ok := b.Knowledge.(Outline); ok {
			headings, err := outline.Headings(ctx, b.Bases, b.Tags, q.Language)
			if err != nil {
				yield(Piece{}, err)
				return
			}
			if topics := topicsOf(headings); len(topics) > 0 {
				text = strings.ReplaceAll(answer.Say(q.Language, "ability"), "{{topics}}", listed(q.Language, topics))
			}
		}
		yield(Piece{Text: text, Act: ActAbility, Retrieval: untold, ModelFirst: untold}, nil)
	}
}

// Languages say in which languages one can talk with it, unless the packs say who speaks the one that is asked for.
func (b extractive) Languages(ctx context.Context, q Question) Stream {
	return func(yield func(Piece, error) bool) {
		pieces, err := b.answer(ctx, q)
		if err != nil {
			yield(Piece{}, err)
			return
		}
		if slices.ContainsFunc(pieces, func(p Piece) bool { return p.Gap || p.Act != "" }) {
			text := strings.ReplaceAll(answer.Say(q.Language, "languages"), "{{languages}}", listed(q.Language, b.named(q.Language)))
			pieces = []Piece{{Text: text, Act: ActAbility, Retrieval: untold, ModelFirst: untold}}
		}
		for _, p := range pieces {
			if !yield(p, nil) {
				return
			}
		}
	}
}

// named are the languages that are spoken now and that the conversation goes on in, each by its own name.
func (b extractive) named(now string) (names []string) {
	for _, code := range append([]string{now}, b.languages()...) {
		if l, ok := language.Lookup(code); ok && !slices.Contains(names, l.NativeName) {
			names = append(names, l.NativeName)
		}
	}
	return names
}

// topicsOf are some of the headings, each once, spread over all of them.
func topicsOf(headings []string) []string {
	var all []string
	seen := map[string]bool{}
	for _, h := range headings {
		h = strings.Trim(strings.TrimSpace(h), ".:?!#*- ")
		if key := strings.ToLower(h); h != "" && !seen[key] && utf8.RuneCountInString(h) <= topicRunes {
			seen[key] = true
			all = append(all, h)
		}
	}
	if len(all) <= maxTopics {
		return all
	}
	out := make([]string, maxTopics)
	for i := range out {
		out[i] = all[i*len(all)/maxTopics]
	}
	return out
}

package subject

import (
	"fmt"
	"strings"

	"visavis.dev/pkg/base/language"
)

// Lesson is what a subject tells in a language, as Markdown: what its avatar may
// answer from. Questions that people are asked are no part of it, nor is what a
// scenario keeps secret; those of a FAQ are, with their right answers. It is empty
// where the language has no words of it.
func Lesson(s Subject, c Content, code string) string {
	var b strings.Builder
	paragraph := func(form string, w language.Words) {
		if said, ok := w[code]; ok {
			fmt.Fprintf(&b, form+"\n\n", strings.TrimSpace(said))
		}
	}
	paragraph("%s", c.Intro)
	for _, section := range c.Sections {
		paragraph("## %s", section.Title)
		paragraph("%s", section.Body)
		for _, point := range section.KeyPoints {
			paragraph("- %s", point)
		}
	}
	if s.Kind == FAQ {
		for _, q := range c.Questions {
			if !q.answered(code) {
				continue
			}
			paragraph("## %s", q.Text)
			for _, o := range q.Options {
				if o.Correct {
					paragraph("%s", o.Text)
				}
			}
		}
	}
	if b.Len() == 0 {
		return ""
	}
	return "# " + s.TitleIn(c, code) + "\n\n" + strings.TrimSpace(b.String()) + "\n"
}

// answered says whether a question and a right answer to it are there in a language.
func (q *Question) answered(code string) bool {
	_, asked := q.Text[code]
	for _, o := range q.Options {
		if _, said := o.Text[code]; asked && said && o.Correct {
			return true
		}
	}
	return false
}

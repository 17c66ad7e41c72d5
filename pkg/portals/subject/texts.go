package subject

import (
	"fmt"
	"maps"
	"slices"

	"visavis.dev/pkg/base/language"
)

// need says how badly people need a text in each language of a portal.
type need int

const (
	// advised texts stand beside what is shown: without one, people miss little.
	advised need = iota
	// shown texts have to be there in every language once they are there in one.
	shown
	// always texts have to be there.
	always
)

// text is one text of a content.
type text struct {
	// field names it as the API does: sections[2].title.
	field string
	words *language.Words
	// limit bounds it in each language, in characters.
	limit int
	need  need
}

// texts lists every text of a content, in its order. They are the content's own.
func (c *Content) texts() []text {
	list := []text{{"title", &c.Title, 200, advised}, {"intro", &c.Intro, 5000, shown}}
	for i := range c.Sections {
		list = append(list, c.Sections[i].texts(fmt.Sprintf("sections[%d]", i))...)
	}
	for i := range c.Questions {
		list = append(list, c.Questions[i].texts(fmt.Sprintf("questions[%d]", i))...)
	}
	if c.Scenario != nil {
		list = append(list, c.Scenario.texts()...)
	}
	return append(list, text{"ending.message", &c.Ending.Message, 2000, shown})
}

func (s *Section) texts(at string) []text {
	list := []text{{at + ".title", &s.Title, 200, always}, {at + ".body", &s.Body, 20_000, shown}}
	for i := range s.Media {
		list = append(list, text{fmt.Sprintf("%s.media[%d].alt", at, i), &s.Media[i].Alt, 500, advised})
	}
	for i := range s.KeyPoints {
		list = append(list, text{fmt.Sprintf("%s.keyPoints[%d]", at, i), &s.KeyPoints[i], 500, advised})
	}
	return list
}

func (q *Question) texts(at string) []text {
	list := []text{{at + ".text", &q.Text, 2000, always}}
	for i := range q.Options {
		list = append(list, text{fmt.Sprintf("%s.options[%d].text", at, i), &q.Options[i].Text, 500, always})
	}
	for i := range q.Rubric {
		criterion := fmt.Sprintf("%s.rubric[%d]", at, i)
		list = append(list, text{criterion + ".label", &q.Rubric[i].Label, 200, advised})
		for j := range q.Rubric[i].Levels {
			list = append(list, text{fmt.Sprintf("%s.levels[%d].description", criterion, j), &q.Rubric[i].Levels[j].Description, 1000, advised})
		}
		for j := range q.Rubric[i].Points {
			list = append(list, text{fmt.Sprintf("%s.points[%d].text", criterion, j), &q.Rubric[i].Points[j].Text, 500, advised})
		}
	}
	return list
}

func (s *Scenario) texts() []text {
	list := []text{
		{"scenario.setting", &s.Setting, 5000, always}, {"scenario.avatarRole", &s.AvatarRole, 2000, always},
		{"scenario.learnerRole", &s.LearnerRole, 2000, always},
	}
	for i := range s.Secrets {
		list = append(list, text{fmt.Sprintf("scenario.secrets[%d]", i), &s.Secrets[i], 1000, advised})
	}
	return list
}

// Languages lists the codes of the languages that a content has texts in.
func (c *Content) Languages() []string {
	spoken := map[string]bool{}
	for _, t := range c.texts() {
		for code := range *t.words {
			spoken[code] = true
		}
	}
	codes := make([]string, 0, len(spoken))
	return append(codes, slices.Sorted(maps.Keys(spoken))...)
}

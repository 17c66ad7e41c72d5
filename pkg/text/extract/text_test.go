package extract_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/text/extract"
)

// Text is read as people lay it out.
func TestPlainText(t *testing.T) {
	type sections = []extract.Section
	for name, c := range map[string]struct {
		text string
		want sections
	}{
		"Markdown": {
			"# Lakeside\n\nWe are at the lake.\n\n## Prices\n\n| | low | high |\n|---|---|---|\n| Adult | 7 | 9 |\n\nDogs stay free.",
			sections{{Heading: "Lakeside", Text: "We are at the lake."}, {Heading: "Prices", Text: "Adult; low: 7; high: 9\n\nDogs stay free."}},
		},
		"headings of their own blocks": {
			"Opening hours\n\nWe open at nine.\n\nHow do I get there?\n\nBy bus 4.",
			sections{{Heading: "Opening hours", Text: "We open at nine."}, {Heading: "How do I get there?", Text: "By bus 4."}},
		},
		"headings above their text": {
			"Frühstück\nEs gibt Frühstück von 7 bis 10 Uhr.\n\nAddress\nHarbor Clinic\nKai 4",
			sections{{Heading: "Frühstück", Text: "Es gibt Frühstück von 7 bis 10 Uhr."}, {Heading: "Address", Text: "Harbor Clinic\nKai 4"}},
		},
		"lines that end on purpose": {
			"Monday 9 to 5\nSaturday 9 to 12\nSunday closed",
			sections{{Text: "Monday 9 to 5\nSaturday 9 to 12\nSunday closed"}},
		},
		"lines broken to fit the page": {
			"The museum in the old town opens every morning at nine and closes in the\nEvening Square wing at six. It is closed on every Monday of the year, but\nfor holidays.",
			sections{{Text: "The museum in the old town opens every morning at nine and closes in the Evening Square wing at six. " +
				"It is closed on every Monday of the year, but for holidays."}},
		},
		"questions and answers": {
			"Q: Is there parking?\nA: Twelve spaces.\n\nQ: May dogs come in?\n\nA: They may.\n\nA. Smith leads us.",
			sections{{Heading: "Is there parking?", Text: "Twelve spaces."}, {Heading: "May dogs come in?", Text: "They may.\n\nA. Smith leads us."}},
		},
		"an item that goes on": {
			"- a coat that is warm\n  and long\n- shoes",
			sections{{Text: "- a coat that is warm and long\n- shoes"}},
		},
		"a name above its address": {
			"Harbor Clinic\n\nKai 4\n\n20457 Hamburg",
			sections{{Heading: "Harbor Clinic", Text: "Kai 4\n\n20457 Hamburg"}},
		},
		"Japanese": {
			"営業時間\n月曜日から金曜日は9時から18時まで営業しています。",
			sections{{Heading: "営業時間", Text: "月曜日から金曜日は9時から18時まで営業しています。"}},
		},
		"hashes that are no headings": {
			"We are #1 in town.",
			sections{{Text: "We are #1 in town."}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.want, read(t, extract.TypeText, []byte(c.text)).Sections)
		})
	}
}

// In Markdown, too, a line that somebody ended stays one.
func TestMarkdownLines(t *testing.T) {
	d := read(t, extract.TypeMarkdown, []byte("# Hours\n\nMonday 9 to 5\nSunday closed\n\nWe open  \nevery day\nbut one."))
	require.Equal(t, "Monday 9 to 5\nSunday closed\n\nWe open\n\nevery day but one.", d.Sections[0].Text)
}

// Nothing that a text says is lost, whatever it looks like.
func TestNoWordOfATextIsLost(t *testing.T) {
	text := strings.Repeat("Title\n\nAnother title\n\nBody of it.\n\n- item\n", 40_000)
	d := read(t, extract.TypeText, []byte(text))
	bodies := 0
	for _, s := range d.Sections {
		bodies += strings.Count(s.Text, "Body of it.")
	}
	require.Equal(t, 40_000, bodies)
}

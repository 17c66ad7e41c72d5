// Package lexicon is what people ask organizations about, in the words of every
// language: concepts, each with the words that mean it. It is data, written by hand
// in the files under concepts, and the reading of it; what is done with it is the
// business of pkg/text/search, which finds by it, and of pkg/text/answer, which understands.
//
// A file has one concept after the other:
//
//	parking
//	  en parking, car park, park
//	  de parken, Parkplatz, Tiefgarage
//
// A line without indentation is a concept's key, with "light" after it where its
// words say little of what a question is about ("information", "possible"). An indented
// line is a language and its words or phrases, as they are written in it; in
// any inflected form that a stemmer would not bring home. A word may stand under
// several concepts. Lines that begin with # are comments.
//
// Narrow concepts, such as "dog" beside "pets", are rows of tables, and so may light ones
// be: a row that begins with "| key" names the languages of the columns, and each row after
// it is a concept with its words in them:
//
//	| key | en        | de
//	| dog | dog, dogs | Hund, Hunde
package lexicon

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"sync"
)

//go:embed concepts/*.txt
var files embed.FS

// Concept is something that people ask about.
type Concept struct {
	// Key is its name in the files: lower case and underscores.
	Key string
	// Light concepts say little of what a question is about, and Narrow ones more than the
	// others that share a word with them.
	Light, Narrow bool
	// Words are the words and phrases that mean it, by the code of their language.
	Words map[string][]string
}

// Concepts are all concepts, in the order of the files. They are read once and
// belong to everybody.
var Concepts = sync.OnceValue(func() []Concept {
	all, err := read(files)
	if err != nil {
		panic(err) // the files are part of the program, and a test reads them
	}
	return all
})

// Languages are those that the concepts are written in.
func Languages() []string {
	return []string{"en", "de", "fr", "es", "it", "pt", "nl", "pl", "tr", "zh", "ja", "ar"}
}

func read(files fs.FS) ([]Concept, error) {
	names, err := fs.Glob(files, "concepts/*.txt")
	if err != nil {
		return nil, err
	}
	var all []Concept
	seen := map[string]string{}
	for _, name := range names {
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, err
		}
		some, err := parse(string(text))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path.Base(name), err)
		}
		for _, c := range some {
			if before, ok := seen[c.Key]; ok {
				return nil, fmt.Errorf("%s: %s stands in %s already", name, c.Key, before)
			}
			seen[c.Key] = name
		}
		all = append(all, some...)
	}
	return all, nil
}

func parse(text string) ([]Concept, error) {
	var all []Concept
	var columns []string
	n := 0
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimRight(line, " \t\n")
		if line == "" || line[0] == '#' {
			continue
		}
		if row, ok := strings.CutPrefix(line, "|"); ok {
			cells := strings.Split(row, "|")
			if strings.TrimSpace(cells[0]) == "key" {
				columns = cells
				continue
			}
			c, err := parseRow(columns, cells)
			if err != nil {
				return nil, fmt.Errorf("line %d: %w", n, err)
			}
			all = append(all, c)
			continue
		}
		if line[0] != ' ' {
			key, flag, _ := strings.Cut(line, " ")
			if flag != "" && flag != "light" {
				return nil, fmt.Errorf("line %d: %q is not known of a concept", n, flag)
			}
			all = append(all, Concept{Key: key, Light: flag == "light", Words: map[string][]string{}})
			continue
		}
		language, words, ok := strings.Cut(strings.TrimSpace(line), " ")
		if !ok || len(language) != 2 || len(all) == 0 {
			return nil, fmt.Errorf("line %d: %q is not a language and its words", n, line)
		}
		c := &all[len(all)-1]
		c.Words[language] = append(c.Words[language], listed(words)...)
	}
	return all, nil
}

// parseRow reads a narrow concept: its key, and its words by the columns' languages.
func parseRow(columns, cells []string) (Concept, error) {
	key, flag, _ := strings.Cut(strings.TrimSpace(cells[0]), " ")
	if flag != "" && flag != "light" {
		return Concept{}, fmt.Errorf("%q is not known of a concept", flag)
	}
	c := Concept{Key: key, Light: flag == "light", Narrow: flag == "", Words: map[string][]string{}}
	if len(cells) != len(columns) {
		return c, fmt.Errorf("%q has %d cells, and the table %d columns", c.Key, len(cells), len(columns))
	}
	for i, cell := range cells[1:] {
		c.Words[strings.TrimSpace(columns[i+1])] = listed(cell)
	}
	return c, nil
}

func listed(words string) []string {
	var out []string
	for word := range strings.SplitSeq(words, ",") {
		if word = strings.TrimSpace(word); word != "" {
			out = append(out, word)
		}
	}
	return out
}

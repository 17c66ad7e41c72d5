package page

import (
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"sync"

	"golang.org/x/text/language"
)

//go:embed strings/*.json
var stringFiles embed.FS

// fallback is the language of what no other has.
const fallback = "en"

// speech is what the pages say by themselves in a language, by key. "%s" stands
// for what varies.
type speech map[string]string

// speeches are all, by language.
var speeches = sync.OnceValue(func() map[string]speech {
	all := map[string]speech{}
	for _, name := range must(fs.Glob(stringFiles, "strings/*.json")) {
		var s speech
		if err := json.Unmarshal(must(stringFiles.ReadFile(name)), &s); err != nil {
			panic(fmt.Errorf("page: %s: %w", name, err)) // a fault of the program, which every test finds
		}
		all[strings.TrimSuffix(path.Base(name), ".json")] = s
	}
	return all
})

// spoken is what is said in a language, or in the nearest one that is there.
func spoken(code string) speech {
	if s, ok := speeches()[code]; ok {
		return s
	}
	base, _ := language.Make(code).Base()
	if s, ok := speeches()[base.String()]; ok {
		return s
	}
	return speeches()[fallback]
}

// speaks says whether there are strings in a language.
func speaks(code string) bool {
	base, _ := language.Make(code).Base()
	return speeches()[code] != nil || speeches()[base.String()] != nil
}

// say is a text of a key, with what stands for its "%s".
func (s speech) say(key string, with ...string) string {
	text, ok := s[key]
	if !ok {
		text = speeches()[fallback][key]
	}
	for _, w := range with {
		text = strings.Replace(text, "%s", w, 1)
	}
	return text
}

// under are the texts whose keys begin with one of the prefixes, for a script.
func (s speech) under(prefixes ...string) map[string]string {
	found := map[string]string{}
	for key := range speeches()[fallback] {
		for _, p := range prefixes {
			if strings.HasPrefix(key, p) {
				found[key] = s.say(key)
			}
		}
	}
	return found
}

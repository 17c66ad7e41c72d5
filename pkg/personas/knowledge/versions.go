package knowledge

import (
	"slices"
	"sync"

	"visavis.dev/pkg/base/id"
)

// versions are the documents of a pack that say the same in several languages: those of a portal's
// subject, which have its id as a tag. It is safe for concurrent use.
type versions struct {
	mu        sync.RWMutex
	documents map[id.Document]version
	// languages counts the documents of a subject in each language.
	languages map[id.Subject]map[string]int
}

// version is a document of subjects, in a language.
type version struct {
	subjects []id.Subject
	language string
}

func newVersions() *versions {
	return &versions{documents: map[id.Document]version{}, languages: map[id.Subject]map[string]int{}}
}

// put notes what became of a document.
func (v *versions) put(c *change) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.forget(c.Document)
	if !c.Found {
		return
	}
	now := version{language: c.Language}
	for _, tag := range c.Tags {
		if s, err := id.ParseSubject(tag); err == nil {
			now.subjects = append(now.subjects, s)
		}
	}
	if len(now.subjects) == 0 {
		return
	}
	v.documents[c.Document] = now
	for _, s := range now.subjects {
		if v.languages[s] == nil {
			v.languages[s] = map[string]int{}
		}
		v.languages[s][now.language]++
	}
}

func (v *versions) forget(d id.Document) {
	had := v.documents[d]
	delete(v.documents, d)
	for _, s := range had.subjects {
		if v.languages[s][had.language]--; v.languages[s][had.language] == 0 {
			delete(v.languages[s], had.language)
		}
		if len(v.languages[s]) == 0 {
			delete(v.languages, s)
		}
	}
}

// without leaves out the documents of subjects in other languages than the first of these that each
// subject is in; nil where it leaves out none.
func (v *versions) without(languages []string) func(id.Document) bool {
	v.mu.RLock()
	defer v.mu.RUnlock()
	left := map[id.Document]bool{}
	for d, of := range v.documents {
		if !slices.ContainsFunc(of.subjects, func(s id.Subject) bool {
			wanted := slices.IndexFunc(languages, func(code string) bool { return v.languages[s][code] > 0 })
			return wanted < 0 || of.language == "" || languages[wanted] == of.language
		}) {
			left[d] = true
		}
	}
	if len(left) == 0 {
		return nil
	}
	return func(d id.Document) bool { return left[d] }
}

package template

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"

	"sigs.k8s.io/yaml"

	"visavis.dev/pkg/portals/portal"
)

//go:embed templates
var embedded embed.FS

// Gallery is templates that portals can be built from.
type Gallery struct {
	// templates are filled with no answers; asking are as they were written.
	templates, asking []Template
	pictures          map[string][]byte
}

// Load reads the templates that ship with the product. They are read once.
var Load = sync.OnceValues(func() (*Gallery, error) {
	files, err := fs.Sub(embedded, "templates")
	if err != nil {
		return nil, err
	}
	return Parse(files)
})

// Parse reads and checks the templates of a directory.
func Parse(files fs.FS) (*Gallery, error) {
	names, err := fs.Glob(files, "*.yaml")
	if err != nil {
		return nil, err
	}
	g := &Gallery{pictures: map[string][]byte{}}
	for _, name := range names {
		key := strings.TrimSuffix(path.Base(name), ".yaml")
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, err
		}
		t := Template{Definition: portal.Defaults()}
		if err := yaml.UnmarshalStrict(text, &t); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if t.Key != key {
			return nil, fmt.Errorf("%s: its key is %q", name, t.Key)
		}
		if err := t.check(); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if g.pictures[key], err = fs.ReadFile(files, key+".svg"); err != nil {
			return nil, fmt.Errorf("%s has no picture: %w", name, err)
		}
		g.asking, g.templates = append(g.asking, t), append(g.templates, t.Filled(nil))
	}
	return g, nil
}

// Templates lists the templates by their keys.
func (g *Gallery) Templates() []Template { return g.templates }

// Find finds a template by its key.
func (g *Gallery) Find(key string) (Template, bool) {
	i := slices.IndexFunc(g.templates, func(t Template) bool { return t.Key == key })
	if i < 0 {
		return Template{}, false
	}
	return g.templates[i], true
}

// Filled finds a template by its key, and fills it with the answers to its
// questions, by their keys (Template.Filled).
func (g *Gallery) Filled(key string, answers map[string]string) (Template, bool) {
	i := slices.IndexFunc(g.asking, func(t Template) bool { return t.Key == key })
	if i < 0 {
		return Template{}, false
	}
	return g.asking[i].Filled(answers), true
}

// Picture is a template's picture, in SVG.
func (g *Gallery) Picture(key string) ([]byte, bool) {
	picture, ok := g.pictures[key]
	return picture, ok
}

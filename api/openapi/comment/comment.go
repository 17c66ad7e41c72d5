// Package comment reads what the sources of this module say of a type, for the
// descriptions of schemas. It is for generating the documents: a program that
// runs elsewhere has no sources.
package comment

import (
	"fmt"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
)

// module is the path that the module's packages begin with.
const module = "visavis.dev/"

// Reader reads comments of types below a folder, the module's root.
type Reader struct {
	root string
	// types are what the comments of a package's types say, by package and name.
	types map[string]map[string]string
}

// NewReader makes a reader of the module whose root a folder is.
func NewReader(root string) *Reader {
	return &Reader{root: root, types: map[string]map[string]string{}}
}

// Of is what a type's comment says of it, as a sentence that does not begin with
// the type's name: "Avatar is one face." is "One face." It panics where a package
// of the module cannot be read; of a type of another module it is empty.
func (r *Reader) Of(t reflect.Type) string {
	path, ok := strings.CutPrefix(t.PkgPath(), module)
	if !ok {
		return ""
	}
	if r.types[path] == nil {
		types, err := read(filepath.Join(r.root, filepath.FromSlash(path)))
		if err != nil {
			panic(fmt.Errorf("sources of %s: %w", t.PkgPath(), err))
		}
		r.types[path] = types
	}
	name, _, _ := strings.Cut(t.Name(), "[")
	return sentence(name, r.types[path][name])
}

func read(folder string) (map[string]string, error) {
	paths, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		return nil, err
	}
	if len(paths) == 0 {
		return nil, fmt.Errorf("%s: %w", folder, fs.ErrNotExist)
	}
	files := token.NewFileSet()
	var parsed []*ast.File
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(files, path, nil, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		parsed = append(parsed, file)
	}
	p, err := doc.NewFromFiles(files, parsed, folder, doc.AllDecls)
	if err != nil {
		return nil, err
	}
	types := map[string]string{}
	for _, t := range p.Types {
		types[t.Name] = t.Doc
	}
	return types, nil
}

var (
	// section is where a comment names what of the spec it is about.
	section = regexp.MustCompile(`\s*\(spec, [^)]*\)`)
	// being is how most comments go on after the type's name.
	being = regexp.MustCompile(`^(is|are) `)
)

// sentence makes a description of a comment's first paragraph.
func sentence(name, comment string) string {
	paragraph, _, _ := strings.Cut(comment, "\n\n")
	text := strings.Join(strings.Fields(paragraph), " ")
	text = section.ReplaceAllString(text, "")
	text = being.ReplaceAllString(strings.TrimPrefix(text, name+" "), "")
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

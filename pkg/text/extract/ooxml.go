package extract

import (
	"archive/zip"
	"bytes"
	"cmp"
	"context"
	"encoding/xml"
	"errors"
	"io"
	"path"
	"strings"
)

// archive is an OOXML document: parts in a zip.
type archive struct {
	parts   map[string]*zip.File
	builder *builder
	left    int64 // bytes that may still be unpacked: a part may be read many times
}

// openArchive measures an archive before anything of it is unpacked. The sizes it
// states can be believed, since package zip gives no entry more than it states.
func openArchive(data []byte, b *builder) (*archive, error) {
	r, err := openZip(data)
	if err != nil {
		return nil, err
	}
	var total uint64
	a := &archive{parts: map[string]*zip.File{}, builder: b, left: maxUnpacked}
	for _, f := range r.File {
		if total += min(f.UncompressedSize64, maxUnpacked+1); total > maxUnpacked {
			return nil, ErrTooLarge
		}
		a.parts[strings.TrimPrefix(f.Name, "/")] = f
	}
	return a, nil
}

// openZip reads the directory of an archive. Each entry takes some hundred bytes of
// memory, so they are counted by their signature before.
func openZip(data []byte) (*zip.Reader, error) {
	if bytes.Count(data, []byte("PK\x01\x02")) > maxEntries {
		return nil, ErrTooComplex
	}
	return zip.NewReader(bytes.NewReader(data), int64(len(data)))
}

// open opens a part; nil where there is none.
func (a *archive) open(part string) (io.ReadCloser, error) {
	f, ok := a.parts[part]
	if !ok {
		return nil, nil
	}
	size := min(f.UncompressedSize64, maxUnpacked+1)
	if a.left -= int64(size); size > maxPart || a.left < 0 {
		return nil, ErrTooLarge
	}
	return f.Open()
}

// read walks the elements of a part. begin is told of a start, end of an end and text
// of characters; a part that is not there has nothing to tell.
func (a *archive) read(ctx context.Context, part string, w walker) error {
	r, err := a.open(part)
	if r == nil || err != nil {
		return err
	}
	defer r.Close()
	d := xml.NewDecoder(r)
	d.Strict = true
	for depth := 0; ; {
		token, err := d.RawToken()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err := cmp.Or(err, ctx.Err()); err != nil {
			return err
		}
		switch t := token.(type) {
		case xml.StartElement:
			if depth++; depth > maxNesting {
				return ErrTooComplex
			}
			err = cmp.Or(a.builder.element(), w.begin(t))
		case xml.EndElement:
			depth--
			err = w.end(t.Name.Local)
		case xml.CharData:
			w.text(t)
		}
		if err != nil {
			return err
		}
	}
}

// walker is told what a part contains. Names are local ones: prefixes are free to
// choose, and the vocabularies of OOXML do not clash where we look.
type walker interface {
	begin(e xml.StartElement) error
	end(local string) error
	text(data []byte)
}

// attr is an attribute by its local name.
func attr(e xml.StartElement, local string) string {
	for _, a := range e.Attr {
		if a.Name.Local == local {
			return a.Value
		}
	}
	return ""
}

// relation is what a part refers to.
type relation struct {
	kind   string // the last word of its type: slide, notesSlide, …
	target string // the name of a part
}

// relations reads those of a part, by their ids.
func (a *archive) relations(ctx context.Context, part string) (map[string]relation, error) {
	folder, file := path.Split(part)
	r := &relations{folder: folder, found: map[string]relation{}}
	err := a.read(ctx, folder+"_rels/"+file+".rels", r)
	return r.found, err
}

type relations struct {
	folder string
	found  map[string]relation
}

func (r *relations) begin(e xml.StartElement) error {
	if e.Name.Local != "Relationship" || attr(e, "TargetMode") == "External" {
		return nil
	}
	target := attr(e, "Target")
	if !strings.HasPrefix(target, "/") {
		target = path.Join(r.folder, target)
	}
	r.found[attr(e, "Id")] = relation{path.Base(attr(e, "Type")), strings.TrimPrefix(target, "/")}
	return nil
}

func (*relations) end(string) error { return nil }
func (*relations) text([]byte)      {}

// title is what docProps/core.xml calls the document.
func (a *archive) title(ctx context.Context) string {
	t := &titleReader{}
	if err := a.read(ctx, "docProps/core.xml", t); err != nil {
		return "" // a document is no worse for it
	}
	return t.title
}

type titleReader struct {
	inside bool
	title  string
}

func (t *titleReader) begin(e xml.StartElement) error {
	t.inside = e.Name.Local == "title"
	return nil
}

func (t *titleReader) end(string) error {
	t.inside = false
	return nil
}

func (t *titleReader) text(data []byte) {
	if t.inside {
		t.title += string(data)
	}
}

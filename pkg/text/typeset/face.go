// Package typeset writes PDFs of any script: it shapes texts, draws them on pages and embeds the
// glyphs that are used of the fonts that it holds. What a document looks like is its own package's.
package typeset

import (
	"bytes"
	"compress/gzip"
	"embed"
	"fmt"
	"io"
	"sync"

	"github.com/go-text/typesetting/font"
)

//go:embed fonts/*.gz
var files embed.FS

// typeface is a font that is bundled, read when it is first needed and kept.
type typeface struct {
	name string
	read func() (*font.Font, []byte)
}

// typefaces are all, in the order in which a character is looked for. The first writes what
// none has, as boxes.
var typefaces = func() (all []*typeface) {
	for _, name := range []string{
		"NotoSerif-Regular", "NotoNaskhArabic-Regular", "NotoSerifHebrew-Regular", "NotoSerifDevanagari-Regular", "NotoSerifBengali-Regular",
		"NotoSerifGujarati-Regular", "NotoSerifGurmukhi-Regular", "NotoSerifKannada-Regular", "NotoSerifMalayalam-Regular",
		"NotoSerifTamil-Regular", "NotoSerifTelugu-Regular", "NotoSerifSinhala-Regular", "NotoSerifThai-Regular", "NotoSerifLao-Regular",
		"NotoSerifKhmer-Regular", "NotoSerifMyanmar-Regular", "NotoSerifGeorgian-Regular", "NotoSerifArmenian-Regular",
		"NotoSerifEthiopic-Regular", "DroidSansFallbackFull",
	} {
		all = append(all, &typeface{name, sync.OnceValues(func() (*font.Font, []byte) { return load(name) })})
	}
	return all
}()

// load reads a font. That it cannot be read is a fault of the program, which every test finds.
func load(name string) (*font.Font, []byte) {
	packed, err := files.ReadFile("fonts/" + name + ".ttf.gz")
	if err != nil {
		panic(err)
	}
	unpacked, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		panic(fmt.Errorf("typeset: %s: %w", name, err))
	}
	data, err := io.ReadAll(unpacked)
	if err != nil {
		panic(fmt.Errorf("typeset: %s: %w", name, err))
	}
	face, err := font.ParseTTF(bytes.NewReader(data))
	if err != nil {
		panic(fmt.Errorf("typeset: %s: %w", name, err))
	}
	return face.Font, data
}

// faces are the typefaces that one document uses: a face is nobody else's meanwhile.
type faces struct {
	opened map[*typeface]*font.Face
	of     map[*font.Face]*typeface
}

func newFaces() *faces {
	return &faces{map[*typeface]*font.Face{}, map[*font.Face]*typeface{}}
}

func (f *faces) open(t *typeface) *font.Face {
	face, ok := f.opened[t]
	if !ok {
		read, _ := t.read()
		face = font.NewFace(read)
		f.opened[t], f.of[face] = face, t
	}
	return face
}

// ResolveFace implements shaping.Fontmap.
func (f *faces) ResolveFace(r rune) *font.Face {
	for _, t := range typefaces {
		face := f.open(t)
		if _, has := face.NominalGlyph(r); has {
			return face
		}
	}
	return f.open(typefaces[0])
}

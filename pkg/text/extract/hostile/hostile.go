// Package hostile makes small documents that cost their readers a great deal: what
// strangers sent, and what is like it. It is for tests and for trying a deployment.
package hostile

import (
	"archive/zip"
	"bytes"
	"compress/zlib"
	"fmt"
	"io"
	"strings"

	"visavis.dev/pkg/text/extract"
)

// Document is one of them.
type Document struct {
	Name        string
	ContentType string
	// Make makes its content.
	Make func() []byte
	// Fault is what it comes to; nil where reading it may end either way.
	Fault error
}

// Documents are all of them.
func Documents() []Document {
	const w = `xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"`
	word := func(body ...piece) []byte {
		return archive(part{"word/document.xml", append(append([]piece{{`<w:document ` + w + `><w:body>`, 1}}, body...), piece{`</w:body></w:document>`, 1})})
	}
	return []Document{
		{"9 million shared strings", extract.TypeXLSX, func() []byte { return workbook(piece{`<si/>`, 9_000_000}, nil) }, extract.ErrTooComplex},
		{"rich shared strings", extract.TypeXLSX, func() []byte {
			return workbook(piece{`<si>` + strings.Repeat(`<r><rPr><b/></rPr><t>a</t></r>`, 50) + `</si>`, 30_000}, nil)
		}, extract.ErrTooComplex},
		{"a sheet of 10 million cells", extract.TypeXLSX, func() []byte {
			return workbook(piece{}, []piece{{`<row>`, 1}, {`<c><v>1</v></c>`, 10_000_000}, {`</row>`, 1}})
		}, extract.ErrTooLarge},
		{"wide rows", extract.TypeXLSX, func() []byte { return workbook(piece{}, []piece{{`<row><c r="XFD1"><v>1</v></c></row>`, 100_000}}) }, extract.ErrTooComplex},
		{"a row of 28 million cells", extract.TypeDOCX, func() []byte {
			return word(piece{`<w:tbl><w:tr>`, 1}, piece{`<tc/>`, 28_000_000}, piece{`</w:tr></w:tbl>`, 1})
		}, extract.ErrTooLarge},
		{"a row of 5 million cells", extract.TypeDOCX, func() []byte {
			return word(piece{`<w:tbl><w:tr>`, 1}, piece{`<tc/>`, 5_000_000}, piece{`</w:tr></w:tbl>`, 1})
		}, extract.ErrTooComplex},
		{"one long word", extract.TypeDOCX, func() []byte {
			return word(piece{`<w:p><w:r><w:t>`, 1}, piece{strings.Repeat("a", 1<<10), 21 << 10}, piece{`</w:t></w:r></w:p>`, 1})
		}, extract.ErrTooLarge},
		{"a million attributes", extract.TypeDOCX, func() []byte { return word(piece{`<w:p `, 1}, piece{`a="" `, 8_000_000}, piece{`/>`, 1}) }, extract.ErrUnreadable},
		{"a zip bomb", extract.TypeDOCX, func() []byte { return word(piece{strings.Repeat(" ", 1<<10), 300 << 10}) }, extract.ErrTooLarge},
		{"deep XML", extract.TypeDOCX, func() []byte { return word(piece{`<w:tbl>`, 1_000_000}) }, extract.ErrTooComplex},
		{"one slide many times", extract.TypePPTX, slides, extract.ErrTooComplex},
		{"paragraphs of HTML", extract.TypeHTML, func() []byte { return bytes.Repeat([]byte("<p>"), 10<<20/3) }, extract.ErrTooComplex},
		{"formatting of HTML", extract.TypeHTML, formatting, extract.ErrTooComplex},
		{"deep HTML", extract.TypeHTML, func() []byte { return bytes.Repeat([]byte("<div>"), 400_000) }, extract.ErrTooComplex},
		{"deep JSON", extract.TypeJSON, func() []byte { return bytes.Repeat([]byte("["), 10<<20) }, extract.ErrTooComplex},
		{"values of JSON", extract.TypeJSON, func() []byte { return fmt.Appendf(nil, "[0%s]", strings.Repeat(",[]", 5<<20)) }, extract.ErrTooComplex},
		{"sections of JSON", extract.TypeJSON, func() []byte { return fmt.Appendf(nil, "[0%s]", strings.Repeat(",1", 1_900_000)) }, extract.ErrTooLarge},
		{"a line of CSV", extract.TypeCSV, func() []byte { return bytes.Repeat([]byte(","), 10<<20) }, extract.ErrTooComplex},
		{"quotes of CSV", extract.TypeCSV, func() []byte { return bytes.Repeat([]byte(`"a""`), 10<<20/4) }, nil},
		{"lines of text", extract.TypeText, func() []byte { return bytes.Repeat([]byte("a\n"), 25<<20) }, extract.ErrTooComplex},
		{"quotes of Markdown", extract.TypeMarkdown, func() []byte { return bytes.Repeat([]byte("> "), 5<<20) }, extract.ErrTooComplex},
		{"emphasis of Markdown", extract.TypeMarkdown, func() []byte { return bytes.Repeat([]byte(strings.Repeat("*a* ", 500)+"\n\n"), 8_000) }, extract.ErrTooComplex},
		{"paragraphs of Markdown", extract.TypeMarkdown, func() []byte { return bytes.Repeat([]byte("a\n\n"), 6<<20) }, extract.ErrTooComplex},
		{"a table of Markdown", extract.TypeMarkdown, func() []byte {
			return []byte(strings.Repeat("|a", 5_000) + "\n" + strings.Repeat("|-", 5_000) + "\n" + strings.Repeat("a\n", 4_000))
		}, extract.ErrTooComplex},
		{"objects of PDF", extract.TypePDF, func() []byte { return objects(100_000) }, nil},
		{"a stream of PDF that unpacks to 300 MB", extract.TypePDF, func() []byte { return page("/Filter/FlateDecode", deflated(" ", 300<<20)) }, nil},
		{"text of PDF", extract.TypePDF, func() []byte {
			return page("/Filter/FlateDecode", deflated("BT /F 12 Tf 9 9 Td (aaaaaaaaaaaaaaaa) Tj ET ", 80<<20))
		}, nil},
		{"a tree of PDF pages that loops", extract.TypePDF, loop, nil},
		{"a PDF that draws itself", extract.TypePDF, func() []byte { return page("/Subtype/Form", strings.Repeat("/X Do ", 1_000)) }, nil},
	}
}

// piece is a text so many times.
type piece struct {
	text  string
	times int
}

type part struct {
	name   string
	pieces []piece
}

// archive packs parts. What is written repeats itself, so that it packs small.
func archive(parts ...part) []byte {
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, p := range parts {
		f, err := w.Create(p.name)
		must(err)
		for _, s := range p.pieces {
			repeat(f, s.text, s.times)
		}
	}
	must(w.Close())
	return out.Bytes()
}

// repeat writes a text again and again, many at a time.
func repeat(w io.Writer, text string, times int) {
	many := max(1, min(times, 64<<10/max(1, len(text))))
	block := strings.Repeat(text, many)
	for ; times >= many; times -= many {
		_, err := io.WriteString(w, block)
		must(err)
	}
	_, err := io.WriteString(w, strings.Repeat(text, times))
	must(err)
}

func workbook(shared piece, sheet []piece) []byte {
	const (
		head      = `<?xml version="1.0" encoding="UTF-8"?>`
		main      = ` xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"`
		packaging = `http://schemas.openxmlformats.org/package/2006/`
		office    = `http://schemas.openxmlformats.org/officeDocument/2006/relationships`
		kind      = `application/vnd.openxmlformats-officedocument.spreadsheetml.`
	)
	return archive(
		part{"[Content_Types].xml", []piece{{head + `<Types xmlns="` + packaging + `content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>` +
			`<Override PartName="/xl/workbook.xml" ContentType="` + kind + `sheet.main+xml"/><Override PartName="/xl/worksheets/sheet1.xml" ContentType="` + kind + `worksheet+xml"/>` +
			`<Override PartName="/xl/sharedStrings.xml" ContentType="` + kind + `sharedStrings+xml"/></Types>`, 1}}},
		part{"_rels/.rels", []piece{{head + `<Relationships xmlns="` + packaging + `relationships"><Relationship Id="rId1" Type="` + office + `/officeDocument" Target="xl/workbook.xml"/></Relationships>`, 1}}},
		part{"xl/_rels/workbook.xml.rels", []piece{{head + `<Relationships xmlns="` + packaging + `relationships"><Relationship Id="rId1" Type="` + office + `/worksheet" Target="worksheets/sheet1.xml"/>` +
			`<Relationship Id="rId2" Type="` + office + `/sharedStrings" Target="sharedStrings.xml"/></Relationships>`, 1}}},
		part{"xl/workbook.xml", []piece{{head + `<workbook` + main + ` xmlns:r="` + office + `"><sheets><sheet name="S" sheetId="1" r:id="rId1"/></sheets></workbook>`, 1}}},
		part{"xl/worksheets/sheet1.xml", append(append([]piece{{head + `<worksheet` + main + `><sheetData>`, 1}, {`<row r="1"><c r="A1" t="s"><v>0</v></c></row>`, 1}}, sheet...), piece{`</sheetData></worksheet>`, 1})},
		part{"xl/sharedStrings.xml", []piece{{head + `<sst` + main + `>`, 1}, shared, {`</sst>`, 1}}},
	)
}

// slides is a presentation that shows one large slide a thousand times.
func slides() []byte {
	const names = ` xmlns:r="r" xmlns:p="p" xmlns:a="a"`
	return archive(
		part{"ppt/presentation.xml", []piece{{`<p:presentation` + names + `>`, 1}, {`<p:sldId r:id="rId1"/>`, 1000}, {`</p:presentation>`, 1}}},
		part{"ppt/_rels/presentation.xml.rels", []piece{{`<Relationships><Relationship Id="rId1" Type="x/slide" Target="slides/slide1.xml"/></Relationships>`, 1}}},
		part{"ppt/slides/slide1.xml", []piece{{`<p:sld` + names + `>`, 1}, {`<a/>`, 1_300_000}, {`</p:sld>`, 1}}},
	)
}

// formatting is a page that leaves some hundred elements open, which a parser opens again
// in each of its paragraphs.
func formatting() []byte {
	var out bytes.Buffer
	out.WriteString("<div>")
	for i := range 400 {
		fmt.Fprintf(&out, "<b id=%d>", i)
	}
	out.WriteString("</div>")
	repeat(&out, "<p>a</p>", 100_000)
	return out.Bytes()
}

// page is a PDF of one page.
func page(header, content string) []byte {
	return fmt.Appendf(nil, "%%PDF-1.7\n1 0 obj <</Type/Catalog/Pages 2 0 R>> endobj\n2 0 obj <</Type/Pages/Kids[3 0 R]/Count 1>> endobj\n"+
		"3 0 obj <</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 4 0 R/Resources<</Font<</F 5 0 R>>/XObject<</X 4 0 R>>>>>> endobj\n"+
		"4 0 obj <<%s/Length %d>> stream\n%s\nendstream endobj\n5 0 obj <</Type/Font/Subtype/Type1/BaseFont/Helvetica>> endobj\ntrailer <</Root 1 0 R>>",
		header, len(content), content)
}

func loop() []byte {
	return []byte("%PDF-1.7\n1 0 obj <</Type/Catalog/Pages 2 0 R>> endobj\n2 0 obj <</Type/Pages/Kids[3 0 R 2 0 R]/Count 9999999>> endobj\n" +
		"3 0 obj <</Type/Pages/Parent 2 0 R/Kids[2 0 R 3 0 R]/Count 9999999>> endobj\ntrailer <</Root 1 0 R>>")
}

func objects(n int) []byte {
	var out bytes.Buffer
	out.WriteString("%PDF-1.7\n1 0 obj <</Type/Catalog/Pages 2 0 R>> endobj\n2 0 obj <</Type/Pages/Kids[]/Count 0>> endobj\n")
	for i := range n {
		fmt.Fprintf(&out, "%d 0 obj <</A[1 2]>> endobj\n", i+3)
	}
	out.WriteString("trailer <</Root 1 0 R>>")
	return out.Bytes()
}

// deflated is about so many bytes of a text that repeats itself, packed.
func deflated(text string, bytesOfIt int) string {
	var out bytes.Buffer
	w := zlib.NewWriter(&out)
	repeat(w, text, bytesOfIt/len(text))
	must(w.Close())
	return out.String()
}

// must is for writers in memory, which do not fail.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

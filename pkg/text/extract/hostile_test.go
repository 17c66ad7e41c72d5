package extract_test

import (
	"archive/zip"
	"bytes"
	"compress/zlib"
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/text/extract"
)

// zipped makes an archive of names and contents.
func zipped(t testing.TB, parts ...string) []byte {
	t.Helper()
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for i := 0; i+1 < len(parts); i += 2 {
		f, err := w.Create(parts[i])
		require.NoError(t, err)
		_, err = io.WriteString(f, parts[i+1])
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	return out.Bytes()
}

func docx(t testing.TB, body string) []byte {
	return zipped(t, "word/document.xml", `<w:document><w:body>`+body+`</w:body></w:document>`)
}

func deflated(t testing.TB, data string) string {
	t.Helper()
	var out bytes.Buffer
	w := zlib.NewWriter(&out)
	_, err := io.WriteString(w, data)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return out.String()
}

// pdfOf is a file of one page with this stream as its content.
func pdfOf(header, content string) []byte {
	return fmt.Appendf(nil, "%%PDF-1.7\n1 0 obj <</Type/Catalog/Pages 2 0 R>> endobj\n"+
		"2 0 obj <</Type/Pages/Kids[3 0 R 2 0 R]/Count 9999999999>> endobj\n"+
		"3 0 obj <</Type/Page/Parent 2 0 R/Contents 4 0 R/Resources<</Font<</F 5 0 R>>/XObject<</X 4 0 R>>>>>> endobj\n"+
		"4 0 obj <<%s/Length %d>> stream\n%s\nendstream endobj\n"+
		"5 0 obj <</Type/Font/Subtype/Type1/Encoding/WinAnsiEncoding>> endobj\ntrailer <</Root 1 0 R/Prev 0>>", header, len(content), content)
}

func TestHostileDocuments(t *testing.T) {
	many := make([]string, 0, 22_000)
	for i := range 11_000 {
		many = append(many, fmt.Sprintf("p%d", i), "")
	}
	lol := `<!DOCTYPE l [<!ENTITY a "lol"><!ENTITY b "&a;&a;&a;">]><w:document><w:p><w:r><w:t>&b;</w:t></w:r></w:p></w:document>`
	for name, tc := range map[string]struct {
		kind string
		data []byte
		want error
	}{
		"zip bomb":         {extract.TypeDOCX, docx(t, strings.Repeat(" ", 210<<20)), extract.ErrTooLarge},
		"xlsx bomb":        {extract.TypeXLSX, zipped(t, "xl/workbook.xml", strings.Repeat(" ", 210<<20)), extract.ErrTooLarge},
		"many entries":     {extract.TypePPTX, zipped(t, many...), extract.ErrTooComplex},
		"deep XML":         {extract.TypeDOCX, docx(t, strings.Repeat("<w:tbl>", 100_000)), extract.ErrTooComplex},
		"billion laughs":   {extract.TypeDOCX, zipped(t, "word/document.xml", lol), extract.ErrUnreadable},
		"broken XML":       {extract.TypeDOCX, docx(t, "<w:p"), extract.ErrUnreadable},
		"not a zip":        {extract.TypeDOCX, []byte("PK\x03\x04..."), extract.ErrUnreadable},
		"no sheets":        {extract.TypeXLSX, zipped(t, "a", "b"), extract.ErrUnreadable},
		"much text":        {extract.TypeDOCX, docx(t, strings.Repeat("<p><t>"+strings.Repeat("a", 1000)+"</t></p>", 22_000)), extract.ErrTooLarge},
		"deep JSON":        {extract.TypeJSON, []byte(strings.Repeat("[", 1<<20)), extract.ErrTooComplex},
		"broken JSON":      {extract.TypeJSON, []byte(`{"a": 1`), extract.ErrUnreadable},
		"two JSONs":        {extract.TypeJSON, []byte(`{"a": 1} {}`), extract.ErrUnreadable},
		"deep HTML":        {extract.TypeHTML, []byte(strings.Repeat("<div>", 100_000)), extract.ErrTooComplex},
		"empty HTML":       {extract.TypeHTML, []byte("<p> </p>"), extract.ErrEmpty},
		"deep Markdown":    {extract.TypeMarkdown, []byte(strings.Repeat("> ", 2_000) + "a"), extract.ErrTooComplex},
		"empty text":       {extract.TypeText, []byte(" \x00\n"), extract.ErrEmpty},
		"unknown":          {"image/png", nil, extract.ErrUnsupported},
		"encrypted PDF":    {extract.TypePDF, sample(t, "encrypted.pdf"), extract.ErrUnreadable},
		"PDF of nothing":   {extract.TypePDF, []byte("%PDF-1.7\n%%EOF"), extract.ErrUnreadable},
		"PDF without text": {extract.TypePDF, pdfOf("", "0 0 m 10 10 l S"), extract.ErrEmpty},
		"PDF bomb":         {extract.TypePDF, pdfOf("/Filter/FlateDecode", deflated(t, strings.Repeat(" ", 70<<20))), extract.ErrEmpty},
		"PDF of brackets":  {extract.TypePDF, pdfOf("", strings.Repeat("[", 1<<20)), extract.ErrEmpty},
		"PDF of dicts":     {extract.TypePDF, pdfOf("", strings.Repeat("<</A", 1<<20)), extract.ErrEmpty},
		"PDF draws itself": {extract.TypePDF, pdfOf("/Subtype/Form", strings.Repeat("/X Do ", 1000)), extract.ErrEmpty},
		"PDF whose lengths loop": {extract.TypePDF, []byte("%PDF-1.7\n1 0 obj <</Length 1 0 R>> stream\nendstream endobj " +
			"2 0 obj 3 0 R endobj 3 0 obj 2 0 R endobj trailer <</Root 2 0 R>>"), extract.ErrUnreadable},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := extract.Extract(t.Context(), tc.kind, tc.data)
			require.ErrorIs(t, err, tc.want)
		})
	}
}

func TestAPDFWithATornTableIsRead(t *testing.T) {
	content := "BT /F 12 Tf 72 700 Td [(Hel) -20 (lo) -400 (world)] TJ 0 -14 Td (again.) Tj ET"
	d := read(t, extract.TypePDF, pdfOf("/Filter[/FlateDecode]", deflated(t, content)))
	require.Equal(t, []extract.Section{{Text: "Hello world again.", Page: 1}}, d.Sections)
}

func TestCancelling(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, name := range []string{
		"guide.docx", "guide.pptx", "prices.xlsx", "prices.csv", "guide.txt", "guide.json", "guide.md", "guide.html", "guide.pdf",
	} {
		data := sample(t, name)
		kind, err := extract.Detect(name, "", data)
		require.NoError(t, err)
		_, err = extract.Extract(ctx, kind, data)
		require.ErrorIs(t, err, context.Canceled, name)
	}
}

// TestSlowDocuments reads what makes parsers quadratic: without bounds, some of it
// takes minutes.
func TestSlowDocuments(t *testing.T) {
	begin := time.Now()
	defer func() { require.Less(t, time.Since(begin), time.Minute) }()
	for _, s := range []string{"[", "*a_", "![", "`a", "<a ", "- ", "|", "[a](", "\\", "&#", "\n> ", "*a **a "} {
		_, _ = extract.Extract(t.Context(), extract.TypeMarkdown, []byte(strings.Repeat(s, 200_000)))
		_, _ = extract.Extract(t.Context(), extract.TypeHTML, []byte(strings.Repeat(s, 20_000)))
	}
	for _, s := range []string{"<table>", "<b><p>", "<a>", "<h1>", "<li>", "<td>", "<select>", "<table><td>"} {
		_, _ = extract.Extract(t.Context(), extract.TypeHTML, []byte(strings.Repeat(s, 20_000)))
	}
}

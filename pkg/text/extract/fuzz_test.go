package extract_test

import (
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"golang.org/x/text/unicode/norm"

	"visavis.dev/pkg/text/extract"
)

// fuzz reads anything as one format: it must end, and what comes out must be fit for
// a database.
func fuzz(f *testing.F, kind string, seeds ...[]byte) {
	for _, s := range seeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := extract.Extract(t.Context(), kind, data)
		if err != nil {
			require.NotContains(t, err.Error(), "panicked")
			return
		}
		for _, s := range d.Sections {
			fit(t, s.Heading)
			fit(t, s.Text)
			require.LessOrEqual(t, s.Page, d.Pages)
		}
		require.NotEmpty(t, extract.Chunks(d))
	})
}

func fit(t *testing.T, s string) {
	t.Helper()
	require.True(t, utf8.ValidString(s))
	for _, r := range s {
		require.False(t, unicode.IsControl(r) && r != '\n', "%q", s)
	}
	require.True(t, norm.NFC.IsNormalString(s), "%q", s)
}

func FuzzPDF(f *testing.F) {
	fuzz(f, extract.TypePDF, sample(f, "guide.pdf"), sample(f, "encrypted.pdf"), pdfOf("", "BT /F 12 Tf (a) Tj ET BI ID EI q Q /X Do"))
}

func FuzzDOCX(f *testing.F) { fuzz(f, extract.TypeDOCX, sample(f, "guide.docx")) }
func FuzzPPTX(f *testing.F) { fuzz(f, extract.TypePPTX, sample(f, "guide.pptx")) }

// FuzzWord is FuzzDOCX without the archive around it, which hides the XML.
func FuzzWord(f *testing.F) {
	for _, s := range []string{"<p><r><t>a</t></r></p>", "<tbl><tr><tc><p><t>a</t></p></tc></tr></tbl>", "<del><p></p></del>"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, body string) {
		if _, err := extract.Extract(t.Context(), extract.TypeDOCX, docx(t, body)); err != nil {
			require.NotContains(t, err.Error(), "panicked")
		}
	})
}

func FuzzHTML(f *testing.F)     { fuzz(f, extract.TypeHTML, sample(f, "guide.html")) }
func FuzzMarkdown(f *testing.F) { fuzz(f, extract.TypeMarkdown, sample(f, "guide.md")) }
func FuzzJSON(f *testing.F)     { fuzz(f, extract.TypeJSON, sample(f, "guide.json")) }

func FuzzCSV(f *testing.F) {
	fuzz(f, extract.TypeCSV, sample(f, "prices.csv"), []byte("a\tb\n\"c\"\"\td"), []byte("\xff\xfea\x00"))
}

func FuzzText(f *testing.F) { fuzz(f, extract.TypeText, sample(f, "guide.txt")) }

func FuzzDetect(f *testing.F) {
	f.Add("a.html", "text/html; charset=x", []byte("<html>"))
	f.Add("a", "", []byte("PK\x03\x04"))
	f.Fuzz(func(t *testing.T, name, declared string, data []byte) {
		kind, err := extract.Detect(name, declared, data)
		require.Equal(t, err != nil, kind == "")
	})
}

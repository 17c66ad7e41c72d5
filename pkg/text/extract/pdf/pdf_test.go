package pdf_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"
	"golang.org/x/text/unicode/norm"

	"visavis.dev/pkg/text/extract/pdf"
)

const maxText = 1 << 20

// letters are the characters of a text that show something. Where lines break, and what
// is hyphenated there, differs with the page.
func letters(text string) []rune {
	return []rune(strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || unicode.IsControl(r) || r == '-' || r == '\u2010' || r == '\u00ad' {
			return -1
		}
		return r
	}, norm.NFC.String(text)))
}

// inOrder is how many characters of one text are in another in the same order: the length
// of their longest common subsequence.
func inOrder(one, two []rune) int {
	before, row := make([]int, len(two)+1), make([]int, len(two)+1)
	for _, r := range one {
		for j, s := range two {
			if r == s {
				row[j+1] = before[j] + 1
			} else {
				row[j+1] = max(row[j], before[j+1])
			}
		}
		before, row = row, before
	}
	return before[len(two)]
}

// PDFs of several producers and scripts have the text that they were made of
// (testdata/make.py). What is less than whole is what the producer left out, or moved.
func TestTextInScripts(t *testing.T) {
	t.Parallel()
	least := map[string]float64{
		"chrome-arabic": 0.98, "devanagari": 0.95, "latex-ot1": 0.98, "office-arabic": 0.90, "office-japanese": 0.94, "office-korean": 0.93,
		"thai": 0.97,
	}
	files, err := filepath.Glob("testdata/*.pdf")
	require.NoError(t, err)
	require.Len(t, files, 21)
	for _, path := range files {
		name := strings.TrimSuffix(filepath.Base(path), ".pdf")
		t.Run(name, func(t *testing.T) {
			data, err := os.ReadFile(path)
			require.NoError(t, err)
			known, err := os.ReadFile("testdata/" + name + ".txt")
			require.NoError(t, err)
			f, err := pdf.Read(t.Context(), data, maxText)
			if name == "password" {
				require.ErrorIs(t, err, pdf.ErrMalformed)
				return
			}
			require.NoError(t, err)
			got, want := letters(textOf(f)), letters(string(known))
			if len(want) == 0 {
				require.Empty(t, got)
				return
			}
			share := float64(inOrder(got, want)) / float64(max(len(got), len(want)))
			if whole, ok := least[name]; ok {
				require.GreaterOrEqual(t, share, whole, "%s", string(got))
			} else {
				require.InDelta(t, 1, share, 0, "%s", string(got))
			}
		})
	}
}

func textOf(f pdf.File) string {
	var out strings.Builder
	for _, p := range f.Pages {
		for _, l := range p {
			out.WriteString(l.Text + "\n")
		}
	}
	return out.String()
}

// file is a document of one page that shows content in the font F.
func file(content string) []byte {
	return fmt.Appendf(nil, "%%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Count 1/Kids[3 0 R]>>endobj\n"+
		"3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 4 0 R/Resources<</Font<</F 5 0 R>>>>>>endobj\n"+
		"4 0 obj<</Length %d>>stream\n%s\nendstream endobj\n5 0 obj<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>endobj\n"+
		"trailer<</Root 1 0 R>>", len(content), content)
}

// A line knows where it is and how large its letters are, however the page scales them.
func TestLines(t *testing.T) {
	t.Parallel()
	f, err := pdf.Read(t.Context(), file("q 2 0 0 2 0 0 cm BT /F 10 Tf 50 300 Td (A heading) Tj ET Q BT /F 1 Tf 12 0 0 12 100 500 Tm (The text) Tj 0 -1.5 Td (goes on.) Tj ET"), maxText)
	require.NoError(t, err)
	require.Len(t, f.Pages, 1)
	lines := f.Pages[0]
	require.Len(t, lines, 3)
	require.Equal(t, "A heading", lines[0].Text)
	require.InDelta(t, 20, lines[0].Size, 0.1)
	require.InDelta(t, 12, lines[1].Size, 0.1)
	require.InDelta(t, 18, lines[2].Down-lines[1].Down, 0.1)
	require.Greater(t, lines[1].Right, 100.0)
}

func TestTextIsBounded(t *testing.T) {
	t.Parallel()
	f, err := pdf.Read(t.Context(), file("BT /F 10 Tf 50 700 Td ("+strings.Repeat("words ", 1000)+") Tj ET"), 100)
	require.NoError(t, err)
	require.Less(t, len(textOf(f)), 200)
	require.Greater(t, len(textOf(f)), 100)
}

func TestNotAPDF(t *testing.T) {
	t.Parallel()
	for _, data := range []string{"", "%PDF-1.7\n%%EOF", strings.Repeat("[", 1<<16)} {
		_, err := pdf.Read(t.Context(), []byte(data), maxText)
		require.ErrorIs(t, err, pdf.ErrMalformed)
	}
}

package pdf_test

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/extract/pdf"
)

// file is a document of one page that shows content in the font F.
func file(font, content string, objects ...string) string {
	return "%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj 2 0 obj<</Kids[3 0 R]/Resources<</Font<</F 5 0 R>>/XObject<</X 8 0 R>>>>>>endobj\n" +
		"3 0 obj<</Type/Page/Contents 4 0 R>>endobj\n4 0 obj<<>>stream\n" + content + "\nendstream endobj\n5 0 obj" + font + "endobj\n" +
		strings.Join(objects, "\n") + "\ntrailer<</Root 1 0 R>>"
}

const plain = "<</Type/Font/Subtype/Type1/Encoding/WinAnsiEncoding>>"

func show(s string) string { return "BT /F 10 Tf 1 0 0 1 50 700 Tm " + s + " ET" }

func textOf(t *testing.T, data string) string {
	t.Helper()
	f, err := pdf.Open(t.Context(), []byte(data))
	require.NoError(t, err)
	pages, err := f.Pages()
	require.NoError(t, err)
	var lines []string
	for _, p := range pages {
		for _, l := range p {
			lines = append(lines, l.Text)
		}
	}
	return strings.Join(lines, "|")
}

func TestText(t *testing.T) {
	const toUnicode = "6 0 obj<<>>stream\n1 begincodespacerange <0000> <ffff> endcodespacerange\n" +
		"1 beginbfchar <0001> <00660069> endbfchar 2 beginbfrange <0010> <0012> <0041> <0020> <0021> [<0061> <D83DDE00>] endbfrange\nendstream endobj"
	const composite = "<</Subtype/Type0/Encoding/Identity-H/ToUnicode 6 0 R/DescendantFonts[<</DW 500/W[1[300] 16 18 600]>>]>>"
	for name, tc := range map[string]struct{ data, want string }{
		"a string":             {file(plain, show("(a \\(b\\) \\351\\\n) Tj")), "a (b) é"},
		"a hex string":         {file(plain, show("<61 62 6> Tj")), "ab`"},
		"kerning and a space":  {file(plain, show("[(A) 50 (V) -300 (b)] TJ")), "AV b"},
		"lines":                {file(plain, show("(a) Tj 0 -12 Td (b) Tj 12 TL T* (c) Tj (d) ' 0 0 (e) \"")), "a|b|c|d|e"},
		"columns":              {file(plain, show("(right) Tj -40 0 Td (left) Tj")), "right|left"},
		"an index":             {file(plain, show("(H) Tj 5 -2 Td (2) Tj 5 2 Td (O) Tj")), "H2O"},
		"turned":               {file(plain, "BT /F 10 Tf 0 1 -1 0 50 50 Tm (up) Tj 30 0 Td (wards) Tj ET"), "up wards"},
		"marked by the matrix": {file(plain, "q 2 0 0 2 0 0 cm "+show("(a) Tj")+" Q "+show("0 -100 Td (b) Tj")), "a|b"},
		"an inline image":      {file(plain, "BI /W 1 ID (Tj EIx) \n EI "+show("(a) Tj")), "a"},
		"a form":               {file(plain, "/X Do", "8 0 obj<</Subtype/Form>>stream\n"+show("(a) Tj")+" /X Do\nendstream endobj"), "a"},
		"differences":          {file("<</Subtype/Type1/Encoding<</Differences[65/eacute/uni0394/fi/a.alt/Scaron/unknown]>>>>", show("(ABCDEF) Tj")), "éΔfiaŠ"},
		"standard encoding":    {file("<</Subtype/Type1>>", show("(\\252a\\272 \\256) Tj")), "“a” fi"},
		"Mac Roman":            {file("<</Subtype/TrueType/Encoding/MacRomanEncoding>>", show("(\\216) Tj")), "é"},
		"ToUnicode":            {file(composite, show("<0001001000110012002000210099> Tj"), toUnicode), "fiABCa😀"},
		"UTF-16 codes":         {file("<</Subtype/Type0/Encoding/UniGB-UCS2-H>>", show("<535A7269> Tj")), "博物"},
		"a newer object":       {file(plain, show("(old) Tj"), "4 0 obj<<>>stream\n"+show("(new) Tj")+"\nendstream endobj"), "new"},
		"hexadecimal":          {file(plain, "", "4 0 obj<</Filter/AHx>>stream\n"+fmt.Sprintf("%x>", show("(a) Tj"))+"\nendstream endobj"), "a"},
		"run lengths": {
			file(plain, "", "4 0 obj<</Filter[/RL]>>stream\n\x18BT /F 10 Tf 1 0 0 1 50 700\xfe \x0bTm (run) Tj \x01ET\x80\nendstream endobj"), "run",
		},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, tc.want, textOf(t, tc.data)) })
	}
}

// Most files of today keep their objects in compressed streams, with a predictor.
func TestObjectStreams(t *testing.T) {
	objects := []string{"<</Type/Catalog/Pages 2 0 R>>", "<</Kids[3 0 R]>>", "<</Type/Page/Contents 9 0 R/Resources<</Font<</F 5 0 R>>>>>>"}
	var index, body string
	for i, o := range append(objects, plain) {
		n := i + 1
		if o == plain {
			n = 5
		}
		index += fmt.Sprintf("%d %d ", n, len(body))
		body += o + " "
	}
	raw := index + body
	raw += strings.Repeat(" ", (8-len(raw)%8)%8)
	for kind, undo := range map[byte]func(row, above []byte, i int) byte{
		0: func(_, _ []byte, _ int) byte { return 0 },
		1: func(row, _ []byte, i int) byte {
			if i == 0 {
				return 0
			}
			return row[i-1]
		},
		2: func(_, above []byte, i int) byte { return above[i] },
	} {
		var packed bytes.Buffer
		w := zlib.NewWriter(&packed)
		above := make([]byte, 8)
		for at := 0; at < len(raw); at += 8 {
			row := []byte(raw[at : at+8])
			line := []byte{kind}
			for i, c := range row {
				line = append(line, c-undo(row, above, i))
			}
			_, err := w.Write(line)
			require.NoError(t, err)
			above = row
		}
		require.NoError(t, w.Close())
		data := "%PDF-1.5\n9 0 obj<<>>stream\n" + show("(packed) Tj") + "\nendstream endobj\n" +
			fmt.Sprintf("7 0 obj<</Type/ObjStm/N 4/First %d/Filter/FlateDecode/DecodeParms<</Predictor 12/Columns 8>>/Length %d>>stream\n%s\nendstream endobj\n",
				len(index), packed.Len(), packed.String()) +
			"8 0 obj<</Type/XRef/Root 1 0 R/Size 99999999999999/W[9999999999 2 1]>>stream\nendstream endobj\nstartxref 0 %%EOF"
		require.Equal(t, "packed", textOf(t, data))
	}
}

func TestEncrypted(t *testing.T) {
	_, err := pdf.Open(t.Context(), []byte(file(plain, "")+" trailer<</Encrypt 6 0 R>>"))
	require.ErrorIs(t, err, pdf.ErrEncrypted)
}

func FuzzPages(f *testing.F) {
	f.Add(file(plain, show("(a) Tj [(b) -300] TJ")))
	f.Add(file("<</Subtype/Type0/ToUnicode 4 0 R/DescendantFonts[<</W[1 2 3 4[5]]>>]>>", "1 begincodespacerange <00> <ff> endcodespacerange"))
	f.Add(file(plain, "/X Do", "8 0 obj<</Subtype/Form/Filter[/A85/RL/LZW]>>stream\nxyz~>\nendstream endobj"))
	f.Fuzz(func(t *testing.T, data string) {
		file, err := pdf.Open(t.Context(), []byte(data))
		if err != nil {
			return
		}
		_, _ = file.Pages()
		_ = file.Title()
	})
}

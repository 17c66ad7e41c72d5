package extract_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/text/extract"
)

func sample(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	require.NoError(t, err)
	return data
}

func read(t testing.TB, contentType string, data []byte) extract.Document {
	t.Helper()
	d, err := extract.Extract(t.Context(), contentType, data)
	require.NoError(t, err)
	return d
}

func TestExtract(t *testing.T) {
	for name, want := range map[string]extract.Document{
		"guide.docx": {Title: "Visitor guide", ContentType: extract.TypeDOCX, Sections: []extract.Section{
			{Heading: "Opening hours", Text: "The museum opens at nine."},
			{Heading: "Tickets", Text: "Ticket: Adult; Price: 12\n\n- Bring a coat"},
		}},
		"guide.pptx": {Title: "Visitor guide", ContentType: extract.TypePPTX, Pages: 2, Sections: []extract.Section{
			{Heading: "Tickets", Text: "Adults pay twelve euros.\n\nSay that children enter for free.", Page: 1},
			{Heading: "Thank you", Text: "Thank you", Page: 2},
		}},
		"prices.xlsx": {Title: "Price list", ContentType: extract.TypeXLSX, Sections: []extract.Section{
			{Heading: "Prices", Text: "Ticket: Adult; Price: 12.5; Note: Valid all day.\nTicket: Child; Price: 0"},
		}},
		"prices.csv": {ContentType: extract.TypeCSV, Sections: []extract.Section{
			{Text: "Ticket: Adult; Price: 12,50; Note: Valid all day; not on Mondays\nTicket: Café; Price: 3,00"},
		}},
		"guide.txt": {ContentType: extract.TypeText, Sections: []extract.Section{
			{Text: "The museum opens at nine and closes at six.\n\nBring:\n\n- a coat\n- good shoes"},
		}},
		"guide.json": {ContentType: extract.TypeJSON, Sections: []extract.Section{
			{Heading: "hours", Text: "open: 09:00\ndays.1: Tuesday\ndays.2: Wednesday"},
			{Heading: "tickets", Text: "1.kind: adult\n1.price: 12.50"},
			{Heading: "free", Text: "true"},
		}},
		"guide.md": {Title: "Visitor guide", ContentType: extract.TypeMarkdown, Sections: []extract.Section{
			{Heading: "Visitor guide", Text: "The museum opens at nine & closes at six."},
			{Heading: "Tickets", Text: "Ticket: Adult; Price: 12\nTicket: Child; Price: free\n\n- Buy one\n- Come in\n\nopen --wide"},
		}},
		"guide.html": {Title: "Visitor & group guide", ContentType: extract.TypeHTML, Sections: []extract.Section{
			{Heading: "Guide", Text: "The museum opens at nine."},
			{Heading: "Tickets", Text: "- Adults pay twelve euros\n- Children enter for free\n\nDay: Monday; Hours: closed"},
		}},
		"guide.pdf": {Title: "Opening hours", ContentType: extract.TypePDF, Pages: 3, Sections: []extract.Section{
			{Heading: "When we are open", Page: 1, Text: "The museum opens at nine in the morning and closes at six in the evening. " +
				"On Mondays it stays closed, except on public holidays. The café in the courtyard is open until seven."},
			{Heading: "Tickets", Page: 2, Text: "A ticket costs twelve euros. Children under ten enter for free. Groups of more than eight " +
				"people should write to us a week before they come, so that somebody can show them around the garden."},
			{Heading: "How to find us", Page: 3, Text: "Take tram number four to the last stop and walk along the river for five minutes. " +
				"There is no parking in front of the museum."},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			data := sample(t, name)
			kind, err := extract.Detect(name, "application/octet-stream", data)
			require.NoError(t, err)
			require.Equal(t, want, read(t, kind, data))
		})
	}
}

func TestEncodings(t *testing.T) {
	for name, data := range map[string]string{
		"UTF-8": "a;b\nä;ö", "with a mark": "\xef\xbb\xbfa;b\nä;ö", "Windows-1252": "a;b\n\xe4;\xf6",
		"UTF-16 little": "\xff\xfea\x00;\x00b\x00\n\x00\xe4\x00;\x00\xf6\x00", "UTF-16 big": "\xfe\xff\x00a\x00;\x00b\x00\n\x00\xe4\x00;\x00\xf6",
		"UTF-16 without a mark": "a\x00;\x00b\x00\n\x00\xe4\x00;\x00\xf6\x00", "tabs": "a\tb\nä\tö", "commas": "a,b\nä,ö",
		"announced": "sep=;\na;b\nä;ö", "old Mac": "a;b\rä;ö", "decomposed": "a;b\na\u0308;o\u0308", "NULs": "a;b\nä\x00;ö\x07",
	} {
		require.Equal(t, "a: ä; b: ö", read(t, extract.TypeCSV, []byte(data)).Sections[0].Text, name)
	}
}

func TestDetect(t *testing.T) {
	const none = ""
	for name, tc := range map[string]struct{ file, declared, data, want string }{
		"content before name":     {"a.txt", "", "%PDF-1.7\n", extract.TypePDF},
		"name before declaration": {"a.md", "text/html", "x", extract.TypeMarkdown},
		"declared":                {"a", "Text/HTML; charset=utf-8", "x", extract.TypeHTML},
		"declared XHTML":          {"a", "application/xhtml+xml", "x", extract.TypeHTML},
		"page called text":        {"a", "text/plain", " <!DOCTYPE html><p>", extract.TypeHTML},
		"JSON by content":         {"a", "", `{"a": 1}`, extract.TypeJSON},
		"text at last":            {"", "", "hello", extract.TypeText},
		"style sheet":             {"a.css", "text/css", "p{}", none},
		"picture":                 {"a.txt", "text/plain", "\x89PNG\r\n\x1a\n\x00\x00\x00\x0dIHDR\x00\x00", none},
		"old Word":                {"a.doc", "application/msword", "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\x00\x00\x00", none},
		"zip of other things":     {"a.docx", extract.TypeDOCX, "PK\x03\x04", none},
		"unknown name":            {"a.exe", "application/octet-stream", "text", none},
	} {
		kind, err := extract.Detect(tc.file, tc.declared, []byte(tc.data))
		require.Equal(t, tc.want, kind, name)
		if tc.want == none {
			require.ErrorIs(t, err, extract.ErrUnsupported, name)
		}
	}
}

// A heading is kept with each passage below it, so that a long one is text, and only its
// beginning a heading.
func TestALongHeadingIsText(t *testing.T) {
	long := strings.TrimSpace(strings.Repeat("heading ", 30_000))
	paragraph := "What is below it."
	for kind, data := range map[string][]byte{
		extract.TypeMarkdown: []byte("# " + long + "\n\n" + paragraph + "\n"),
		extract.TypeHTML:     []byte("<h1>" + long + "</h1><p>" + paragraph),
		extract.TypeDOCX: docx(t, `<w:p><w:pPr><w:pStyle w:val="Heading1"/></w:pPr><w:r><w:t>`+long+`</w:t></w:r></w:p>`+
			`<w:p><w:r><w:t>`+paragraph+`</w:t></w:r></w:p>`),
	} {
		d := read(t, kind, data)
		require.Len(t, d.Sections, 1, kind)
		require.Less(t, len(d.Sections[0].Heading), 600, kind)
		require.True(t, strings.HasPrefix(d.Sections[0].Heading, "heading heading"), kind)
		require.Equal(t, long+"\n\n"+paragraph, d.Sections[0].Text, kind)
	}
}

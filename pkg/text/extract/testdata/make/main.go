// Command make writes the documents of this folder that are made by hand:
//
//	go run ./pkg/text/extract/testdata/make pkg/text/extract/testdata
//
// guide.pdf and encrypted.pdf were written once with github.com/go-pdf/fpdf. All the
// words in them are dedicated to the public domain (CC0 1.0).
package main

import (
	"archive/zip"
	"bytes"
	"log"
	"os"
	"path/filepath"

	"github.com/xuri/excelize/v2"
)

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: make <folder>")
	}
	for name, content := range map[string][]byte{
		"guide.docx": archive(word), "guide.pptx": archive(slides), "prices.xlsx": sheet(),
		"prices.csv": []byte(prices), "guide.html": []byte(html), "guide.md": []byte(markdown),
		"guide.txt": []byte(text), "guide.json": []byte(json),
	} {
		if err := os.WriteFile(filepath.Join(os.Args[1], name), content, 0o600); err != nil {
			log.Fatal(err)
		}
	}
}

// part is a file of an archive; archives keep their order, so that they come out the
// same each time.
type part struct{ name, content string }

func archive(parts []part) []byte {
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, p := range parts {
		f, err := w.Create(p.name)
		if err != nil {
			log.Fatal(err)
		}
		if _, err := f.Write([]byte(p.content)); err != nil {
			log.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		log.Fatal(err)
	}
	return out.Bytes()
}

func sheet() []byte {
	book := excelize.NewFile()
	for _, err := range []error{
		book.SetSheetName("Sheet1", "Prices"),
		book.SetSheetRow("Prices", "A1", &[]any{"Ticket", "Price", "Note"}),
		book.SetSheetRow("Prices", "A2", &[]any{"Adult", 12.5, "Valid all day."}),
		book.SetSheetRow("Prices", "A4", &[]any{"Child", 0, nil}),
		book.SetDocProps(&excelize.DocProperties{Title: "Price list"}),
	} {
		if err != nil {
			log.Fatal(err)
		}
	}
	var out bytes.Buffer
	if err := book.Write(&out); err != nil {
		log.Fatal(err)
	}
	return out.Bytes()
}

const prices = "Ticket;Price;Note\r\nAdult;12,50;\"Valid all day; not on Mondays\"\r\nCaf\xe9;3,00;\r\n"

const text = "The museum opens at nine\nand closes at six.\n\nBring:\n- a coat\n- good shoes\n"

const json = `{"hours": {"open": "09:00", "days": ["Tuesday", "Wednesday"]}, "tickets": [{"kind": "adult", "price": 12.50}], "free": true}`

const markdown = "---\ntags: [guide]\n---\n# Visitor guide\n\nThe museum **opens** at [nine](https://example.com) &amp; closes\nat six.\n\n" +
	"## Tickets\n\n| Ticket | Price |\n|---|---|\n| Adult | 12 |\n| Child | `free` |\n\n1. Buy one\n2. Come in\n\n```\nopen --wide\n```\n"

const html = `<!doctype html><html><head><title>Visitor &amp; group guide</title><style>p{}</style></head><body>
<nav><a href="/">Home</a></nav><header>Site header</header>
<main><h1>Guide</h1><p>The museum opens at <b>nine</b>.</p><script>track()</script>
<h2>Tickets</h2><ul><li>Adults pay twelve euros</li><li><p>Children enter for free</p></li></ul>
<p hidden>Nobody sees this.</p><p style="display: none">Nor this.</p>
<table><tr><th>Day</th><th>Hours</th></tr><tr><td>Monday</td><td>closed</td></tr></table><aside>An advertisement</aside></main>
<footer>Imprint</footer></body></html>`

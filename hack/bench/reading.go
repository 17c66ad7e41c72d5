package main

import (
	"archive/zip"
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"visavis.dev/pkg/text/extract"
	"visavis.dev/pkg/text/extract/sandbox"
	"visavis.dev/pkg/text/extract/sandbox/sandboxtest"
)

// readTimes is how often each document is read, each way.
const readTimes = 20

// reading measures what it costs to read a document in a process of its own, beside the
// same in this process: a short text, where all of it is the process, a long Word file, and
// a PDF.
func reading(ctx context.Context, _ *fixture) error {
	r, err := sandbox.New(1, sandbox.Default())
	if err != nil {
		return err
	}
	defer r.Close() //nolint:errcheck // a folder of temporary files
	guide, err := os.ReadFile(filepath.Join("pkg", "text", "extract", "testdata", "guide.pdf"))
	if err != nil {
		return err
	}
	long, err := wordFile(20_000)
	if err != nil {
		return err
	}
	for _, d := range []struct {
		name, contentType string
		data              []byte
	}{
		{"text", extract.TypeText, []byte(words(documentWords))}, {"word", extract.TypeDOCX, long}, {"pdf", extract.TypePDF, guide},
	} {
		here, err := readOften(ctx, extract.Here, d.contentType, d.data)
		if err != nil {
			return err
		}
		var child float64
		peak := sandboxtest.Peak(func() { child, err = readOften(ctx, r.Read, d.contentType, d.data) })
		if err != nil {
			return err
		}
		report("Reading/"+d.name+"/floor", readTimes, figure{here, "p50-ms"})
		report("Reading/"+d.name+"/child", readTimes, figure{child, "p50-ms"}, figure{float64(peak) / (1 << 20), "peak-MiB"})
		report("Reading/"+d.name+"/ratio", 1, figure{child / here, "p50-x"}, figure{child - here, "more-ms"})
	}
	return nil
}

// readOften is the median of the milliseconds, after a first time that compiles.
func readOften(ctx context.Context, read extract.Read, contentType string, data []byte) (float64, error) {
	var took []time.Duration
	for range readTimes + 1 {
		began := time.Now()
		if _, err := read(ctx, contentType, int64(len(data)), bytes.NewReader(data)); err != nil {
			return 0, fmt.Errorf("read %s: %w", contentType, err)
		}
		took = append(took, time.Since(began))
	}
	took = took[1:]
	slices.Sort(took)
	return took[len(took)/2].Seconds() * 1000, nil
}

// wordFile is a Word file of so many paragraphs.
func wordFile(paragraphs int) ([]byte, error) {
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	f, err := w.Create("word/document.xml")
	if err != nil {
		return nil, err
	}
	var body strings.Builder
	body.WriteString("<w:document><w:body>")
	for range paragraphs {
		body.WriteString("<w:p><w:r><w:t>" + words(30) + "</w:t></w:r></w:p>")
	}
	body.WriteString("</w:body></w:document>")
	if _, err := f.Write([]byte(body.String())); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

package extract

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
)

// Content types that [Detect] gives and [Extract] takes.
const (
	TypePDF      = "application/pdf"
	TypeDOCX     = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
	TypePPTX     = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
	TypeXLSX     = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
	TypeCSV      = "text/csv"
	TypeText     = "text/plain"
	TypeMarkdown = "text/markdown"
	TypeHTML     = "text/html"
	TypeJSON     = "application/json"
)

// Why a document gives no text.
var (
	ErrUnsupported = errors.New("documents of this kind cannot be read")
	ErrUnreadable  = errors.New("the document is damaged or encrypted")
	ErrEmpty       = errors.New("the document has no text")
	ErrTooLarge    = errors.New("the document has too many bytes, packed, unpacked or of text")
	ErrTooComplex  = errors.New("the document has too many parts, or they are nested too deeply")
)

// ErrKilled says that the process that read the document was killed within its limits. Where
// that happens every time, the document may have to do with it.
var ErrKilled = errors.New("the process that read the document was killed")

// Section is the text under one heading, on one page.
type Section struct {
	Heading string // the nearest; empty before the first
	Text    string
	Page    int // 1-based; 0 where the format has no pages
}

// Document is what a file says.
type Document struct {
	Title       string // empty if it names none
	ContentType string
	Pages       int // 0 where the format has no pages
	Sections    []Section
}

// Read reads a document of a type that [Detect] gave, of so many bytes. An error that is
// not [IsFault] says that the document could not be read now.
type Read func(ctx context.Context, contentType string, size int64, document io.Reader) (Document, error)

// IsFault says whether an error is the document's: another time it is the same.
func IsFault(err error) bool {
	return slices.ContainsFunc(faults, func(known error) bool { return errors.Is(err, known) })
}

var faults = []error{ErrUnsupported, ErrUnreadable, ErrEmpty, ErrTooLarge, ErrTooComplex}

// Here is a [Read] in this process. A document of strangers can take all its memory, so it
// is for those that are ours: in tests, and to compare with (see package sandbox).
func Here(ctx context.Context, contentType string, size int64, document io.Reader) (Document, error) {
	data := make([]byte, size)
	if _, err := io.ReadFull(document, data); err != nil {
		return Document{}, err
	}
	return Extract(ctx, contentType, data)
}

// extractor reads one format into a builder.
type extractor func(ctx context.Context, data []byte, b *builder) error

var extractors = map[string]extractor{
	TypePDF:      extractPDF,
	TypeDOCX:     extractDOCX,
	TypePPTX:     extractPPTX,
	TypeXLSX:     extractXLSX,
	TypeCSV:      extractCSV,
	TypeText:     extractText,
	TypeMarkdown: extractMarkdown,
	TypeHTML:     extractHTML,
	TypeJSON:     extractJSON,
}

// Extract reads a document of a type that [Detect] gave. The error is, or wraps,
// [ErrUnsupported], [ErrUnreadable], [ErrEmpty], [ErrTooLarge], [ErrTooComplex] or the
// context's.
func Extract(ctx context.Context, contentType string, data []byte) (d Document, err error) {
	read, ok := extractors[contentType]
	switch {
	case !ok:
		return Document{}, ErrUnsupported
	case len(data) > MaxBytes:
		return Document{}, ErrTooLarge
	}
	defer func() {
		if v := recover(); v != nil {
			d, err = Document{}, fmt.Errorf("%w: reading it panicked: %v", ErrUnreadable, v)
		}
	}()
	b := &builder{}
	if err := read(ctx, data, b); err != nil {
		return Document{}, classify(ctx, err)
	}
	if b.close(); b.err != nil {
		return Document{}, b.err
	}
	if len(b.document.Sections) == 0 {
		return Document{}, ErrEmpty
	}
	b.document.ContentType = contentType
	b.document.Title = clean(b.document.Title)
	return b.document, nil
}

// classify makes every error one of ours. Whatever a library says of a document
// means that it is damaged.
func classify(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if IsFault(err) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrUnreadable, err)
}

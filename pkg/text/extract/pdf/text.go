package pdf

import (
	"context"
	"errors"
	"fmt"

	"github.com/klippa-app/go-pdfium"
	"github.com/klippa-app/go-pdfium/references"
	"github.com/klippa-app/go-pdfium/requests"
)

// maxPages bounds the pages of a file.
const maxPages = 10_000

var (
	// ErrMalformed is the failure of a file that is damaged or needs a password, or with
	// which pdfium came to grief.
	ErrMalformed = errors.New("pdfium cannot read the file")
	// ErrTooManyPages is the failure of a file with more than are read.
	ErrTooManyPages = errors.New("the PDF has too many pages")
)

// Line is a line of text. Lengths are points (1/72 inch); Down grows from line to line.
type Line struct {
	Text        string
	Right, Down float64
	Size        float64 // of the letters
}

// File is a PDF as far as it is text.
type File struct {
	Title string
	Pages [][]Line // a page without text has none
}

// Read reads a file of at most so many bytes of text. The error is ErrMalformed,
// ErrTooManyPages or the context's, or says that pdfium does not start.
func Read(ctx context.Context, data []byte, maxText int) (f File, err error) {
	s, err := sandbox()
	if err != nil {
		return File{}, err
	}
	defer func() {
		if p := recover(); p != nil {
			f, err = File{}, fmt.Errorf("%w: %v", ErrMalformed, p)
		}
		_ = s.Close() // one that broke cannot clean up after itself, and is gone all the same
	}()
	r := &reader{Pdfium: s, left: maxText}
	if err := r.read(ctx, data); err != nil {
		return File{}, err
	}
	return r.file, nil
}

// reader reads one file.
type reader struct {
	pdfium.Pdfium
	document references.FPDF_DOCUMENT
	file     File
	left     int // bytes of text that may still come
}

func (r *reader) read(ctx context.Context, data []byte) error {
	opened, err := r.OpenDocument(&requests.OpenDocument{File: &data})
	if err != nil {
		return fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	r.document = opened.Document
	count, err := r.FPDF_GetPageCount(&requests.FPDF_GetPageCount{Document: r.document})
	switch {
	case err != nil:
		return fmt.Errorf("%w: %w", ErrMalformed, err)
	case count.PageCount > maxPages:
		return ErrTooManyPages
	case count.PageCount == 0:
		return ErrMalformed
	}
	if title, err := r.FPDF_GetMetaText(&requests.FPDF_GetMetaText{Document: r.document, Tag: "Title"}); err == nil {
		r.file.Title = title.Value
	}
	for i := range count.PageCount {
		if err := ctx.Err(); err != nil {
			return err
		}
		lines, err := r.page(i)
		if err != nil {
			return fmt.Errorf("%w: page %d: %w", ErrMalformed, i+1, err)
		}
		r.file.Pages = append(r.file.Pages, lines)
	}
	return nil
}

// page reads a page's lines.
func (r *reader) page(i int) (lines []Line, err error) {
	loaded, err := r.FPDF_LoadPage(&requests.FPDF_LoadPage{Document: r.document, Index: i})
	if err != nil {
		return nil, nil // a page that is broken has no text; others may
	}
	defer func() {
		_, closed := r.FPDF_ClosePage(&requests.FPDF_ClosePage{Page: loaded.Page})
		err = errors.Join(err, closed)
	}()
	page := requests.Page{ByReference: &loaded.Page}
	noted, err := r.FPDFPage_GetAnnotCount(&requests.FPDFPage_GetAnnotCount{Page: page})
	if err != nil {
		return nil, err
	}
	if noted.Count > 0 {
		// What a form's fields say becomes a part of the page. One that cannot be, stays out.
		_, _ = r.FPDFPage_Flatten(&requests.FPDFPage_Flatten{Page: page, Usage: requests.FPDFPage_FlattenUsageNormalDisplay})
		if page, err = r.again(i); err != nil {
			return nil, err
		}
		defer func() {
			_, closed := r.FPDF_ClosePage(&requests.FPDF_ClosePage{Page: *page.ByReference})
			err = errors.Join(err, closed)
		}()
	}
	text, err := r.FPDFText_LoadPage(&requests.FPDFText_LoadPage{Page: page})
	if err != nil {
		return nil, err
	}
	defer func() {
		_, closed := r.FPDFText_ClosePage(&requests.FPDFText_ClosePage{TextPage: text.TextPage})
		err = errors.Join(err, closed)
	}()
	return r.lines(text.TextPage)
}

// again loads a page that changed.
func (r *reader) again(i int) (requests.Page, error) {
	loaded, err := r.FPDF_LoadPage(&requests.FPDF_LoadPage{Document: r.document, Index: i})
	if err != nil {
		return requests.Page{}, err
	}
	return requests.Page{ByReference: &loaded.Page}, nil
}

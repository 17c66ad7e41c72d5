package extract

import (
	"bytes"
	"cmp"
	"context"

	"github.com/xuri/excelize/v2"
)

// extractXLSX reads every sheet as a table under its name, row by row. Hidden sheets
// are skipped: what the author hid is not what the document says.
func extractXLSX(ctx context.Context, data []byte, b *builder) error {
	a, err := openArchive(data, b)
	if err != nil {
		return err
	}
	if err := (&survey{archive: a}).run(ctx); err != nil {
		return err
	}
	// The archive was measured, so no part of it goes to a file on the way.
	book, err := excelize.OpenReader(bytes.NewReader(data), excelize.Options{
		UnzipSizeLimit: maxUnpacked, UnzipXMLSizeLimit: maxUnpacked,
	})
	if err != nil {
		return err
	}
	defer func() { _ = book.Close() }()
	if properties, err := book.GetDocProps(); err == nil {
		b.document.Title = properties.Title
	}
	for _, sheet := range book.GetSheetList() {
		if visible, err := book.GetSheetVisible(sheet); err == nil && !visible {
			continue
		}
		if err := extractSheet(ctx, book, sheet, b); err != nil {
			return err
		}
	}
	return nil
}

func extractSheet(ctx context.Context, book *excelize.File, sheet string, b *builder) error {
	rows, err := book.Rows(sheet)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	b.startHeading(sheet)
	t, n := &table{builder: b}, 0
	for rows.Next() {
		cells, err := rows.Columns()
		if err != nil {
			return err
		}
		if len(cells) > 0 {
			n++
		}
		if err := cmp.Or(b.cell(len(cells)), t.row(ctx, cells)); err != nil {
			return err
		}
	}
	t.end(n)
	return rows.Error()
}

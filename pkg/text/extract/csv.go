package extract

import (
	"context"
	"encoding/csv"
	"errors"
	"io"
	"strings"
)

// extractCSV reads what spreadsheets export, in their encodings and with their
// delimiters. A row with a stray quote is read as it stands.
func extractCSV(ctx context.Context, data []byte, b *builder) error {
	content := newlines(decode(data))
	delimiter := sniffDelimiter(content)
	// Excel says so itself where it can.
	if rest, ok := strings.CutPrefix(content, "sep="); ok && len(rest) > 1 && rest[1] == '\n' {
		delimiter, content = rune(rest[0]), rest[2:]
	}
	// A record is read as a whole, and may be the whole file: its cells are counted before.
	if tooMany(content, string(delimiter)+"\n", maxCells) {
		return ErrTooComplex
	}
	r := csv.NewReader(strings.NewReader(content))
	r.Comma, r.LazyQuotes, r.FieldsPerRecord, r.ReuseRecord = delimiter, true, -1, true
	t, rows := &table{builder: b}, 0
	for {
		record, err := r.Read()
		if errors.Is(err, io.EOF) {
			t.end(rows)
			return nil
		}
		if err != nil {
			return err
		}
		rows++
		if err := t.row(ctx, record); err != nil {
			return err
		}
	}
}

// sniffDelimiter takes the one that stands most often in the first lines, outside
// quotes.
func sniffDelimiter(content string) rune {
	counts := map[rune]int{}
	quoted, lines := false, 0
	for _, r := range content {
		switch {
		case r == '"':
			quoted = !quoted
		case quoted:
		case r == '\n':
			if lines++; lines == 10 {
				return most(counts)
			}
		default:
			counts[r]++
		}
	}
	return most(counts)
}

func most(counts map[rune]int) rune {
	best := ','
	for _, r := range []rune{';', '\t', '|'} {
		if counts[r] > counts[best] {
			best = r
		}
	}
	return best
}

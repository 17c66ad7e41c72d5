package roster

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// The bounds of a file.
const (
	// MaxBytes is how large it may be.
	MaxBytes = 10 << 20
	// MaxLines is how many lines with something in them it may have after its header.
	MaxLines = 50_000
	// maxLine bounds a line in bytes: a quote that is never closed makes one of all
	// that follows.
	maxLine = 64 << 10
	// maxRaw bounds a line as it stands in the file, in bytes: with its quotes, each of
	// which may stand twice, and its separators. More of it is not even read.
	maxRaw     = 2*maxLine + 4<<10
	maxColumns = 60
)

// SheetError says why a file cannot be read at all.
type SheetError struct {
	// Line is the one at fault, from one; zero for none.
	Line int64
	// Message is a sentence for whoever sent the file.
	Message string
}

func (e *SheetError) Error() string {
	if e.Line == 0 {
		return e.Message
	}
	return fmt.Sprintf("Line %d: %s", e.Line, e.Message)
}

// byteOrderMark is what Excel puts before UTF-8.
var byteOrderMark = []byte("\xEF\xBB\xBF")

// sheet is a file whose header was read.
type sheet struct {
	data    []byte
	comma   rune
	marked  bool
	header  []string
	columns []column
	// start is where the lines after the header begin.
	start mark
}

// mark is where a sheet is read on.
type mark struct {
	// Offset counts bytes, and Line the lines of the file, from one.
	Offset int64 `json:"offset"`
	Line   int64 `json:"line"`
}

// line is one line of a sheet; in quotes it can go over several of the file's.
type line struct {
	// Number is the first one's.
	Number int64
	Cells  []string
}

// blank says that nothing is in the line, as in those that spreadsheets leave at
// the end.
func (l line) blank() bool { return strings.TrimSpace(strings.Join(l.Cells, "")) == "" }

// open reads the header of a file. The error is a SheetError.
func open(data []byte) (*sheet, error) {
	if !utf8.Valid(data) {
		return nil, &SheetError{Message: "The file is not UTF-8. Save it as “CSV UTF-8” in Excel, or choose UTF-8 where you export it."}
	}
	s := &sheet{data: data, start: mark{Line: 1}}
	if s.marked = bytes.HasPrefix(data, byteOrderMark); s.marked {
		s.start.Offset = int64(len(byteOrderMark))
	}
	s.comma = separator(data[s.start.Offset:])
	lines, next, err := s.read(s.start, 1)
	switch {
	case err != nil:
		return nil, err
	case len(lines) == 0:
		return nil, &SheetError{Message: "The file is empty. Its first line names the columns."}
	}
	s.header, s.start = lines[0].Cells, next
	s.columns, err = columnsOf(lines[0])
	return s, err
}

// separator is the one that the header uses: a comma, a semicolon, as Excel writes
// where numbers have a decimal comma, or a tab.
func separator(data []byte) rune {
	header, _, _ := bytes.Cut(data, []byte("\n"))
	best := ','
	for _, r := range ";\t" {
		if bytes.Count(header, []byte(string(r))) > bytes.Count(header, []byte(string(best))) {
			best = r
		}
	}
	return best
}

// read reads so many lines that are not blank, or as many as there are, and
// answers where to go on. The error is a SheetError.
func (s *sheet) read(from mark, n int) (lines []line, next mark, err error) {
	b := &bounded{rest: s.data[from.Offset:]}
	r := csv.NewReader(b)
	r.Comma, r.FieldsPerRecord = s.comma, -1
	next = from
	for len(lines) < n {
		b.until = r.InputOffset() + maxRaw
		cells, err := r.Read()
		if errors.Is(err, io.EOF) {
			return lines, mark{int64(len(s.data)), next.Line}, nil
		}
		if errors.Is(err, errLong) {
			return nil, next, tooLong(next.Line + empty(s.data[next.Offset:]))
		}
		if err != nil {
			return nil, next, malformed(err, from)
		}
		at, _ := r.FieldPos(0)
		l := line{Number: from.Line + int64(at) - 1, Cells: cells}
		end := from.Offset + r.InputOffset()
		if long(cells) {
			return nil, next, tooLong(l.Number)
		}
		passed := s.data[next.Offset:end]
		next = mark{end, next.Line + int64(bytes.Count(passed, []byte("\n")))}
		if !l.blank() {
			lines = append(lines, l)
		}
	}
	return lines, next, nil
}

// bounded reads bytes up to a bound that moves on with the lines.
type bounded struct {
	rest  []byte
	at    int64
	until int64
}

// errLong says that a line goes on beyond the bound.
var errLong = errors.New("the line is too long")

// Read implements io.Reader.
func (b *bounded) Read(p []byte) (int, error) {
	if len(b.rest) == 0 {
		return 0, io.EOF
	}
	if b.at >= b.until {
		return 0, errLong
	}
	n := copy(p[:min(int64(len(p)), b.until-b.at)], b.rest)
	b.rest, b.at = b.rest[n:], b.at+int64(n)
	return n, nil
}

func tooLong(number int64) error {
	return &SheetError{number, "The line is too long. Is a closing quote missing?"}
}

// empty is how many empty lines some lines begin with. Reading skips them.
func empty(lines []byte) (n int64) {
	for {
		first, rest, more := bytes.Cut(lines, []byte("\n"))
		if !more || len(bytes.TrimSuffix(first, []byte("\r"))) > 0 {
			return n
		}
		n, lines = n+1, rest
	}
}

// long says whether cells are more than a line may hold.
func long(cells []string) bool {
	n := 0
	for _, cell := range cells {
		n += len(cell)
	}
	return n > maxLine
}

// malformed says where quotes are not as they must be.
func malformed(err error, from mark) error {
	var wrong *csv.ParseError
	if !errors.As(err, &wrong) {
		return err
	}
	message := "A quote stands where none can. A text with quotes in it stands in quotes, and has each of them twice."
	if errors.Is(wrong.Err, csv.ErrQuote) && wrong.Line > wrong.StartLine {
		message = "A text in quotes does not end as it must. Is a closing quote missing?"
	}
	return &SheetError{from.Line + int64(wrong.StartLine) - 1, message}
}

// Check looks a whole file through, and answers how many people it is of. The
// error is a SheetError.
func Check(data []byte) (people int64, err error) {
	if len(data) > MaxBytes {
		return 0, &SheetError{Message: fmt.Sprintf("The file may have at most %d bytes.", MaxBytes)}
	}
	s, err := open(data)
	if err != nil {
		return 0, err
	}
	for at := s.start; ; {
		var lines []line
		if lines, at, err = s.read(at, batch); err != nil {
			return 0, err
		}
		if people += int64(len(lines)); people > MaxLines {
			return 0, &SheetError{Message: fmt.Sprintf("The file may have at most %d people.", MaxLines)}
		}
		if len(lines) < batch {
			break
		}
	}
	if people == 0 {
		return 0, &SheetError{Message: "Nobody is in the file: it has a header and nothing else."}
	}
	return people, nil
}

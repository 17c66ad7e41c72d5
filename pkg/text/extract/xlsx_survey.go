package extract

import (
	"bufio"
	"context"
	"errors"
	"io"
	"path"
	"strings"
)

// survey counts what a workbook is made of before a library that holds much of it in
// memory opens it.
type survey struct {
	archive        *archive
	cells, strings int
	name           []byte // of the element that begins
}

// maxOther bounds the elements outside of sheets, all of which are held.
const maxOther = 1_500_000

// run counts in every part that is XML.
func (s *survey) run(ctx context.Context) error {
	for part := range s.archive.parts {
		if ext := path.Ext(part); ext != ".xml" && ext != ".rels" {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := s.part(part); err != nil {
			return err
		}
	}
	return nil
}

func (s *survey) part(part string) error {
	r, err := s.archive.open(part)
	if err != nil {
		return err
	}
	defer r.Close()
	others, sheet := 0, strings.HasPrefix(part, "xl/worksheets/")
	in := bufio.NewReaderSize(r, 64<<10)
	for {
		err := s.element(in)
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		if err := s.archive.builder.element(); err != nil {
			return err
		}
		switch string(s.name) {
		case "c":
			s.cells++
		case "si":
			s.strings++
		}
		if !sheet {
			others++
		}
		if s.cells > maxCells || s.strings > maxStrings || others > maxOther {
			return ErrTooComplex
		}
	}
}

// element reads up to the name of the next element that begins. What looks like one in
// a comment counts too.
func (s *survey) element(in *bufio.Reader) error {
	for {
		if err := skipTo(in, '<'); err != nil {
			return err
		}
		s.name = s.name[:0]
		for {
			c, err := in.ReadByte()
			if err != nil {
				return err
			}
			if c == ':' { // what was read is the name's prefix
				s.name = s.name[:0]
				continue
			}
			if c <= ' ' || c == '>' || c == '/' || c == '!' || c == '?' || len(s.name) == 32 {
				break
			}
			s.name = append(s.name, c)
		}
		if len(s.name) > 0 {
			return nil
		}
	}
}

func skipTo(in *bufio.Reader, end byte) error {
	for {
		if _, err := in.ReadSlice(end); !errors.Is(err, bufio.ErrBufferFull) {
			return err
		}
	}
}

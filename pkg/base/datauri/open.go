package datauri

import (
	"bufio"
	"encoding/base64"
	"errors"
	"io"
	"mime"
	"strings"
)

// maxHead bounds what a data: URI says of its data.
const maxHead = 1 << 10

// Open reads the media type of a data: URI, and answers a reader of its data whose
// errors are ErrMalformed where the text is no base64.
func Open(r io.Reader) (mediaType string, data io.Reader, err error) {
	in := bufio.NewReaderSize(r, 32<<10)
	head, err := in.Peek(maxHead)
	if err != nil && !errors.Is(err, io.EOF) {
		return "", nil, err
	}
	text, _, ok := strings.Cut(string(head), ",")
	if !ok || !Is(text) {
		return "", nil, ErrMalformed
	}
	described, ok := strings.CutSuffix(text[5:], ";base64")
	if !ok {
		return "", nil, ErrMalformed
	}
	if mediaType, _, err = mime.ParseMediaType(described); err != nil {
		return "", nil, ErrMalformed
	}
	_, _ = in.Discard(len(text) + 1) // it is there
	return mediaType, &decoder{in: in}, nil
}

// decoder reads base64 as strictly as Parse does: padded to its end, and nothing
// after that. The one of encoding/base64 reads on after padding.
type decoder struct {
	in    *bufio.Reader
	text  [8 << 10]byte
	data  [6 << 10]byte
	left  []byte
	ended bool
	err   error
}

// Read implements io.Reader.
func (d *decoder) Read(p []byte) (int, error) {
	for len(d.left) == 0 {
		if d.err != nil {
			return 0, d.err
		}
		d.fill()
	}
	n := copy(p, d.left)
	d.left = d.left[n:]
	return n, nil
}

// fill decodes the next characters.
func (d *decoder) fill() {
	filled := 0
	for filled < len(d.text) && d.err == nil {
		var c byte
		if c, d.err = d.in.ReadByte(); d.err == nil && c != '\n' && c != '\r' {
			d.text[filled] = c
			filled++
		}
	}
	if filled == 0 {
		return
	}
	n, err := base64.StdEncoding.Strict().Decode(d.data[:], d.text[:filled])
	if err != nil || d.ended {
		d.err = ErrMalformed
		return
	}
	d.ended = n < filled/4*3
	d.left = d.data[:n]
}

package spool

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

const (
	// keptText is the longest text that is left where it is, and maxDepth how deep
	// JSON may be nested, as for encoding/json.
	keptText = 16 << 10
	maxDepth = 10_000
	// maxKey is more than the longest name of a path.
	maxKey = 64
)

var (
	// ErrTextTooLong says that more than allowed is left of a body.
	ErrTextTooLong = errors.New("the text is too long")
	// ErrTooDeep says that JSON is nested deeper than anything reads.
	ErrTooDeep = errors.New("the JSON is nested too deeply")
)

// Text is a long text of a JSON body that was left in the body.
type Text struct {
	body        *Body
	offset, raw int64
}

// Size is how many bytes the text has at most.
func (t *Text) Size() int64 { return t.raw }

// Open reads the text. What is no JSON text, or is not ASCII where it is escaped,
// is an error of the reader.
func (t *Text) Open() io.Reader {
	return &unescaper{in: bufio.NewReaderSize(t.body.Section(t.offset, t.raw), 32<<10)}
}

// String is the whole text.
func (t *Text) String() (text string, err error) {
	quoted := make([]byte, t.raw+2)
	quoted[0], quoted[len(quoted)-1] = '"', '"'
	if _, err := io.ReadFull(t.body.Section(t.offset, t.raw), quoted[1:len(quoted)-1]); err != nil {
		return "", err
	}
	err = json.Unmarshal(quoted, &text)
	return text, err
}

// Detach reads a JSON body and answers it without the long texts at some paths,
// such as "picture", "consent.evidence" or "samples[]". In the place of each stands
// a name that is the same whenever the same text is sent, by which it is found. Of
// what is left at most so many bytes are allowed. That the rest is JSON is not checked.
func (b *Body) Detach(paths []string, limit int64) (text []byte, detached map[string]*Text, err error) {
	d := &detacher{body: b, in: bufio.NewReaderSize(b.Section(0, b.Size()), 64<<10), limit: limit, detached: map[string]*Text{}}
	for _, p := range paths {
		d.paths = append(d.paths, strings.Split(strings.ReplaceAll(p, "[]", ".[]"), "."))
	}
	if err := d.run(); err != nil {
		return nil, nil, err
	}
	return d.out.Bytes(), d.detached, nil
}

// level is an object or a list that the detacher is in.
type level struct {
	list, name bool // name: the next text is a name of a member
	key        string
}

type detacher struct {
	body     *Body
	in       *bufio.Reader
	at       int64
	out      bytes.Buffer
	limit    int64
	paths    [][]string
	levels   []level
	detached map[string]*Text
}

func (d *detacher) run() error {
	for {
		c, err := d.in.ReadByte()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		d.at++
		if c == '"' {
			err = d.text()
		} else {
			err = d.structure(c)
		}
		if err != nil {
			return err
		}
		if int64(d.out.Len()) > d.limit {
			return ErrTextTooLong
		}
	}
}

// structure takes a byte outside of texts.
func (d *detacher) structure(c byte) error {
	d.out.WriteByte(c)
	top := len(d.levels) - 1
	switch c {
	case '{', '[':
		if len(d.levels) == maxDepth {
			return ErrTooDeep
		}
		d.levels = append(d.levels, level{list: c == '[', name: c == '{'})
	case '}', ']':
		if top >= 0 {
			d.levels = d.levels[:top]
		}
	case ',', ':':
		if top >= 0 && !d.levels[top].list {
			d.levels[top].name = c == ','
		}
	}
	return nil
}

// text takes a text, whose first quote was read.
func (d *detacher) text() error {
	d.out.WriteByte('"')
	top := len(d.levels) - 1
	switch {
	case top >= 0 && d.levels[top].name:
		before := d.out.Len()
		if err := d.copyText(); err != nil {
			return err
		}
		d.levels[top].key = ""
		if name := d.out.Bytes()[before:]; len(name) > 0 && len(name) <= maxKey {
			d.levels[top].key = string(name[:len(name)-1])
		}
		return nil
	case d.wanted():
		return d.detach()
	}
	return d.copyText()
}

// wanted says whether the text that comes is at one of the paths.
func (d *detacher) wanted() bool {
	for _, path := range d.paths {
		if len(path) != len(d.levels) {
			continue
		}
		match := true
		for i, l := range d.levels {
			match = match && (l.list && path[i] == "[]" || !l.list && path[i] == l.key)
		}
		if match {
			return true
		}
	}
	return false
}

// copyText copies a text with its last quote.
func (d *detacher) copyText() error {
	_, err := d.scan(func(part []byte) error {
		d.out.Write(part)
		if int64(d.out.Len()) > d.limit {
			return ErrTextTooLong
		}
		return nil
	})
	return err
}

// detach leaves a text out if it is long.
func (d *detacher) detach() error {
	var head bytes.Buffer
	offset, sum := d.at, sha256.New()
	ended, err := d.scan(func(part []byte) error {
		sum.Write(part)
		if head.Len() <= keptText {
			head.Write(part)
		}
		return nil
	})
	if err != nil {
		return err
	}
	raw := d.at - offset
	if !ended || raw-1 <= keptText {
		d.out.Write(head.Bytes()) // what does not end is no JSON, which whoever reads it finds out
		return nil
	}
	name := fmt.Sprintf("data:;detached=%d;sha256=%s", len(d.detached), hex.EncodeToString(sum.Sum(nil)))
	d.detached[name] = &Text{body: d.body, offset: offset, raw: raw - 1}
	d.out.WriteString(name)
	d.out.WriteByte('"')
	return nil
}

// scan hands on the parts of a text up to its last quote, that included.
func (d *detacher) scan(take func([]byte) error) (ended bool, err error) {
	escaped := false
	for !ended {
		_, err := d.in.Peek(1)
		if errors.Is(err, io.EOF) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		part, _ := d.in.Peek(d.in.Buffered()) // it is there
		n := 0
		for n < len(part) && !ended {
			switch c := part[n]; {
			case escaped:
				escaped = false
			case c == '\\':
				escaped = true
			case c == '"':
				ended = true
			}
			n++
		}
		if err := take(part[:n]); err != nil {
			return false, err
		}
		d.at += int64(n)
		_, _ = d.in.Discard(n)
	}
	return true, nil
}

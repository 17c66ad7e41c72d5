package spool

import (
	"bufio"
	"errors"
	"io"
	"strconv"
)

// ErrEscape says that a text has an escape sequence that is none, or one that
// stands for more than ASCII.
var ErrEscape = errors.New("the text has an escape sequence that it should not have")

// unescaper reads the text between the quotes of a JSON text.
type unescaper struct {
	in  *bufio.Reader
	err error
}

// Read implements io.Reader.
func (u *unescaper) Read(p []byte) (n int, err error) {
	for n < len(p) && u.err == nil {
		var c byte
		if c, u.err = u.in.ReadByte(); u.err != nil {
			break
		}
		if c == '\\' {
			if c, u.err = u.escape(); u.err != nil {
				break
			}
		}
		p[n] = c
		n++
	}
	if n > 0 {
		return n, nil
	}
	return 0, u.err
}

var escapes = map[byte]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

func (u *unescaper) escape() (byte, error) {
	c, err := u.in.ReadByte()
	if err != nil {
		return 0, ErrEscape
	}
	if plain, ok := escapes[c]; ok {
		return plain, nil
	}
	var hex [4]byte
	if c != 'u' {
		return 0, ErrEscape
	}
	if _, err := io.ReadFull(u.in, hex[:]); err != nil {
		return 0, ErrEscape
	}
	value, err := strconv.ParseUint(string(hex[:]), 16, 16)
	if err != nil || value == 0 || value > 0x7f {
		return 0, ErrEscape
	}
	return byte(value), nil
}

package extract

import (
	"bytes"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
)

// decode turns bytes of an unknown encoding into UTF-8: by the byte order mark, else
// by the zero bytes of UTF-16, else UTF-8 if it is valid, else Windows-1252, which
// every byte is valid in.
func decode(data []byte) string {
	var from encoding.Encoding
	switch {
	case bytes.HasPrefix(data, []byte("\xef\xbb\xbf")):
		return string(data[3:])
	case bytes.HasPrefix(data, []byte("\xff\xfe")), utf16Like(data, 1):
		from = unicode.UTF16(unicode.LittleEndian, unicode.UseBOM)
	case bytes.HasPrefix(data, []byte("\xfe\xff")), utf16Like(data, 0):
		from = unicode.UTF16(unicode.BigEndian, unicode.UseBOM)
	case utf8.Valid(data):
		return string(data)
	default:
		from = charmap.Windows1252
	}
	out, err := from.NewDecoder().Bytes(data)
	if err != nil {
		return string(data)
	}
	return string(out)
}

// utf16Like says whether the bytes at even (0) or odd (1) places are mostly zero, as
// the high bytes of Western text in UTF-16 are.
func utf16Like(data []byte, at int) bool {
	data = data[:min(len(data), 512)&^1]
	zeros, others := 0, 0
	for i, c := range data {
		switch {
		case c != 0:
		case i%2 == at:
			zeros++
		default:
			others++
		}
	}
	return len(data) >= 4 && zeros > len(data)/4 && others == 0
}

// binary says whether data is no text in any encoding we know.
func binary(data []byte) bool {
	head := data[:min(len(data), 8<<10)]
	if bytes.HasPrefix(head, []byte("\xff\xfe")) || bytes.HasPrefix(head, []byte("\xfe\xff")) ||
		utf16Like(head, 0) || utf16Like(head, 1) {
		return false
	}
	strange := 0
	for _, c := range head {
		if c < 0x20 && c != '\n' && c != '\r' && c != '\t' && c != '\f' && c != 0x1b {
			strange++
		}
	}
	return strange > len(head)/100
}

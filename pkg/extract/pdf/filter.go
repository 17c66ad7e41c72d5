package pdf

import (
	"bytes"
	"compress/zlib"
	"encoding/ascii85"
	"io"

	"golang.org/x/image/tiff/lzw"
)

// maxFilters bounds the filters of one stream: two are common, and each may
// multiply what the one before it made.
const maxFilters = 4

// decode undoes the filters of a stream (section 7.4). What a broken stream gave
// before it broke is what it gives; a filter of pictures gives nothing. The only
// errors are of the bounds and the context.
func (f *File) decode(s *stream) ([]byte, error) {
	if err := f.ctx.Err(); err != nil {
		return nil, err
	}
	filters, params := f.list(s.dict["Filter"]), f.list(s.dict["DecodeParms"])
	if len(filters) > maxFilters {
		return nil, nil
	}
	data := s.raw
	for i, filter := range filters {
		var param dict
		if i < len(params) {
			param = f.dict(params[i])
		}
		r := reader(f.name(filter), data)
		if r == nil {
			return nil, nil
		}
		limit := min(maxStream, f.left)
		out, _ := io.ReadAll(io.LimitReader(r, int64(limit)+1))
		if len(out) > limit {
			return nil, ErrTooLarge
		}
		f.left -= len(out)
		data = f.unpredict(out, param)
	}
	return data, nil
}

// list reads what is either one value or an array of them.
func (f *File) list(v any) array {
	switch v := f.get(v).(type) {
	case nil:
		return nil
	case array:
		return v
	default:
		return array{v}
	}
}

func reader(filter name, data []byte) io.Reader {
	in := bytes.NewReader(data)
	switch filter {
	case "FlateDecode", "Fl":
		r, err := zlib.NewReader(in)
		if err != nil {
			return nil
		}
		return r
	case "LZWDecode", "LZW":
		return lzw.NewReader(in, lzw.MSB, 8)
	case "ASCII85Decode", "A85":
		if i := bytes.Index(data, []byte("~>")); i >= 0 {
			data = data[:i]
		}
		return ascii85.NewDecoder(bytes.NewReader(bytes.TrimPrefix(data, []byte("<~"))))
	case "ASCIIHexDecode", "AHx":
		return bytes.NewReader([]byte((&lexer{data: data}).hex()))
	case "RunLengthDecode", "RL":
		return &runLength{in: in}
	}
	return nil
}

// runLength is the filter of section 7.4.5.
type runLength struct {
	in   *bytes.Reader
	held []byte
}

func (r *runLength) Read(p []byte) (int, error) {
	for len(r.held) == 0 {
		n, err := r.in.ReadByte()
		switch {
		case err != nil || n == 128:
			return 0, io.EOF
		case n < 128:
			r.held = make([]byte, int(n)+1)
			got, _ := r.in.Read(r.held)
			r.held = r.held[:got]
			if got == 0 {
				return 0, io.EOF
			}
		default:
			c, err := r.in.ReadByte()
			if err != nil {
				return 0, io.EOF
			}
			r.held = bytes.Repeat([]byte{c}, 257-int(n))
		}
	}
	n := copy(p, r.held)
	r.held = r.held[n:]
	return n, nil
}

// unpredict undoes the PNG predictors, which object streams are packed with.
func (f *File) unpredict(data []byte, param dict) []byte {
	if number(f.get(param["Predictor"])) < 10 {
		return data
	}
	colors, bits, columns := 1, 8, 1
	for key, value := range map[name]*int{"Colors": &colors, "BitsPerComponent": &bits, "Columns": &columns} {
		if n := number(f.get(param[key])); n > 0 && n < 1<<16 {
			*value = n
		}
	}
	size := max(1, colors*bits/8)
	width := (colors*bits*columns + 7) / 8
	out := make([]byte, 0, len(data))
	above := make([]byte, min(width, len(data)))
	for len(data) > 1 {
		kind := data[0]
		row := data[1:min(len(data), width+1)]
		data = data[1+len(row):]
		undo(kind, row, above, size)
		out = append(out, row...)
		above = row
		if len(row) < width {
			break
		}
	}
	return out
}

// undo restores one row in place; size is the bytes of a pixel.
func undo(kind byte, row, above []byte, size int) {
	for i := range row {
		var left, up, corner int
		if i < len(above) {
			up = int(above[i])
		}
		if i >= size {
			left = int(row[i-size])
			if i-size < len(above) {
				corner = int(above[i-size])
			}
		}
		switch kind {
		case 1:
			row[i] += byte(left)
		case 2:
			row[i] += byte(up)
		case 3:
			row[i] += byte((left + up) / 2)
		case 4:
			row[i] += byte(paeth(left, up, corner))
		}
	}
}

func paeth(left, up, corner int) int {
	p := left + up - corner
	dl, du, dc := distance(p, left), distance(p, up), distance(p, corner)
	switch {
	case dl <= du && dl <= dc:
		return left
	case du <= dc:
		return up
	}
	return corner
}

func distance(a, b int) int { return max(a-b, b-a) }

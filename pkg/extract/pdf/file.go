package pdf

import (
	"bytes"
	"context"
	"errors"
)

// What makes a file impossible to read.
var (
	ErrMalformed = errors.New("the file is not a PDF that can be read")
	ErrEncrypted = errors.New("the PDF is encrypted")
	ErrTooLarge  = errors.New("the PDF unpacks to too much")
)

// Bounds of one file.
const (
	maxObjects = 1 << 20
	maxPages   = 10_000
	maxRuns    = 4 << 20   // pieces of text in all
	maxStream  = 64 << 20  // bytes out of one stream
	maxBytes   = 512 << 20 // bytes out of all streams
)

// File is an open PDF. It belongs to one goroutine.
type File struct {
	ctx     context.Context // of the one call that reads the file
	data    []byte
	where   map[ref]place
	cache   map[ref]any
	opening map[ref]bool // objects whose reading has begun, against loops
	left    int          // bytes that streams may still unpack to
	runs    int          // pieces of text that may still come
	trailer dict
	fonts   map[ref]*font
}

// place is where an object's text begins: in the file, or in an object stream.
type place struct {
	data   []byte
	offset int
}

// Open finds the objects of a file. The data must not change while it is read.
func Open(ctx context.Context, data []byte) (*File, error) {
	f := &File{
		ctx: ctx, data: data, left: maxBytes, runs: maxRuns, trailer: dict{},
		where: map[ref]place{}, cache: map[ref]any{}, opening: map[ref]bool{}, fonts: map[ref]*font{},
	}
	if err := f.scan(); err != nil {
		return nil, err
	}
	if f.trailer["Encrypt"] != nil {
		return nil, ErrEncrypted
	}
	if len(f.where) == 0 {
		return nil, ErrMalformed
	}
	return f, nil
}

// scan notes every "n g obj". What stands later in the file replaces what stood
// earlier, as updates are appended.
func (f *File) scan() error {
	var packed []ref // object streams
	rest := 0
	for {
		if err := f.ctx.Err(); err != nil {
			return err
		}
		i := bytes.Index(f.data[rest:], []byte("obj"))
		if i < 0 {
			break
		}
		at := rest + i
		rest = at + len("obj")
		number, ok := numberBefore(f.data, at)
		if !ok {
			continue
		}
		if len(f.where) >= maxObjects {
			return ErrTooLarge
		}
		f.where[ref(number)] = place{f.data, rest}
		body := head(f.data[rest:])
		if bytes.Contains(body, []byte("ObjStm")) {
			packed = append(packed, ref(number))
		}
		if bytes.Contains(body, []byte("XRef")) {
			f.addTrailer(rest)
		}
	}
	if err := f.findTrailers(); err != nil {
		return err
	}
	if f.trailer["Encrypt"] != nil {
		return nil // object streams are encrypted too
	}
	return f.unpack(packed)
}

// head is the part of an object that holds its dictionary.
func head(data []byte) []byte {
	data = data[:min(len(data), 1024)]
	for _, mark := range []string{"stream", "endobj"} {
		if i := bytes.Index(data, []byte(mark)); i >= 0 {
			data = data[:i]
		}
	}
	return data
}

// numberBefore reads "n g " backwards from at.
func numberBefore(data []byte, at int) (int, bool) {
	i, _, ok := integerBefore(data, at)
	if !ok {
		return 0, false
	}
	_, number, ok := integerBefore(data, i)
	return number, ok
}

func integerBefore(data []byte, at int) (start, value int, ok bool) {
	for at > 0 && white(data[at-1]) {
		at--
	}
	start = at
	for start > 0 && at-start < 10 && '0' <= data[start-1] && data[start-1] <= '9' {
		start--
	}
	for _, c := range data[start:at] {
		value = value*10 + int(c-'0')
	}
	return start, value, start < at && value < 1<<31
}

func (f *File) findTrailers() error {
	for rest := 0; ; {
		if err := f.ctx.Err(); err != nil {
			return err
		}
		i := bytes.Index(f.data[rest:], []byte("trailer"))
		if i < 0 {
			return nil
		}
		rest += i + len("trailer")
		f.addTrailer(rest)
	}
}

// maxTrailer bounds how far a trailer is read: there can be many that never close.
const maxTrailer = 16 << 10

func (f *File) addTrailer(at int) {
	l := &lexer{data: f.data[:min(len(f.data), at+maxTrailer)], pos: at}
	if d, ok := l.next().(dict); ok {
		for _, key := range []name{"Root", "Info", "Encrypt"} {
			if d[key] != nil {
				f.trailer[key] = d[key]
			}
		}
	}
}

// unpack notes the objects of object streams (section 7.5.7). One that also stands
// in the file itself, after the stream, is newer there.
func (f *File) unpack(packed []ref) error {
	for _, r := range packed {
		s, ok := f.get(r).(*stream)
		if !ok {
			continue
		}
		at := f.where[r].offset
		data, err := f.decode(s)
		if err != nil {
			return err
		}
		index := &lexer{data: data}
		first := number(f.get(s.dict["First"]))
		for range min(number(f.get(s.dict["N"])), maxObjects-len(f.where)) {
			id, ok := index.next().(float64)
			offset, fine := index.next().(float64)
			if !ok || !fine {
				break
			}
			start := first + number(offset)
			if start < 0 || start > len(data) {
				continue
			}
			old, found := f.where[ref(number(id))]
			if found && len(old.data) == len(f.data) && old.offset > at {
				continue
			}
			f.where[ref(number(id))] = place{data, start}
		}
	}
	clear(f.cache) // an object may have been read before its newer self was known
	return nil
}

// get follows references to what they mean.
func (f *File) get(v any) any {
	for range maxNesting {
		r, ok := v.(ref)
		if !ok {
			return v
		}
		v = f.load(r)
	}
	return nil
}

func (f *File) load(r ref) any {
	if v, ok := f.cache[r]; ok {
		return v
	}
	at, ok := f.where[r]
	if !ok || f.opening[r] {
		return nil
	}
	f.opening[r] = true
	defer delete(f.opening, r)
	l := &lexer{data: at.data, pos: at.offset}
	v := l.next()
	switch d := v.(type) {
	case dict:
		if raw, ok := f.body(l, d); ok {
			v = &stream{dict: d, raw: raw}
		}
	case float64: // "5 0 R" alone is a reference
		if _, ok := l.next().(float64); ok && l.next() == keyword("R") {
			v = ref(number(d))
		}
	case keyword, end:
		v = nil
	}
	f.cache[r] = v
	return v
}

// body is the raw content of a stream that follows its dictionary.
func (f *File) body(l *lexer, d dict) ([]byte, bool) {
	if l.next() != keyword("stream") {
		return nil, false
	}
	if l.at(0) == '\r' {
		l.pos++
	}
	if l.at(0) == '\n' {
		l.pos++
	}
	rest := l.data[min(l.pos, len(l.data)):]
	if n := number(f.get(d["Length"])); n >= 0 && n <= len(rest) {
		after := &lexer{data: rest, pos: n}
		if after.next() == keyword("endstream") {
			return rest[:n], true
		}
	}
	if i := bytes.Index(rest, []byte("endstream")); i >= 0 {
		rest = rest[:i]
	}
	return rest, true
}

func (f *File) dict(v any) dict {
	switch v := f.get(v).(type) {
	case dict:
		return v
	case *stream:
		return v.dict
	}
	return nil
}

func (f *File) array(v any) array {
	a, _ := f.get(v).(array)
	return a
}

func (f *File) name(v any) name {
	n, _ := f.get(v).(name)
	return n
}

// Title is what the file's information calls it; often empty, and often wrong.
func (f *File) Title() string {
	raw, _ := f.get(f.dict(f.trailer["Info"])["Title"]).(text)
	return decodeText(string(raw))
}

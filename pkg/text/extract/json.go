package extract

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strconv"
)

// maxKey bounds a name of a JSON member, in bytes: it stands in every line below it.
const maxKey = 256

// extractJSON writes a line "path: value" for every value; each member of the
// outermost object or array is a section.
func extractJSON(ctx context.Context, data []byte, b *builder) error {
	d := json.NewDecoder(bytes.NewReader([]byte(decode(data))))
	d.UseNumber()
	f := &flattener{ctx: ctx, decoder: d, builder: b}
	if err := f.value("", 0); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return ErrUnreadable
	}
	return nil
}

// flattener reads tokens, so that the document is never in memory as a tree.
type flattener struct {
	ctx     context.Context
	decoder *json.Decoder
	builder *builder
	values  int
}

func (f *flattener) value(path string, depth int) error {
	if err := f.builder.check(f.ctx); err != nil {
		return err
	}
	if f.values++; f.values > maxValues {
		return ErrTooComplex
	}
	token, err := f.decoder.Token()
	if err != nil {
		return err
	}
	switch v := token.(type) {
	case json.Delim:
		return f.members(path, depth+1, v == '{')
	case string:
		f.line(path, v)
	case json.Number:
		f.line(path, v.String())
	case bool:
		f.line(path, strconv.FormatBool(v))
	}
	return nil
}

func (f *flattener) members(path string, depth int, named bool) error {
	if depth > maxNesting {
		return ErrTooComplex
	}
	for i := 1; f.decoder.More(); i++ {
		key := strconv.Itoa(i)
		if named {
			token, err := f.decoder.Token()
			if err != nil {
				return err
			}
			key, _ = token.(string)
			key = letters(clean(key), maxKey)
		}
		inner := key
		switch {
		case depth == 1:
			f.builder.startHeading(key)
			inner = ""
		case path != "":
			inner = path + "." + key
		}
		if err := f.value(inner, depth); err != nil {
			return err
		}
	}
	_, err := f.decoder.Token()
	return err
}

func (f *flattener) line(path, value string) {
	if value = clean(value); value == "" {
		return
	}
	if path != "" {
		value = path + ": " + value
	}
	f.builder.line(value)
}

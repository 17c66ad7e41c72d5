package source

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/datauri"
	"visavis.dev/pkg/base/spool"
)

// headBytes is as much of a file as tells what it is.
const headBytes = 512

// Content is what a field gives. What was sent inline and is long is read from the
// request's body each time it is opened, and takes no memory.
type Content struct {
	// Head is how it begins, at most 512 bytes.
	Head   []byte
	Size   int64
	SHA256 [sha256.Size]byte
	// Open begins to read it.
	Open func() (io.Reader, error)
}

// Open is Get without everything in memory.
func (s Sources) Open(ctx context.Context, param, source string, limit int) (*Content, error) {
	if text, ok := route.Detached(ctx, source); ok {
		c := &Content{Open: func() (io.Reader, error) {
			_, data, err := datauri.Open(text.Open())
			return data, err
		}}
		return c, c.measure(param, limit)
	}
	data, err := s.Get(ctx, param, source, limit)
	if err != nil {
		return nil, err
	}
	return &Content{
		Head: data[:min(len(data), headBytes)], Size: int64(len(data)), SHA256: sha256.Sum256(data),
		Open: func() (io.Reader, error) { return bytes.NewReader(data), nil },
	}, nil
}

// measure reads the content once, and refuses what is none or too large.
func (c *Content) measure(param string, limit int) error {
	data, err := c.Open()
	if err != nil {
		return asTextProblem(param, err)
	}
	var head bytes.Buffer
	sum := sha256.New()
	all := io.TeeReader(io.LimitReader(data, int64(limit)+1), sum)
	read, err := io.CopyN(&head, all, headBytes)
	if err == nil {
		var rest int64
		rest, err = io.Copy(io.Discard, all)
		read += rest
	}
	switch {
	case err != nil && !errors.Is(err, io.EOF):
		return asTextProblem(param, err)
	case read > int64(limit):
		return tooLarge(param, limit)
	}
	c.Head, c.Size = head.Bytes(), read
	sum.Sum(c.SHA256[:0])
	return nil
}

func asTextProblem(param string, err error) error {
	if errors.Is(err, datauri.ErrMalformed) || errors.Is(err, spool.ErrEscape) {
		return malformed(param)
	}
	return fmt.Errorf("failed to read what a body gives inline: %w", err)
}

// readAll reads a data: URI that stayed in the body.
func readAll(ctx context.Context, param string, text *spool.Text, limit int) ([]byte, error) {
	size := min(text.Size()/4*3, int64(limit))
	if _, err := route.Reserve(ctx, size); err != nil {
		return nil, err
	}
	_, data, err := datauri.Open(text.Open())
	if err != nil {
		return nil, asTextProblem(param, err)
	}
	var all bytes.Buffer
	all.Grow(int(size) + bytes.MinRead)
	if _, err := all.ReadFrom(io.LimitReader(data, int64(limit)+1)); err != nil {
		return nil, asTextProblem(param, err)
	}
	if all.Len() > limit {
		return nil, tooLarge(param, limit)
	}
	return all.Bytes(), nil
}

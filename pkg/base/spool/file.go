package spool

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
)

// ErrDiskFull says that a temporary file found no room.
var ErrDiskFull = errors.New("there is no room for temporary files")

// Folder is where temporary files are made; empty for the system's.
type Folder string

// File is a temporary file without a name, so that it is gone with the process,
// however that ends.
type File struct {
	file *os.File
	size int64
}

// Create makes an empty file.
func (d Folder) Create() (*File, error) {
	f, err := os.CreateTemp(string(d), "visavis-")
	if err != nil {
		return nil, asFull(fmt.Errorf("failed to make a temporary file: %w", err))
	}
	if err := os.Remove(f.Name()); err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("failed to unlink a temporary file: %w", err)
	}
	return &File{file: f}, nil
}

// Write implements io.Writer.
func (f *File) Write(b []byte) (int, error) {
	n, err := f.file.Write(b)
	f.size += int64(n)
	if err != nil {
		err = asFull(err)
	}
	return n, err
}

// Size is how many bytes were written.
func (f *File) Size() int64 { return f.size }

// Section reads a part of the file. Sections can be read side by side.
func (f *File) Section(offset, n int64) *io.SectionReader {
	return io.NewSectionReader(f.file, offset, n)
}

// Close lets the file go; it may be called of nil.
func (f *File) Close() {
	if f != nil {
		_ = f.file.Close()
	}
}

func asFull(err error) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return errors.Join(ErrDiskFull, err)
	}
	return err
}

// Body is what a request sent: in memory, or in a file.
type Body struct {
	memory []byte
	file   *File
}

// Read reads a body to its end, and keeps at most so many bytes of it in memory.
// Errors of the reader are answered as they are. The body is to be closed, also
// after an error.
func (d Folder) Read(from io.Reader, inMemory int64) (*Body, error) {
	var head bytes.Buffer
	b := &Body{}
	n, err := io.CopyN(&head, from, inMemory+1)
	b.memory = head.Bytes()
	if errors.Is(err, io.EOF) {
		return b, nil
	}
	if err != nil || n <= inMemory {
		return b, err
	}
	if b.file, err = d.Create(); err != nil {
		return b, err
	}
	if _, err = b.file.Write(b.memory); err != nil {
		return b, err
	}
	b.memory = nil
	// No more memory than this, whatever the reader could write by itself.
	_, err = io.CopyBuffer(struct{ io.Writer }{b.file}, struct{ io.Reader }{from}, make([]byte, 64<<10))
	return b, err
}

// Size is how many bytes there are.
func (b *Body) Size() int64 {
	if b.file != nil {
		return b.file.Size()
	}
	return int64(len(b.memory))
}

// Spooled says whether the body lies in a file.
func (b *Body) Spooled() bool { return b.file != nil }

// Section reads a part of the body.
func (b *Body) Section(offset, n int64) *io.SectionReader {
	if b.file != nil {
		return b.file.Section(offset, n)
	}
	return io.NewSectionReader(bytes.NewReader(b.memory), offset, n)
}

// Bytes is the whole body.
func (b *Body) Bytes() ([]byte, error) {
	if b.file == nil {
		return b.memory, nil
	}
	all := make([]byte, b.Size())
	_, err := io.ReadFull(b.Section(0, b.Size()), all)
	return all, err
}

// Close lets the body go; it may be called of nil.
func (b *Body) Close() {
	if b != nil {
		b.file.Close()
	}
}

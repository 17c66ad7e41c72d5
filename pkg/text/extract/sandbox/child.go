package sandbox

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"visavis.dev/pkg/text/extract"
	"visavis.dev/pkg/text/extract/pdf"
)

// Command is the word that makes a program a child.
const Command = "read-document"

// Become makes the process a child, which ends when the document is read, if it was
// started as one. A program that reads documents calls it first of all, its tests in
// TestMain.
func Become() {
	if len(os.Args) < 2 || os.Args[1] != Command {
		return
	}
	if err := serve(os.Args[2:], os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "read-document:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// order is what a child is to do, in its arguments.
type order struct {
	contentType string
	bytes       int64
	memory      int64
	processor   time.Duration
	cache       string
}

func (o order) args() []string {
	return []string{
		Command, "-type", o.contentType, "-bytes", fmt.Sprint(o.bytes), "-memory", fmt.Sprint(o.memory),
		"-processor", o.processor.String(), "-cache", o.cache,
	}
}

func parse(args []string) (o order, err error) {
	f := flag.NewFlagSet(Command, flag.ContinueOnError)
	f.StringVar(&o.contentType, "type", "", "")
	f.Int64Var(&o.bytes, "bytes", 0, "")
	f.Int64Var(&o.memory, "memory", 0, "")
	f.DurationVar(&o.processor, "processor", 0, "")
	f.StringVar(&o.cache, "cache", "", "")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	if o.bytes < 0 || o.bytes > extract.MaxBytes || o.memory <= 0 || o.processor <= 0 {
		return o, errors.New("it is started by the program itself only")
	}
	return o, nil
}

// serve reads one document. What it needs from files is there before the limits are.
func serve(args []string, in io.Reader, out io.Writer) error {
	o, err := parse(args)
	if err != nil {
		return err
	}
	has, err := taken()
	if err != nil {
		return err
	}
	if o.contentType == extract.TypePDF {
		if err := pdf.Start(o.cache); err != nil {
			return err
		}
	}
	if err := confine(o, has); err != nil {
		return err
	}
	if _, err := io.WriteString(out, ready); err != nil {
		return err
	}
	data := make([]byte, o.bytes)
	if _, err := io.ReadFull(in, data); err != nil {
		return fmt.Errorf("read the document: %w", err)
	}
	d, err := extract.Extract(context.Background(), o.contentType, data)
	return answer(out, d, err)
}

package sandbox

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"visavis.dev/pkg/text/extract"
)

// A child writes a line once its limits hold, then a result, then its sections one by
// one. The parent sends the document after the line.
const ready = "ready to read a document\n"

// result is how reading went.
type result struct {
	// Failure is the key in failures; empty of a document that was read.
	Failure string `json:"failure,omitempty"`
	// Cause says more about a failure, for the log.
	Cause       string `json:"cause,omitempty"`
	Title       string `json:"title,omitempty"`
	ContentType string `json:"contentType,omitempty"`
	Pages       int    `json:"pages,omitempty"`
	Sections    int    `json:"sections,omitempty"`
}

// failures are the errors that a child tells apart.
var failures = map[string]error{
	"unsupported": extract.ErrUnsupported, "unreadable": extract.ErrUnreadable, "empty": extract.ErrEmpty,
	"too_large": extract.ErrTooLarge, "too_complex": extract.ErrTooComplex,
}

// answer writes what came of a document.
func answer(w io.Writer, d extract.Document, err error) error {
	out := bufio.NewWriter(w)
	lines := json.NewEncoder(out)
	r := result{Title: d.Title, ContentType: d.ContentType, Pages: d.Pages, Sections: len(d.Sections)}
	if err != nil {
		r = result{Failure: "unreadable", Cause: err.Error()}
		for key, known := range failures {
			if errors.Is(err, known) {
				r.Failure = key
			}
		}
	}
	if err := lines.Encode(r); err != nil {
		return err
	}
	for i := range d.Sections {
		if err := lines.Encode(d.Sections[i]); err != nil {
			return err
		}
	}
	return out.Flush()
}

// errGarbled says that a child did not answer as children do.
var errGarbled = errors.New("the answer of the child is incomplete")

// understand reads what answer wrote, and trusts it no more than the document.
func understand(r io.Reader) (d extract.Document, err error) {
	lines := json.NewDecoder(io.LimitReader(r, maxAnswer))
	var got result
	if err := lines.Decode(&got); err != nil {
		return d, fmt.Errorf("%w: %w", errGarbled, err)
	}
	if got.Failure != "" {
		known, ok := failures[got.Failure]
		if !ok {
			return d, errGarbled
		}
		return d, fmt.Errorf("%w: %s", known, got.Cause)
	}
	d = extract.Document{Title: got.Title, ContentType: got.ContentType, Pages: got.Pages}
	for range got.Sections {
		var s extract.Section
		if err := lines.Decode(&s); err != nil {
			return extract.Document{}, fmt.Errorf("%w: %w", errGarbled, err)
		}
		d.Sections = append(d.Sections, s)
	}
	return d, nil
}

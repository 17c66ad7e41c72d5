package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// screen shows a conversation: a line for each turn, and beneath it what the
// turn rests on.
type screen struct {
	out io.Writer
	// terminal says that a person types: only a person is prompted.
	terminal bool
	name     string
	// speaking says that the line holds a turn that goes on, prompted that it
	// holds the prompt.
	speaking, prompted bool
}

// received is what a person wants to see of any message.
type received struct {
	Text, Name, Kind, Code, Message, State, Status, EndReason string

	Final   bool
	EndsInS int64
	Sources []source
	Session struct{ Name string }
}

type source struct {
	Title string
	Page  *int
}

func (s source) String() string {
	if s.Page == nil {
		return s.Title
	}
	return fmt.Sprintf("%s, page %d", s.Title, *s.Page)
}

// show shows a message.
func (s *screen) show(kind string, d received) {
	switch kind {
	case "session-ready":
		s.name = d.Session.Name
	case "state":
		if d.State == "listening" {
			s.prompt()
		}
	case "bot-text":
		s.say(cmp.Or(d.Name, s.name), d.Text)
		if d.Final {
			s.endLine()
			s.rest(d.Sources)
		}
	case "staff-text":
		s.line(d.Name + ": " + d.Text)
	case "interrupted":
		s.line("— interrupted")
	case "notice":
		s.line("— " + cmp.Or(d.Text, strings.TrimSpace(d.Name+" "+spaced(strings.TrimPrefix(d.Kind, "staff_")))))
	case "tool":
		s.line("— " + spaced(d.Name) + " " + d.Status)
	case "error":
		s.line("— " + cmp.Or(d.Message, spaced(d.Code)))
	case "session-ended":
		s.line("— The conversation is over: " + spaced(d.EndReason) + ".")
	}
}

// say puts words at the end of the line of who says them.
func (s *screen) say(who, text string) {
	if text == "" {
		return
	}
	if s.speaking {
		fmt.Fprint(s.out, " "+text)
		return
	}
	s.endLine()
	s.speaking = true
	fmt.Fprint(s.out, who+": "+text)
}

// rest shows what an answer rests on, each document once.
func (s *screen) rest(sources []source) {
	var shown []string
	for _, from := range sources {
		if text := from.String(); !slices.Contains(shown, text) {
			shown = append(shown, text)
			s.line("  ↳ " + text)
		}
	}
}

func (s *screen) line(text string) {
	s.endLine()
	fmt.Fprintln(s.out, text)
}

// endLine begins a new line, unless one has begun. A prompt makes room.
func (s *screen) endLine() {
	switch {
	case s.speaking:
		fmt.Fprintln(s.out)
	case s.prompted:
		fmt.Fprint(s.out, "\r\x1b[K")
	}
	s.speaking, s.prompted = false, false
}

func (s *screen) prompt() {
	if !s.terminal || s.speaking || s.prompted {
		return
	}
	s.prompted = true
	fmt.Fprint(s.out, "> ")
}

// entered says that a person ended the line.
func (s *screen) entered() {
	if s.terminal {
		s.speaking, s.prompted = false, false
	}
}

// spaced is a name of the protocol's in words.
func spaced(name string) string { return strings.ReplaceAll(name, "_", " ") }

// typedIn says whether a file is a terminal.
func typedIn(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

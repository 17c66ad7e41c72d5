package embedded

import (
	"errors"
	"io"
	"os"
	"strings"
)

const (
	serverLogLimit = 16 << 20
	tailBytes      = 8 << 10
	tailLines      = 20
)

// serverLog is the file that the server's output goes to.
type serverLog struct {
	*os.File

	// begin is where the output of the current attempt begins, so that an
	// error never quotes an earlier server.
	begin int64
}

func openServerLog(dir *directory) (*serverLog, error) {
	f, err := dir.open("server.log", os.O_APPEND)
	if err != nil {
		return nil, err
	}
	l := &serverLog{File: f}
	if err := l.mark(); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	if l.begin > serverLogLimit {
		if err := f.Truncate(0); err != nil {
			return nil, errors.Join(err, f.Close())
		}
		l.begin = 0
	}
	return l, nil
}

// mark makes tail begin at what is written from now on.
func (l *serverLog) mark() error {
	info, err := l.Stat()
	if err != nil {
		return err
	}
	l.begin = info.Size()
	return nil
}

// tail returns the last lines since mark.
func (l *serverLog) tail() string {
	info, err := l.Stat()
	if err != nil {
		return err.Error()
	}
	from := max(l.begin, info.Size()-tailBytes)
	text, err := io.ReadAll(io.NewSectionReader(l, from, tailBytes))
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return strings.Join(lines[max(0, len(lines)-tailLines):], "\n")
}

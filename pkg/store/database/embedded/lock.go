package embedded

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// ErrInUse means that another Server, of this or another process, holds the
// directory.
var ErrInUse = errors.New("the directory is in use")

// lock holds a directory for this process. The kernel releases it when the
// process dies, however that happens; the server does not inherit it, since Go
// opens files close-on-exec.
type lock struct {
	file *os.File
}

func acquire(dir *directory) (*lock, error) {
	f, err := dir.open("lock", 0)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		defer f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fmt.Errorf("%w by process %s", ErrInUse, holder(f))
		}
		return nil, fmt.Errorf("lock %s: %w", f.Name(), err)
	}
	l := &lock{file: f}
	if err := l.sign(); err != nil {
		return nil, errors.Join(err, l.release())
	}
	return l, nil
}

// sign writes down who holds the lock, for the error that others get.
func (l *lock) sign() error {
	if err := l.file.Truncate(0); err != nil {
		return err
	}
	_, err := l.file.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	return err
}

func holder(f *os.File) string {
	text, err := io.ReadAll(io.LimitReader(f, 32))
	if pid := strings.TrimSpace(string(text)); err == nil && pid != "" {
		return pid
	}
	return "unknown"
}

// release lets others in. The file stays: removing it would let two processes
// each lock a file of that name.
func (l *lock) release() error { return l.file.Close() }

//go:build linux

package sandbox

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// taken is how much memory of its own the process has, in bytes: what RLIMIT_DATA counts.
// Go reserves a great deal of addresses that it never touches; those do not count there,
// as they do for RLIMIT_AS.
func taken() (int64, error) {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0, err
	}
	fields := bytes.Fields(text)
	const data = 5 // size resident shared text lib data dt
	if len(fields) <= data {
		return 0, fmt.Errorf("read /proc/self/statm: it is %q", text)
	}
	pages, err := strconv.ParseInt(string(fields[data]), 10, 64)
	return pages * int64(os.Getpagesize()), err
}

// confine sets the limits of the process for good. own is what it takes already.
func confine(o order, own int64) error {
	// Where memory runs out all the same, this is what goes.
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0)
	// The runtime opens what it waits with at the first timer: from then on it opens nothing.
	time.AfterFunc(time.Hour, func() {}).Stop()
	open, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return err
	}
	highest := uint64(2)
	for _, f := range open {
		if n, err := strconv.ParseUint(f.Name(), 10, 32); err == nil && n > highest && alive(int(n)) {
			highest = n
		}
	}
	seconds := uint64(max(1, (o.processor+time.Second-1)/time.Second))
	for _, l := range []struct {
		which int
		most  uint64
	}{
		{unix.RLIMIT_CORE, 0},
		{unix.RLIMIT_FSIZE, 0},
		{unix.RLIMIT_NOFILE, highest + 1},
		{unix.RLIMIT_CPU, seconds},
		{unix.RLIMIT_DATA, uint64(own + o.memory)},
	} {
		if err := unix.Setrlimit(l.which, &unix.Rlimit{Cur: l.most, Max: l.most}); err != nil {
			return fmt.Errorf("set resource limit %d to %d: %w", l.which, l.most, err)
		}
	}
	return nil
}

// alive says whether a descriptor is open still: the one that listed them is not.
func alive(fd int) bool {
	_, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
	return err == nil
}

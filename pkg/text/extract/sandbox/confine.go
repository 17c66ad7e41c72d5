//go:build linux

package sandbox

import (
	"fmt"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// footprint is what memory a process has: what of it is its own, which RLIMIT_DATA counts,
// and all its addresses, which RLIMIT_AS counts. Both are in bytes.
type footprint struct{ own, addresses int64 }

// taken is what memory the process has already.
func taken() (f footprint, err error) {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return f, err
	}
	var resident, shared, code, lib int64
	if _, err := fmt.Sscan(string(text), &f.addresses, &resident, &shared, &code, &lib, &f.own); err != nil {
		return f, fmt.Errorf("read /proc/self/statm, which is %q: %w", text, err)
	}
	page := int64(os.Getpagesize())
	return footprint{own: f.own * page, addresses: f.addresses * page}, nil
}

// confine sets the limits of the process for good, counted from what it has already. Of
// addresses Go reserves far more than it touches at its start, and then about as much as it
// uses. They are bounded too because Linux since 6.12 lets one allocation of any size pass
// RLIMIT_DATA where its addresses were reserved before, as Go does.
func confine(o order, has footprint) error {
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
		{unix.RLIMIT_DATA, uint64(has.own + o.memory)},
		{unix.RLIMIT_AS, uint64(has.addresses + o.memory)},
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

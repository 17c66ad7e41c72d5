// Package sandboxtest measures what children of package sandbox take.
package sandboxtest

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"visavis.dev/pkg/text/extract/sandbox"
)

// every is how often children are looked at. The system remembers the most that each had,
// so that only what it took since the last look is missed.
const every = 2 * time.Millisecond

// Peak is the most memory, in bytes, that a child of this process had at once while work was
// done. What the system says of a child that ended (Rusage.Maxrss) is of no use for that: a
// child is given the peak of its parent when it starts.
func Peak(work func()) int64 {
	done := make(chan struct{})
	most := make(chan int64)
	go func() {
		ticks := time.NewTicker(every)
		defer ticks.Stop()
		var peak int64
		for {
			select {
			case <-done:
				most <- peak
				return
			case <-ticks.C:
				peak = max(peak, childrensPeak())
			}
		}
	}()
	work()
	close(done)
	return <-most
}

// childrensPeak is the most that one of the children there are has had so far.
func childrensPeak() (peak int64) {
	self, err := os.Executable()
	if err != nil {
		return 0
	}
	tasks, _ := filepath.Glob("/proc/self/task/*/children")
	for _, path := range tasks {
		text, _ := os.ReadFile(path) // a thread may be gone
		for pid := range bytes.FieldsSeq(text) {
			// A child that has not yet become a program shares its parent's memory.
			if words, _ := os.ReadFile(fmt.Sprintf("/proc/%s/cmdline", pid)); !bytes.HasPrefix(words, []byte(self+"\x00"+sandbox.Command)) {
				continue
			}
			peak = max(peak, highWater(string(pid)))
		}
	}
	return peak
}

// highWater is the most resident memory that a process has had, in bytes; 0 where it is gone.
func highWater(pid string) int64 {
	status, _ := os.ReadFile("/proc/" + pid + "/status")
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	var kibibytes int64
	_, _ = fmt.Sscan(rest, &kibibytes)
	return kibibytes << 10
}

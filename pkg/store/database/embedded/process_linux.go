package embedded

import (
	"bytes"
	"os"
	"strconv"
)

// commandLine returns the arguments of a process, each followed by a space;
// nothing for a process that is gone or only waits to be reaped.
func commandLine(pid int) string {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline")
	if err != nil {
		return ""
	}
	return string(bytes.ReplaceAll(text, []byte{0}, []byte{' '}))
}

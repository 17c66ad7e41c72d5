//go:build unix && !linux

package embedded

import (
	"os/exec"
	"strconv"
	"strings"
)

// commandLine returns the arguments of a process, each followed by a space;
// nothing for a process that is gone.
func commandLine(pid int) string {
	text, err := exec.Command("ps", "-ww", "-o", "args=", "-p", strconv.Itoa(pid)).Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text)) + " "
}

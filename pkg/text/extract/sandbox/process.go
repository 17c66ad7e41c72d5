//go:build linux

package sandbox

import (
	"os/exec"
	"syscall"
)

// attributes give a child a group of its own, which ends with its parent.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// end ends a child and whatever it started.
func end(cmd *exec.Cmd) error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }

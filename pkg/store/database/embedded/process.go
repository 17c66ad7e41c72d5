package embedded

import (
	"context"
	"os/exec"
	"runtime"
	"syscall"

	"visavis.dev/pkg/base/childproc"
)

// process is a child in a process group of its own, so that an interrupt from
// the terminal reaches only this process, which then decides the order in which
// things stop.
type process struct {
	cmd  *exec.Cmd
	done chan struct{} // closed when the child was waited for
}

// startProcess starts the command. The death signal is sent to the child when
// this process dies without having ended it, on systems that can do so.
func startProcess(cmd *exec.Cmd, death syscall.Signal) (*process, error) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = new(syscall.SysProcAttr)
	}
	cmd.SysProcAttr.Setpgid = true
	childproc.EndWithParent(cmd.SysProcAttr, death)

	p := &process{cmd: cmd, done: make(chan struct{})}
	started := make(chan error)
	go func() {
		// For the kernel the parent is the thread that made the child. It must
		// not end before the child does, so it is kept to wait for it.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err != nil {
			return
		}
		// How the child ended is in cmd.ProcessState.
		_ = cmd.Wait()
		close(p.done)
	}()
	return p, <-started
}

func (p *process) pid() int { return p.cmd.Process.Pid }

// signal returns os.ErrProcessDone when the child was waited for.
func (p *process) signal(s syscall.Signal) error { return p.cmd.Process.Signal(s) }

// state says how the child ended. It is known once done is closed.
func (p *process) state() string { return p.cmd.ProcessState.String() }

// runProcess runs the command to its end, and kills its group when ctx ends
// first.
func runProcess(ctx context.Context, cmd *exec.Cmd) error {
	p, err := startProcess(cmd, syscall.SIGKILL)
	if err != nil {
		return err
	}
	select {
	case <-p.done:
	case <-ctx.Done():
		// An error means that the group ended by itself meanwhile.
		_ = syscall.Kill(-p.pid(), syscall.SIGKILL)
		<-p.done
		return ctx.Err()
	}
	if !cmd.ProcessState.Success() {
		return &exec.ExitError{ProcessState: cmd.ProcessState}
	}
	return nil
}

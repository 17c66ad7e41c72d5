package node

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// First is the node's first process, which Up starts in namespaces of its own.
// It starts the daemons, starts those that end again, and takes the exits of
// whatever lost its parent. It ends only before it began: when Up goes away
// without having made the network.
func First(state string) error {
	if os.Getpid() != 1 {
		return errors.New("this is the first process of a node, which up starts")
	}
	if err := mounts(state); err != nil {
		return err
	}
	// Up writes a byte once there is a network; a pipe that closes says that it died.
	if _, err := io.ReadFull(os.Stdin, make([]byte, 1)); err != nil {
		return fmt.Errorf("nothing to begin with: %w", err)
	}
	text, err := os.ReadFile(filepath.Join(state, "daemons.json"))
	if err != nil {
		return err
	}
	var all []daemon
	if err := json.Unmarshal(text, &all); err != nil {
		return err
	}
	return supervise(state, all)
}

// mounts makes this process's view of the machine's files its own: what is
// mounted from here on is seen by nobody else, and what programs keep at fixed
// places goes where it ends with the node.
func mounts(state string) error {
	// Shared below this process, as the kubelet and containerd have to see each other's.
	for _, flag := range []uintptr{syscall.MS_PRIVATE, syscall.MS_SHARED} {
		if err := syscall.Mount("", "/", "", syscall.MS_REC|flag, ""); err != nil {
			return fmt.Errorf("propagation of mounts: %w", err)
		}
	}
	if err := syscall.Mount("proc", "/proc", "proc", 0, ""); err != nil {
		return fmt.Errorf("mount /proc: %w", err)
	}
	if err := syscall.Mount("tmpfs", "/run", "tmpfs", 0, "mode=755"); err != nil {
		return fmt.Errorf("mount /run: %w", err)
	}
	for _, place := range []string{"/var/log", "/var/lib/cni"} {
		own := filepath.Join(state, "own", strings.ReplaceAll(place[1:], "/", "-"))
		if err := errors.Join(os.MkdirAll(own, 0o755), os.MkdirAll(place, 0o755)); err != nil {
			return err
		}
		if err := syscall.Mount(own, place, "", syscall.MS_BIND, ""); err != nil {
			return fmt.Errorf("mount %s: %w", place, err)
		}
	}
	return nil
}

// pause before a daemon that ended is started again.
const pause = 300 * time.Millisecond

// supervise keeps the daemons running for ever.
func supervise(state string, all []daemon) error {
	running := map[int]daemon{}
	for _, d := range all {
		pid, err := d.start(state)
		if err != nil {
			return err
		}
		running[pid] = d
	}
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, 0, nil)
		if errors.Is(err, syscall.EINTR) {
			continue
		}
		if err != nil {
			return fmt.Errorf("wait: %w", err)
		}
		d, ours := running[pid]
		if !ours {
			continue
		}
		delete(running, pid)
		fmt.Printf("%s %s ended: exit %d, signal %d\n", time.Now().UTC().Format(time.RFC3339), d.Name, status.ExitStatus(), status.Signal())
		<-time.After(pause)
		if pid, err = d.start(state); err != nil {
			return err
		}
		running[pid] = d
	}
}

// start runs a daemon with a log of its own and answers its process.
func (d daemon) start(state string) (pid int, err error) {
	log, err := os.OpenFile(logFile(state, d.Name), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return 0, err
	}
	defer log.Close()
	null, err := os.Open(os.DevNull)
	if err != nil {
		return 0, err
	}
	defer null.Close()
	// containerd finds its shim beside itself.
	path := filepath.Dir(d.Command[0]) + ":/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
	pid, err = syscall.ForkExec(d.Command[0], d.Command, &syscall.ProcAttr{
		Dir: state, Env: []string{"PATH=" + path, "HOME=" + state},
		Files: []uintptr{null.Fd(), log.Fd(), log.Fd()},
		Sys:   &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		return 0, fmt.Errorf("start %s: %w", d.Name, err)
	}
	return pid, nil
}

func logFile(state, daemon string) string { return filepath.Join(state, "log", daemon) }

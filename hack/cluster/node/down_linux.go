package node

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
)

// lockFile is not in State, which Down removes, and stays: one who waits for it
// would else hold the lock of a file that is gone.
const lockFile = "/run/visavis-cluster.lock"

// lock keeps two runs from starting and stopping at the same time.
func lock() (unlock func(), err error) {
	file, err := os.OpenFile(lockFile, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX); err != nil {
		file.Close()
		return nil, err
	}
	return func() { file.Close() }, nil
}

// Down stops the node, if it runs, and removes all of it.
func Down() error {
	unlock, err := lock()
	if err != nil {
		return err
	}
	defer unlock()
	return down()
}

func down() error {
	r, err := readRecord(State)
	if err != nil {
		return err
	}
	if r != nil {
		if err := r.kill(); err != nil {
			return err
		}
	}
	disconnect()
	for _, place := range mountPoints {
		// Empty unless it is the machine's own, and then it stays.
		_ = os.Remove(place)
	}
	return errors.Join(emptied(), os.RemoveAll(State))
}

// emptied removes the node's cgroups once the kernel took the last processes out of them.
func emptied() error {
	for deadline := time.Now().Add(15 * time.Second); ; {
		err := removeCgroups(cgroupRoot)
		if err == nil || time.Now().After(deadline) {
			return err
		}
		<-time.After(100 * time.Millisecond)
	}
}

// kill ends the node: with its first process the kernel ends all others, and
// the first is gone only after them.
func (r record) kill() error {
	if !r.alive() {
		return nil
	}
	if err := syscall.Kill(r.pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
		return err
	}
	deadline := time.After(30 * time.Second)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for r.alive() {
		select {
		case <-tick.C:
		case <-deadline:
			return fmt.Errorf("the node's first process, %d, does not end", r.pid)
		}
	}
	return nil
}

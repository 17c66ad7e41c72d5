package main

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"visavis.dev/hack/freeport"
	"visavis.dev/pkg/base/childproc"
)

// process is a server under measurement.
type process struct {
	cmd        *exec.Cmd
	url, admin string
}

// unlimited lifts the limits that are not being measured.
var unlimited = []string{"--address-limit=100000000"}

// startAPI runs visavis api until stop.
func (f *fixture) startAPI(args ...string) (*process, error) {
	return f.startFront("api", func(p *process) string { return p.url + "/v1/health" }, args...)
}

// startPortal runs visavis portal until stop.
func (f *fixture) startPortal(args ...string) (*process, error) {
	return f.startFront("portal", func(p *process) string { return p.admin + "/livez" }, args...)
}

// startFront runs a role that callers reach; health is an address that answers
// once it is up.
func (f *fixture) startFront(role string, health func(*process) string, args ...string) (*process, error) {
	addr, err := freeport.Address()
	if err != nil {
		return nil, err
	}
	admin, err := freeport.Address()
	if err != nil {
		return nil, err
	}
	args = append([]string{
		role, "--database", f.directoryURL, "--files", "file://" + f.folder, "--addr", addr, "--admin-addr", admin,
	}, args...)
	p := &process{cmd: exec.Command(f.binary, args...), url: "http://" + addr, admin: "http://" + admin}
	return p, p.start(health(p))
}

// startWorker runs visavis worker until stop.
func (f *fixture) startWorker(args ...string) (*process, error) {
	admin, err := freeport.Address()
	if err != nil {
		return nil, err
	}
	args = append([]string{"worker", "--database", f.directoryURL, "--files", "file://" + f.folder, "--admin-addr", admin}, args...)
	p := &process{cmd: exec.Command(f.binary, args...), admin: "http://" + admin}
	p.cmd.Stderr = os.Stderr
	return p, p.start(p.admin + "/livez")
}

// startSelf runs this binary as a floor, in a role with what it works on, until it answers at a path.
func startSelf(role, on, health string) (*process, error) {
	addr, err := freeport.Address()
	if err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	p := &process{cmd: exec.Command(self, role, addr, on), url: "http://" + addr}
	return p, p.start(p.url + health)
}

func (p *process) start(health string) error {
	// The lines are written, as in production, but not kept.
	p.cmd.SysProcAttr = &syscall.SysProcAttr{}
	childproc.EndWithParent(p.cmd.SysProcAttr, syscall.SIGKILL)
	if err := p.cmd.Start(); err != nil {
		return err
	}
	deadline := time.Now().Add(20 * time.Second)
	for {
		response, err := http.Get(health)
		if err == nil {
			response.Body.Close()
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%v does not answer: %w", p.cmd.Args, err)
		}
	}
}

func (p *process) stop() error {
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	return p.cmd.Wait()
}

// metric reads one number of /metrics.
func (p *process) metric(name string) (float64, error) {
	response, err := http.Get(p.admin + "/metrics")
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	lines := bufio.NewScanner(response.Body)
	for lines.Scan() {
		if rest, ok := strings.CutPrefix(lines.Text(), name+" "); ok {
			return strconv.ParseFloat(rest, 64)
		}
	}
	return 0, fmt.Errorf("no metric %s", name)
}

// resident is the process's memory, in MiB, after a collection.
func (p *process) resident() (float64, error) {
	// Asking for the heap with gc=1 collects first.
	response, err := http.Get(p.admin + "/debug/pprof/heap?gc=1")
	if err != nil {
		return 0, err
	}
	_, _ = io.Copy(io.Discard, response.Body)
	response.Body.Close()
	return p.status("VmRSS")
}

// status is one of the figures of the kernel about the process's memory, in MiB.
func (p *process) status(name string) (float64, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(status)) {
		if fields := strings.Fields(line); len(fields) > 1 && fields[0] == name+":" {
			kib, err := strconv.ParseFloat(fields[1], 64)
			return kib / 1024, err
		}
	}
	return 0, fmt.Errorf("no %s", name)
}

// inUse is the process's memory and what of it is in use, both in MiB, after a
// collection: the heap's objects and the goroutines' stacks.
func (p *process) inUse() (resident, used float64, err error) {
	if resident, err = p.resident(); err != nil {
		return 0, 0, err
	}
	for _, name := range []string{"go_memstats_heap_alloc_bytes", "go_memstats_stack_inuse_bytes"} {
		bytes, err := p.metric(name)
		if err != nil {
			return 0, 0, err
		}
		used += bytes / (1 << 20)
	}
	return resident, used, nil
}

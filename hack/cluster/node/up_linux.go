package node

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"visavis.dev/hack/cluster/image"
)

// Up starts the node and answers once it takes pods. One that runs already, of
// the same programs, is left as it is; what is left of another is removed.
func (n Node) Up(ctx context.Context) error {
	if err := require(); err != nil {
		return err
	}
	unlock, err := lock()
	if err != nil {
		return err
	}
	defer unlock()
	r, err := readRecord(State)
	if err == nil && r != nil && r.alive() && r.programs == n.Programs && n.ready(ctx) == nil {
		return nil
	}
	if err := down(); err != nil {
		return err
	}
	if err := n.prepare(); err != nil {
		return err
	}
	if err := n.start(); err != nil {
		return errors.Join(err, down())
	}
	return n.await(ctx)
}

// prepare writes all that the node's processes read.
func (n Node) prepare() error {
	if err := os.MkdirAll(filepath.Join(State, "log"), 0o755); err != nil {
		return err
	}
	if err := writeIdentities(State, time.Now()); err != nil {
		return err
	}
	if err := writeFiles(State); err != nil {
		return err
	}
	text, err := json.MarshalIndent(daemons(n.Programs, State), "", "  ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(State, "daemons.json"), text, 0o644); err != nil {
		return err
	}
	return makeCgroups(cgroupRoot)
}

// start starts the node's first process, notes it, and lets it begin when it
// has a network.
func (n Node) start() error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	log, err := os.Create(logFile(State, FirstCommand))
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := exec.Command(program, FirstCommand)
	cmd.Dir, cmd.Stdout, cmd.Stderr = State, log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Setsid:     true,
		Cloneflags: syscall.CLONE_NEWPID | syscall.CLONE_NEWNS | syscall.CLONE_NEWNET,
	}
	begin, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	defer begin.Close()
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("first process: %w", err)
	}
	// Nobody waits for it: it outlives this process. A watcher that takes its
	// exit keeps it from looking alive to an Up that goes on.
	go func() { _ = cmd.Wait() }()
	started, _, err := processOf(cmd.Process.Pid)
	if err != nil {
		return err
	}
	r := record{pid: cmd.Process.Pid, started: started, programs: n.Programs}
	if err := r.write(State); err != nil {
		return err
	}
	if err := connect(r.pid); err != nil {
		return err
	}
	_, err = begin.Write([]byte{'\n'})
	return err
}

// await waits until pods can run, and says what the daemons said if they never can.
func (n Node) await(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	for _, step := range []struct {
		what string
		done func(context.Context) error
	}{
		{"the API server answers", n.answers},
		{"containerd has the image of pods", n.loadPause},
		{"the node takes pods", n.ready},
	} {
		if err := poll(ctx, step.done); err != nil {
			return fmt.Errorf("not in time: %s: %w; logs are in %s", step.what, err, filepath.Join(State, "log"))
		}
	}
	return nil
}

// poll tries until it succeeds, and answers the last failure when time is up.
func poll(ctx context.Context, try func(context.Context) error) error {
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for {
		err := try(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return err
		case <-tick.C:
		}
	}
}

func (n Node) answers(ctx context.Context) error {
	_, err := n.kubectl(ctx, "get", "--raw", "/readyz")
	return err
}

// ready is nil when the node takes pods and the account they run as is there.
func (n Node) ready(ctx context.Context) error {
	out, err := n.kubectl(ctx, "get", "node", Name, "-o", `jsonpath={.status.conditions[?(@.type=="Ready")].status}`)
	if err != nil {
		return err
	}
	if out != "True" {
		return fmt.Errorf("Ready is %q", out)
	}
	_, err = n.kubectl(ctx, "get", "serviceaccount", "default")
	return err
}

func (n Node) loadPause(ctx context.Context) error {
	binary, err := os.ReadFile(n.Pause)
	if err != nil {
		return err
	}
	archive := filepath.Join(State, "pause.tar")
	file, err := os.Create(archive)
	if err != nil {
		return err
	}
	defer file.Close()
	pause := image.Image{Name: pauseImage, Program: "pause", Binary: binary}
	if err := pause.Write(file); err != nil {
		return err
	}
	return n.Load(ctx, archive)
}

// Load gives the node an image, packed as docker save does.
func (n Node) Load(ctx context.Context, archive string) error {
	return n.output(exec.CommandContext(ctx, filepath.Join(n.Programs, "ctr"),
		"--address", filepath.Join(State, "containerd.sock"), "--namespace", "k8s.io", "images", "import", archive))
}

func (n Node) kubectl(ctx context.Context, arguments ...string) (string, error) {
	cmd := exec.CommandContext(ctx, filepath.Join(n.Programs, "kubectl"),
		append([]string{"--kubeconfig", Kubeconfig(), "--request-timeout", "5s"}, arguments...)...)
	out, err := cmd.Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return "", fmt.Errorf("kubectl: %s", exit.Stderr)
	}
	return string(out), err
}

func (n Node) output(cmd *exec.Cmd) error {
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", filepath.Base(cmd.Path), err, out)
	}
	return nil
}

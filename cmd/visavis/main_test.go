package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/store/database/databasetest"
)

// binary is the program under test, and testServer the database server that the
// tests share.
var binary, testServer string

func TestMain(m *testing.M) {
	code, err := runTests(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func runTests(m *testing.M) (code int, err error) {
	dir, err := os.MkdirTemp("", "visavis-binary-")
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	binary = filepath.Join(dir, "visavis")
	if out, err := exec.Command("go", "build", "-o", binary, ".").CombinedOutput(); err != nil {
		return 1, fmt.Errorf("build: %w\n%s", err, out)
	}
	if testServer = os.Getenv(databasetest.Env); testServer == "" {
		var stop func() error
		if testServer, stop, err = databasetest.Start(context.Background(), false); err != nil {
			return 1, err
		}
		defer func() { err = errors.Join(err, stop()) }()
	}
	return m.Run(), nil
}

// cleanEnvironment is the environment without settings of the program.
func cleanEnvironment(extra ...string) []string {
	var env []string
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "VISAVIS_") && !strings.HasPrefix(v, "OTEL_") {
			env = append(env, v)
		}
	}
	return append(env, extra...)
}

// output is what a process wrote so far.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(b)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// program is a running visavis.
type program struct {
	cmd            *exec.Cmd
	stdout, stderr output
	ended          chan struct{}
}

// launch starts a role, which is ended with the test at the latest.
func launch(t *testing.T, args ...string) *program {
	t.Helper()
	return launchWith(t, nil, args...)
}

// launchWith starts a role with settings in the environment.
func launchWith(t *testing.T, env []string, args ...string) *program {
	t.Helper()
	databasetest.RunsPrograms()
	p := &program{cmd: exec.Command(binary, args...), ended: make(chan struct{})}
	p.cmd.Env = cleanEnvironment(env...)
	p.cmd.Stdout, p.cmd.Stderr = &p.stdout, &p.stderr
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	require.NoError(t, p.cmd.Start())
	go func() {
		defer close(p.ended)
		_ = p.cmd.Wait() // its outcome is read from ProcessState
	}()
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("%s\n%s%s", strings.Join(args, " "), p.stdout.String(), p.stderr.String())
		}
		p.stop(t)
	})
	return p
}

func (p *program) running() bool {
	select {
	case <-p.ended:
		return false
	default:
		return true
	}
}

// stop ends the program in order and answers its exit code.
func (p *program) stop(t *testing.T) int {
	t.Helper()
	if p.running() {
		_ = p.cmd.Process.Signal(syscall.SIGTERM)
	}
	select {
	case <-p.ended:
	case <-time.After(20 * time.Second):
		_ = p.cmd.Process.Signal(syscall.SIGQUIT) // Go prints what every goroutine does, and ends
		select {
		case <-p.ended:
		case <-time.After(5 * time.Second):
			p.kill()
		}
		t.Errorf("the program did not stop within 20 seconds of SIGTERM:\n%s", p.stderr.String())
	}
	return p.cmd.ProcessState.ExitCode()
}

// kill ends the program and whatever is in its process group at once.
func (p *program) kill() {
	_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL)
	<-p.ended
}

// execute runs a command to its end.
func execute(t *testing.T, env []string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	databasetest.RunsPrograms()
	var out, errs bytes.Buffer
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Env, cmd.Stdout, cmd.Stderr = cleanEnvironment(env...), &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		require.NoError(t, err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// runJSON runs a command that succeeds and reads the JSON it prints.
func runJSON[T any](t *testing.T, args ...string) T {
	t.Helper()
	stdout, stderr, code := execute(t, nil, append(args, "--json")...)
	require.Zero(t, code, "%v: %s", args, stderr)
	var v T
	require.NoError(t, json.Unmarshal([]byte(stdout), &v), "%v: %s", args, stdout)
	return v
}

package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/hack/freeport"
)

// cannotRun are the blocks of the documentation that cannot run here, by how
// they begin, and why.
var cannotRun = []struct {
	begins *regexp.Regexp
	why    string
}{
	{regexp.MustCompile(`^make test`), "this test is one of those that it runs"},
	{regexp.MustCompile(`^go run ./hack/withkube go test`), "it runs tests that make test runs too"},
	{regexp.MustCompile(`^export VISAVIS_DATABASE=`), "it needs the databases of a deployment, and its processes do not end"},
	{regexp.MustCompile(`^psql "\$`), "it needs the databases of a deployment, or copies of them"},
	{regexp.MustCompile(`^(kubectl|helm|docker|admin|admin\(\)) ?`), "it needs a Kubernetes with the platform on it, as hack/e2e has"},
	{regexp.MustCompile(`^VOICE=`), "it needs the program that speaks beside the one under test"},
	{regexp.MustCompile(`^CONNECTION=|^ollama `), "it needs the service of a model"},
	{regexp.MustCompile(`^go run ./hack/cluster|^export VISAVIS_E2E_IMAGES=`), "it makes a Kubernetes of this machine, as hack/e2e does"},
}

// Whoever follows the README and the pages of docs, block by block and as they are
// written, is never stopped: every command succeeds and no answer is an error.
func TestThePagesCanBeFollowed(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	require.NoError(t, os.Mkdir(dir, 0o700))
	reader := newReader(t, dir)
	pages, err := filepath.Glob("../../docs/*.md")
	require.NoError(t, err)
	excused := map[string]bool{}
	// The quickstart goes on from the README, and other pages from there.
	first := []string{"../../README.md", "../../docs/quickstart.md"}
	others := slices.DeleteFunc(pages, func(page string) bool { return slices.Contains(first, page) })
	for _, page := range append(first, others...) {
		text, err := os.ReadFile(page)
		require.NoError(t, err)
		for _, block := range shellBlock.FindAllStringSubmatch(string(text), -1) {
			if rule := excuse(block[1]); rule != "" {
				excused[rule] = true
				continue
			}
			reader.follow(filepath.Base(page), block[1])
		}
	}
	require.Len(t, excused, len(cannotRun), "a rule excuses nothing any more")
	require.Greater(t, reader.followed, 12)
}

// excuse is why a block cannot run; empty where it can.
func excuse(block string) string {
	for line := range strings.Lines(block) {
		if strings.HasPrefix(line, "#") || strings.TrimSpace(line) == "" {
			continue
		}
		for _, rule := range cannotRun {
			if rule.begins.MatchString(line) {
				return rule.why
			}
		}
		return ""
	}
	return ""
}

// reader is somebody who types the blocks of a page into a shell, beside a
// visavis dev that they restart where a page says so.
type reader struct {
	t    *testing.T
	dir  string
	dev  *program
	addr string
	// written puts what this machine has in the place of what pages say.
	written *strings.Replacer

	shell    io.Writer
	done     *bufio.Reader
	shown    *output
	followed int
}

func newReader(t *testing.T, dir string) *reader {
	t.Helper()
	r := &reader{t: t, dir: dir, addr: freeAddress(t), shown: &output{}, written: strings.NewReplacer(
		"bin/visavis", binary, ".visavis/", dir+"/", "127.0.0.1:9443", freeAddress(t), "127.0.0.1:9444", freeAddress(t),
	)}
	ctx, cancel := context.WithTimeout(context.Background(), 8*time.Minute)
	t.Cleanup(cancel)
	shell := exec.CommandContext(ctx, "bash", "--noprofile", "--norc")
	shell.Dir, shell.Env = "../..", cleanEnvironment("VISAVIS_DATA_DIR="+dir)
	shell.Stdout, shell.Stderr = r.shown, r.shown
	shell.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	shell.Cancel = func() error { return syscall.Kill(-shell.Process.Pid, syscall.SIGKILL) }
	shell.WaitDelay = time.Second
	typed, err := shell.StdinPipe()
	require.NoError(t, err)
	done, ended, err := os.Pipe()
	require.NoError(t, err)
	shell.ExtraFiles = []*os.File{ended}
	require.NoError(t, shell.Start())
	require.NoError(t, ended.Close())
	t.Cleanup(func() {
		cancel()
		_ = shell.Wait() // it was killed, with what it left behind
		_ = done.Close()
		if t.Failed() {
			t.Log(r.shown.String())
		}
	})
	r.shell, r.done = typed, bufio.NewReader(done)
	return r
}

func freeAddress(t *testing.T) string {
	t.Helper()
	free, err := freeport.Address()
	require.NoError(t, err)
	return free
}

var makeRun = regexp.MustCompile(`(?m)^make run(?: RUN_ARGS="([^"]*)")?$`)

// follow does what a block of a page says.
func (r *reader) follow(page, block string) {
	r.t.Helper()
	r.followed++
	text := r.written.Replace(block)
	if m := makeRun.FindStringSubmatch(strings.TrimSpace(text)); m != nil {
		r.restart(strings.Fields(m[1]))
		return
	}
	require.NotNil(r.t, r.dev, "%s: a block comes before make run:\n%s", page, block)
	file := filepath.Join(r.t.TempDir(), fmt.Sprintf("%d.sh", r.followed))
	require.NoError(r.t, os.WriteFile(file, []byte("set -eo pipefail\n"+text), 0o600))
	before := len(r.shown.String())
	_, err := fmt.Fprintf(r.shell, "source %s </dev/null; echo done >&3\n", file)
	require.NoError(r.t, err)
	line, err := r.done.ReadString('\n')
	require.NoError(r.t, err, "%s: a command failed in:\n%s", page, text)
	require.Equal(r.t, "done\n", line)
	shown := r.shown.String()[before:]
	require.NotRegexp(r.t, `\{"error":\s*["{]`, shown, "%s: an answer is an error after:\n%s", page, text)
}

// restart ends the visavis dev there is, and starts one with the same folder.
func (r *reader) restart(args []string) {
	r.t.Helper()
	if r.dev != nil {
		require.Zero(r.t, r.dev.stop(r.t))
	}
	r.dev, _ = startDev(r.t, r.dir, append([]string{"--addr", r.addr}, args...)...)
}

package chaos

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/hack/freeport"
	"visavis.dev/pkg/base/childproc"
	"visavis.dev/pkg/store/database/databasetest"
)

// build builds the product.
func build(t *testing.T) string {
	t.Helper()
	databasetest.RunsPrograms()
	binary := filepath.Join(t.TempDir(), "visavis")
	cmd := exec.Command("go", "build", "-o", binary, "visavis.dev/cmd/visavis")
	cmd.Stderr = os.Stderr
	require.NoError(t, cmd.Run())
	return binary
}

// process is one process of the product, started again each time it is killed.
type process struct {
	t       *testing.T
	command []string
	ready   string

	mu  sync.Mutex
	cmd *exec.Cmd
}

// run starts a process; ready is an address that answers once it is up.
func run(t *testing.T, ready string, command ...string) *process {
	t.Helper()
	p := &process{t: t, command: command, ready: ready}
	p.start()
	t.Cleanup(p.kill)
	return p
}

func (p *process) start() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cmd = exec.Command(p.command[0], p.command[1:]...)
	p.cmd.SysProcAttr = &syscall.SysProcAttr{}
	childproc.EndWithParent(p.cmd.SysProcAttr, syscall.SIGKILL)
	require.NoError(p.t, p.cmd.Start())
}

// kill ends the process as a power cut does.
func (p *process) kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
}

// await waits until the process answers.
func (p *process) await() {
	p.t.Helper()
	require.Eventually(p.t, func() bool {
		response, err := http.Get(p.ready)
		if err != nil {
			return false
		}
		_ = response.Body.Close()
		return response.StatusCode == http.StatusOK
	}, 20*time.Second, 10*time.Millisecond, "%v", p.command)
}

func address(t *testing.T) string {
	t.Helper()
	free, err := freeport.Address()
	require.NoError(t, err)
	return free
}

// Package espeaktest gives tests the speech process.
package espeaktest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"visavis.dev/pkg/base/testcache"
	"visavis.dev/pkg/speech/espeak"
)

// built is the folder of the program; empty before there is one.
var built string

var program = sync.OnceValues(func() (string, error) {
	source, err := exec.Command("go", "list", "-f", "{{.Dir}}", "visavis.dev/cmd/visavis-speech").Output()
	if err != nil {
		return "", err
	}
	if err := testcache.Depends(strings.TrimSpace(string(source))); err != nil {
		return "", err
	}
	folder, err := os.MkdirTemp("", "visavis-speech-")
	if err != nil {
		return "", err
	}
	built = folder
	file := filepath.Join(folder, espeak.Program)
	build := exec.Command("go", "build", "-o", file, "visavis.dev/cmd/visavis-speech")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	build.Stderr = os.Stderr
	return file, build.Run()
})

// Program is the process' program, built once for each program of tests, which Tests remove.
func Program(t testing.TB) string {
	t.Helper()
	file, err := program()
	if err != nil {
		t.Fatalf("the speech process cannot be built: %v", err)
	}
	return file
}

// Tests are those of a package, after which the program is removed.
type Tests struct{ *testing.M }

// Run runs them.
func (t Tests) Run() int {
	defer func() { _ = os.RemoveAll(built) }()
	return t.M.Run()
}

// Open is a pool of processes that ends with the test.
func Open(t testing.TB, o espeak.Options) *espeak.Pool {
	t.Helper()
	o.Program = Program(t)
	pool, err := espeak.Open(o)
	if err != nil {
		t.Fatalf("there is no speech (install libespeak-ng1 with hack/speech.sh): %v", err)
	}
	t.Cleanup(pool.Close)
	return pool
}

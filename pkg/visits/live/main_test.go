package live_test

import (
	"flag"
	"fmt"
	"os"
	"syscall"
	"testing"

	"visavis.dev/pkg/speech/espeak/espeaktest"
	"visavis.dev/pkg/store/database/databasetest"
)

// nobody is a proxy that is not there: no process goes through one to another.
const nobody = "http://127.0.0.1:9"

func TestMain(m *testing.M) {
	if os.Getenv("HTTP_PROXY") != nobody {
		fmt.Fprintln(os.Stderr, "again with a proxy in the environment:", again())
		os.Exit(1)
	}
	_ = flag.Set("test.parallel", "6") // most of their time they wait
	databasetest.Main(espeaktest.Tests{M: m})
}

// again starts the tests anew with a proxy in the environment, and returns only if it cannot:
// net/http reads the environment once, in some libraries before the tests begin.
func again() error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY"} {
		if err := os.Setenv(name, nobody); err != nil {
			return err
		}
	}
	for _, name := range []string{"NO_PROXY", "no_proxy"} {
		if err := os.Unsetenv(name); err != nil { // a machine that exempts its own addresses
			return err
		}
	}
	return syscall.Exec(program, os.Args, os.Environ())
}

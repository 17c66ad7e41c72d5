package live_test

import (
	"flag"
	"os"
	"testing"

	"visavis.dev/pkg/speech/espeak/espeaktest"
	"visavis.dev/pkg/store/database/databasetest"
)

func TestMain(m *testing.M) {
	// No process goes through a proxy to another. net/http reads the environment once.
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY"} {
		_ = os.Setenv(name, "http://127.0.0.1:9") // nobody is there
	}
	for _, name := range []string{"NO_PROXY", "no_proxy"} {
		_ = os.Unsetenv(name) // a machine that exempts its own addresses
	}
	_ = flag.Set("test.parallel", "6") // most of their time they wait
	databasetest.Main(espeaktest.Tests{M: m})
}

package live_test

import (
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
	databasetest.Main(espeaktest.Tests{M: m})
}

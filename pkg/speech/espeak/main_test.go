package espeak_test

import (
	"os"
	"testing"

	"visavis.dev/pkg/speech/espeak/espeaktest"
)

func TestMain(m *testing.M) { os.Exit(espeaktest.Tests{M: m}.Run()) }

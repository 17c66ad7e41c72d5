package voice_test

import (
	"testing"

	"visavis.dev/pkg/database/databasetest"
)

func TestMain(m *testing.M) { databasetest.Main(m) }

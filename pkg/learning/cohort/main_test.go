package cohort_test

import (
	"testing"

	"visavis.dev/pkg/store/database/databasetest"
)

func TestMain(m *testing.M) { databasetest.Main(m) }

package file_test

import (
	"testing"

	"visavis.dev/pkg/store/database/databasetest"
	"visavis.dev/pkg/store/tenant/tenanttest"
)

func TestMain(m *testing.M) { databasetest.Main(m) }

// now is when every test begins.
var now = tenanttest.Now

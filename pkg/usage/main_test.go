package usage_test

import (
	"testing"

	"visavis.dev/pkg/database/databasetest"
	"visavis.dev/pkg/tenant/tenanttest"
)

func TestMain(m *testing.M) { databasetest.Main(m) }

// now is when every test begins.
var now = tenanttest.Now

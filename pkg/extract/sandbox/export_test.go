package sandbox

import "testing"

// Watch has a test told what each of its children took at most, in bytes.
func Watch(t *testing.T, tell func(peak int64)) {
	t.Helper()
	watch = tell
	t.Cleanup(func() { watch = nil })
}

package errdefs_test

import (
	"fmt"

	"visavis.dev/pkg/base/errdefs"
)

// A rule says what stands in the way; whoever asks sees it through any wrapping.
func ExampleIsNotFound() {
	const noun errdefs.Noun = "widget"
	err := fmt.Errorf("rotate the key: %w", errdefs.NotFound{Noun: noun, ID: "wg_1"})
	fmt.Println(errdefs.IsNotFound(err, noun), errdefs.IsGone(err, noun))
	// Output: true false
}

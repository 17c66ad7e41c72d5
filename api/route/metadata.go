package route

import (
	"visavis.dev/pkg/base/metadata"
	"visavis.dev/pkg/base/problem"
)

// CheckMetadata refuses metadata of a body that is more than a thing may carry:
// 20 keys of 40 characters, with values of 500.
func CheckMetadata(m map[string]string) error {
	if metadata.TooMany(m) {
		return problem.Invalid("body.metadata", "metadata holds at most %d keys.", metadata.MaxKeys)
	}
	for key, value := range m {
		if !metadata.Fits(key, value) {
			return problem.Invalid("body.metadata", "A metadata key has 1 to %d characters, a value at most %d.", metadata.MaxKeyLength, metadata.MaxValueLength)
		}
	}
	return nil
}

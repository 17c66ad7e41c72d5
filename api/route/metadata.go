package route

import "visavis.dev/pkg/problem"

// The bounds of metadata.
const (
	maxMetadata      = 20
	maxMetadataKey   = 40
	maxMetadataValue = 500
)

// CheckMetadata refuses metadata of a body that is more than a thing may carry:
// 20 keys of 40 characters, with values of 500.
func CheckMetadata(m map[string]string) error {
	if len(m) > maxMetadata {
		return problem.Invalid("body.metadata", "metadata holds at most %d keys.", maxMetadata)
	}
	for key, value := range m {
		if key == "" || len([]rune(key)) > maxMetadataKey || len([]rune(value)) > maxMetadataValue {
			return problem.Invalid("body.metadata", "A metadata key has 1 to %d characters, a value at most %d.", maxMetadataKey, maxMetadataValue)
		}
	}
	return nil
}

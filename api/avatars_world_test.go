package api_test

import (
	"sync"

	"visavis.dev/api/apitest"
)

var portrait = sync.OnceValue(func() string { return apitest.Picture(512) })

func landmarks() map[string]any {
	marks := map[string]any{}
	for _, name := range []string{"leftEye", "rightEye", "mouthLeft", "mouthRight", "mouthTop", "mouthBottom", "chin"} {
		marks[name] = []any{0.25, 0.5}
	}
	return marks
}

// recording is a WAV file of a few samples.
const recording = "data:audio/wav;base64,UklGRigAAABXQVZFZm10IBAAAAABAAEAgD4AAAB9AAACABAAZGF0YQQAAAAAAAAA"

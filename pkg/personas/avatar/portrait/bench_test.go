package portrait_test

import (
	"testing"

	"visavis.dev/pkg/personas/avatar/portrait"
)

func BenchmarkDraw(b *testing.B) {
	faces := portrait.Library()
	for i := 0; b.Loop(); i++ {
		portrait.Draw(faces[i%len(faces)].Look, 1024)
	}
}

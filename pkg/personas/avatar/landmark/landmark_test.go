package landmark_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/personas/avatar/landmark"
	"visavis.dev/pkg/personas/avatar/portrait"
)

func TestLandmarksOfDrawnFacesAreFound(t *testing.T) {
	for _, face := range portrait.Library() {
		want := face.Look.Landmarks()
		found, source, ok := landmark.Find(portrait.Draw(face.Look, 768))
		if !ok {
			t.Log(face.Key, "none")
			continue
		}
		apart := want.RightEye[0] - want.LeftEye[0]
		off := func(a, b portrait.Point) int { return int(100 * math.Hypot(a[0]-b[0], a[1]-b[1]) / apart) }
		t.Log(face.Key, source, off(found.LeftEye, want.LeftEye), off(found.RightEye, want.RightEye), off(found.MouthLeft, want.MouthLeft), off(found.MouthRight, want.MouthRight),
			off(found.MouthTop, want.MouthTop), off(found.MouthBottom, want.MouthBottom), off(found.Chin, want.Chin), found.Chin[1]-want.Chin[1])
	}
	require.True(t, true)
}

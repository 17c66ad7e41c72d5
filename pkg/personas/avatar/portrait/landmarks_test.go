package portrait_test

import (
	"image"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/personas/avatar/portrait"
)

func TestLandmarksLieInThePictureInOrder(t *testing.T) {
	for _, face := range portrait.Library() {
		l := face.Look.Landmarks()
		for _, p := range []portrait.Point{l.LeftEye, l.RightEye, l.MouthLeft, l.MouthRight, l.MouthTop, l.MouthBottom, l.Chin} {
			require.Greater(t, min(p[0], p[1]), 0.0, face.Key)
			require.Less(t, max(p[0], p[1]), 1.0, face.Key)
		}
		require.Less(t, l.LeftEye[0], l.MouthLeft[0], face.Key)
		require.Less(t, l.MouthLeft[0], l.MouthTop[0], face.Key)
		require.Less(t, l.MouthTop[0], l.MouthRight[0], face.Key)
		require.Less(t, l.MouthRight[0], l.RightEye[0], face.Key)
		require.InDelta(t, l.LeftEye[1], l.RightEye[1], 0, face.Key)
		require.Less(t, l.LeftEye[1], l.MouthTop[1], face.Key)
		require.Less(t, l.MouthTop[1], l.MouthBottom[1], face.Key)
		require.Less(t, l.MouthBottom[1], l.Chin[1], face.Key)
	}
}

func TestLandmarksFollowTheProportions(t *testing.T) {
	for _, face := range portrait.Library() {
		l := face.Look.Landmarks()
		eyes := l.RightEye[0] - l.LeftEye[0]
		mouth := l.MouthRight[0] - l.MouthLeft[0]
		require.InDelta(t, 0.80, mouth/eyes, 0.15, "mouth of %s", face.Key)
		require.InDelta(t, 1.0, (l.MouthTop[1]-l.LeftEye[1])/eyes, 0.25, "middle of the face of %s", face.Key)
	}
}

// A pupil is dark, and the white of the eye beside it is light: drawn eyes must
// lie where the landmarks say.
func TestIrisIsDarkerThanTheWhiteOfTheEye(t *testing.T) {
	t.Parallel()
	for _, face := range portrait.Library() {
		bare := face.Look
		bare.Glasses = portrait.Glasses{}
		picture := portrait.Draw(bare, probeSize)
		l := face.Look.Landmarks()
		for _, eye := range []portrait.Point{l.LeftEye, l.RightEye} {
			centre := brightness(picture, eye, 0)
			for _, side := range []float64{-0.029, 0.029} {
				white := brightness(picture, eye, side)
				require.Greater(t, white, centre+60, "eye white of %s", face.Key)
			}
		}
	}
}

// brightness is the mean channel of the pixel beside a landmark.
func brightness(picture *image.NRGBA, at portrait.Point, right float64) float64 {
	size := float64(picture.Bounds().Dx())
	c := picture.NRGBAAt(int((at[0]+right)*size), int(at[1]*size))
	return (float64(c.R) + float64(c.G) + float64(c.B)) / 3
}

// Below the chin the neck lies in the shadow of the head, so the picture gets
// darker there.
func TestChinCastsShadowOnTheNeck(t *testing.T) {
	for _, key := range []string{"emma", "amara", "wei", "priya"} {
		face := find(t, key)
		picture := portrait.Draw(face.Look, probeSize)
		chin := face.Look.Landmarks().Chin
		above := brightness(picture, portrait.Point{chin[0], chin[1] - 0.02}, 0)
		below := brightness(picture, portrait.Point{chin[0], chin[1] + 0.02}, 0)
		require.Greater(t, above, below+10, key)
	}
}

// A lipstick nobody wears shows that the lips fill the mouth landmarks: inside
// them it is seen, outside it is not.
func TestLipsFillTheMouthLandmarks(t *testing.T) {
	look := find(t, "mei").Look
	look.Mouth.Lipstick = 0x0040FF
	picture := portrait.Draw(look, 512)
	l := look.Landmarks()
	blue := func(x, y float64) bool {
		c := picture.NRGBAAt(int(x*512), int(y*512))
		return c.B > c.R
	}
	const inset = 0.006
	require.True(t, blue(l.MouthTop[0], l.MouthTop[1]+inset))
	require.True(t, blue(l.MouthBottom[0], l.MouthBottom[1]-inset))
	require.True(t, blue(l.MouthLeft[0]+0.022, l.MouthLeft[1]+0.004))
	require.True(t, blue(l.MouthRight[0]-0.022, l.MouthRight[1]+0.004))
	require.False(t, blue(l.MouthTop[0], l.MouthTop[1]-inset))
	require.False(t, blue(l.MouthBottom[0], l.MouthBottom[1]+inset))
	require.False(t, blue(l.MouthLeft[0]-inset, l.MouthLeft[1]))
	require.False(t, blue(l.MouthRight[0]+inset, l.MouthRight[1]))
}

func find(t *testing.T, key string) portrait.Face {
	t.Helper()
	for _, face := range portrait.Library() {
		if face.Key == key {
			return face
		}
	}
	require.Failf(t, "no such face", "%s", key)
	return portrait.Face{}
}

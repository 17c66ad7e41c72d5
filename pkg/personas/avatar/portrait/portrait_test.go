package portrait_test

import (
	"bytes"
	"image"
	"image/png"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/personas/avatar/portrait"
)

// probeSize is large enough for the features to show and small enough to draw
// the whole library quickly.
const probeSize = 256

func TestSameLookAndSizeGiveTheSameBytes(t *testing.T) {
	t.Parallel()
	for i, face := range portrait.Library() {
		if i%4 != 0 {
			continue
		}
		first, second := portrait.Draw(face.Look, 96), portrait.Draw(face.Look, 96)
		require.True(t, bytes.Equal(first.Pix, second.Pix), face.Key)
	}
}

func TestSeedChangesThePicture(t *testing.T) {
	look := portrait.Library()[0].Look
	other := look
	other.Seed++
	require.NotEqual(t, portrait.Draw(look, 128).Pix, portrait.Draw(other, 128).Pix)
}

func TestPictureIsSquareAndOpaque(t *testing.T) {
	look := portrait.Library()[0].Look
	for _, size := range []int{1, 16, 63, 200} {
		picture := portrait.Draw(look, size)
		require.Equal(t, image.Rect(0, 0, size, size), picture.Bounds())
		require.True(t, picture.Opaque(), "size %d", size)
	}
}

func TestFacesDiffer(t *testing.T) {
	t.Parallel()
	faces := portrait.Library()
	pictures := make([]*image.NRGBA, len(faces))
	for i, face := range faces {
		pictures[i] = portrait.Draw(face.Look, 64)
	}
	for i := range pictures {
		for j := range i {
			require.Greater(t, shareChanged(pictures[i], pictures[j]), 0.30,
				"%s and %s look alike", faces[i].Key, faces[j].Key)
		}
	}
}

// shareChanged is the share of pixels of which at least one channel clearly
// differs.
func shareChanged(a, b *image.NRGBA) float64 {
	changed := 0
	for i := 0; i < len(a.Pix); i += 4 {
		for c := range 3 {
			if d := int(a.Pix[i+c]) - int(b.Pix[i+c]); d > 12 || d < -12 {
				changed++
				break
			}
		}
	}
	return float64(changed) / float64(len(a.Pix)/4)
}

func TestPNGHoldsThePicture(t *testing.T) {
	look := portrait.Library()[3].Look
	encoded, err := portrait.PNG(look, 120)
	require.NoError(t, err)
	decoded, err := png.Decode(bytes.NewReader(encoded))
	require.NoError(t, err)
	picture := portrait.Draw(look, 120)
	require.Equal(t, picture.Bounds(), decoded.Bounds())
	for _, at := range []image.Point{{0, 0}, {60, 60}, {40, 100}, {119, 119}} {
		wantR, wantG, wantB, _ := picture.At(at.X, at.Y).RGBA()
		r, g, b, _ := decoded.At(at.X, at.Y).RGBA()
		require.Equal(t, []uint32{wantR, wantG, wantB}, []uint32{r, g, b}, "pixel %v", at)
	}
}

func TestPNGIsSmall(t *testing.T) {
	t.Parallel()
	const limit = 400 << 10
	// One face of each kind of hair texture, which costs the most bytes.
	costly := regexp.MustCompile(`^(amara|zoe|sofia|carmen|henrik)$`)
	for _, face := range portrait.Library() {
		if !costly.MatchString(face.Key) {
			continue
		}
		encoded, err := portrait.PNG(face.Look, 768)
		require.NoError(t, err)
		require.Less(t, len(encoded), limit, face.Key)
	}
}

package landmark_test

import (
	"image"
	"image/color"
	"math"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/image/draw"

	"visavis.dev/pkg/personas/avatar/landmark"
	"visavis.dev/pkg/personas/avatar/portrait"
)

const side = 512

// pictures are some of the library's, drawn once.
var pictures = sync.OnceValue(func() map[string]*image.NRGBA {
	drawn := map[string]*image.NRGBA{}
	for i, face := range portrait.Library() {
		if i%3 == 0 {
			drawn[face.Key] = portrait.Draw(face.Look, side)
		}
	}
	return drawn
})

func all(l portrait.Landmarks) []portrait.Point {
	return []portrait.Point{l.LeftEye, l.RightEye, l.MouthLeft, l.MouthRight, l.MouthTop, l.MouthBottom, l.Chin}
}

// requireNear compares landmarks, in distances of the eyes: of the eyes and the mouth, and of
// the chin, which no detector finds.
func requireNear(t *testing.T, want, got portrait.Landmarks, name string) {
	t.Helper()
	apart := want.RightEye[0] - want.LeftEye[0]
	far := func(i int) float64 {
		a, b := all(want)[i], all(got)[i]
		return math.Hypot(a[0]-b[0], a[1]-b[1]) / apart
	}
	for i := range 6 {
		require.Less(t, far(i), 0.17, "point %d of %s: %v, %v", i, name, all(want)[i], all(got)[i])
	}
	require.Less(t, far(6), 0.3, "the chin of %s", name)
}

func TestLandmarksOfDrawnFacesAreFound(t *testing.T) {
	for _, face := range portrait.Library() {
		picture, ok := pictures()[face.Key]
		if !ok {
			continue
		}
		found, source, ok := landmark.Find(picture)
		require.True(t, ok, face.Key)
		require.Equal(t, landmark.Found, source, face.Key)
		requireNear(t, face.Look.Landmarks(), found, face.Key)
	}
}

// A face is found wherever it is in a picture, of whatever size and shape, also where the
// background was cut out.
func TestPicturesOfManyShapes(t *testing.T) {
	face := portrait.Library()[0]
	want, drawn := face.Look.Landmarks(), pictures()[face.Key]
	for name, shape := range map[string]struct {
		width, height int
		face          image.Rectangle
	}{
		"small":            {128, 128, image.Rect(0, 0, 128, 128)},
		"huge":             {4000, 4000, image.Rect(0, 0, 4000, 4000)},
		"wide":             {1600, 600, image.Rect(900, 0, 1500, 600)},
		"high":             {600, 1800, image.Rect(0, 200, 600, 800)},
		"a part of it":     {1000, 1000, image.Rect(300, 350, 800, 850)},
		"does not begin 0": {512, 512, image.Rect(0, 0, 512, 512)},
	} {
		t.Run(name, func(t *testing.T) {
			from := image.Point{}
			if name == "does not begin 0" {
				from = image.Pt(-77, 1000)
			}
			picture := image.NewNRGBA(image.Rect(0, 0, shape.width, shape.height).Add(from)) // transparent around
			draw.ApproxBiLinear.Scale(picture, shape.face.Add(from), drawn, drawn.Bounds(), draw.Over, nil)
			found, _, ok := landmark.Find(picture)
			require.True(t, ok)
			at := func(p portrait.Point) portrait.Point {
				return portrait.Point{
					(float64(shape.face.Min.X) + p[0]*float64(shape.face.Dx())) / float64(shape.width),
					(float64(shape.face.Min.Y) + p[1]*float64(shape.face.Dy())) / float64(shape.height),
				}
			}
			moved := portrait.Landmarks{
				LeftEye: at(want.LeftEye), RightEye: at(want.RightEye), MouthLeft: at(want.MouthLeft), MouthRight: at(want.MouthRight),
				MouthTop: at(want.MouthTop), MouthBottom: at(want.MouthBottom), Chin: at(want.Chin),
			}
			if name != "wide" && name != "high" { // there the sides have other lengths
				requireNear(t, moved, found, name)
			}
			require.InDelta(t, moved.LeftEye[0], found.LeftEye[0], 0.02)
			require.InDelta(t, moved.Chin[1], found.Chin[1], 0.03)
		})
	}
}

// Of a face whose mouth is covered, where it is is worked out.
func TestWhatIsCoveredIsEstimated(t *testing.T) {
	face := portrait.Library()[0]
	want := face.Look.Landmarks()
	picture := image.NewNRGBA(image.Rect(0, 0, side, side))
	draw.Draw(picture, picture.Bounds(), pictures()[face.Key], image.Point{}, draw.Src)
	mask := image.Rect(int(want.LeftEye[0]*side)-30, int(want.MouthTop[1]*side)-20, int(want.RightEye[0]*side)+30, int(want.Chin[1]*side)+8)
	for y := mask.Min.Y; y < mask.Max.Y; y++ {
		for x := mask.Min.X; x < mask.Max.X; x++ {
			picture.SetNRGBA(x, y, color.NRGBA{230, 235, 240, 255})
		}
	}
	found, _, ok := landmark.Find(picture)
	require.True(t, ok, "the face is found with a mask")
	for i, p := range all(found) {
		require.InDelta(t, all(want)[i][0], p[0], 0.08)
		require.InDelta(t, all(want)[i][1], p[1], 0.08)
	}
}

func TestPicturesWithoutAFace(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	plain := func(w, h int) *image.NRGBA {
		img := image.NewNRGBA(image.Rect(0, 0, w, h))
		draw.Draw(img, img.Bounds(), image.NewUniform(color.NRGBA{200, 170, 150, 255}), image.Point{}, draw.Src)
		return img
	}
	noise := plain(600, 600)
	for i := range noise.Pix {
		noise.Pix[i] = uint8(random.UintN(256))
	}
	stripes := plain(700, 600)
	for i := range stripes.Pix {
		if i/4%700/50%2 == 0 {
			stripes.Pix[i] = 20
		}
	}
	for name, picture := range map[string]image.Image{
		"plain": plain(512, 512), "noise": noise, "stripes": stripes, "transparent": image.NewNRGBA(image.Rect(0, 0, 512, 512)),
		"nothing": image.NewNRGBA(image.Rectangle{}), "a dot": plain(1, 1), "a line": plain(24_000_000/512, 1), "a strip": plain(2048, 41),
		"a narrow column": plain(512, 40_000),
	} {
		marks, source, ok := landmark.Find(picture)
		require.False(t, ok, "%s: %v", name, marks)
		require.Empty(t, source, name)
	}
}

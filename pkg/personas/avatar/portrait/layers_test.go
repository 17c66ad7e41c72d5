package portrait_test

import (
	"bytes"
	"encoding/json"
	"image"
	"image/color"
	"image/draw"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/personas/avatar/portrait"
)

// order is how the layers lie over each other, from behind.
var order = []string{
	"behind", "body", "between", "ears", "earringLeft", "earringRight", "face", "nose", "beard", "lowerLids", "folds", "browLeft", "browRight", "front", "glasses",
}

// TestLayersMakeThePicture lays the layers over each other and compares them with the
// picture where neither eyes nor mouth nor backdrop are.
func TestLayersMakeThePicture(t *testing.T) {
	const size = 256
	for _, f := range portrait.Library() {
		want, layers := portrait.Draw(f.Look, size), portrait.DrawLayers(f.Look, size)
		got := image.NewNRGBA(want.Bounds())
		for _, name := range order {
			l, ok := layers.Parts[name]
			if !ok {
				continue
			}
			x, y := int((l.Left-45)*layers.Scale+0.5), int((l.Top-50)*layers.Scale+0.5)
			draw.Draw(got, image.Rect(x, y, x+l.Width, y+l.Height), layers.Sheet, image.Pt(l.X, l.Y), draw.Over)
		}
		rig := f.Look.Rig()
		differ, seen := 0, 0
		for y := range size {
			for x := range size {
				at := got.NRGBAAt(x, y)
				height := float64(y)/layers.Scale + rig.Frame.Top
				side := max(float64(x)/layers.Scale+rig.Frame.Left-rig.Middle, rig.Middle-float64(x)/layers.Scale-rig.Frame.Left)
				eyes := height > rig.Eye-45 && height < rig.Eye+30 && side < 160
				mouth := height > rig.Mouth-30 && height < rig.Mouth+45 && side < 90
				if at.A < 255 || eyes || mouth {
					continue
				}
				seen++
				if far(at, want.NRGBAAt(x, y)) {
					differ++
				}
			}
		}
		require.Greater(t, seen, size*size/4, f.Key)
		require.Less(t, float64(differ), 0.01*float64(seen), f.Key)
	}
}

func far(a, b color.NRGBA) bool {
	apart := func(x, y uint8) bool { return max(x, y)-min(x, y) > 12 }
	return apart(a.R, b.R) || apart(a.G, b.G) || apart(a.B, b.B)
}

func TestLayersAreDeterministic(t *testing.T) {
	look := portrait.Library()[0].Look
	first, second := portrait.DrawLayers(look, 128), portrait.DrawLayers(look, 128)
	one, err := first.PNG()
	require.NoError(t, err)
	two, err := second.PNG()
	require.NoError(t, err)
	require.True(t, bytes.Equal(one, two))
}

// TestRigs checks what the code that moves a face relies on.
func TestRigs(t *testing.T) {
	for _, f := range portrait.Library() {
		r := f.Look.Rig()
		_, err := json.Marshal(r)
		require.NoError(t, err)
		require.Len(t, r.UpperLid, len(r.LowerLid))
		require.Len(t, r.UpperLip, len(r.BetweenLips))
		require.Len(t, r.LowerLip, len(r.BetweenLips))
		require.Less(t, r.UpperLid[0][0], r.UpperLid[len(r.UpperLid)-1][0], f.Key)
		require.Less(t, r.UpperLip[0][0], r.Middle, f.Key)
		require.True(t, r.Brow < r.Eye && r.Eye < r.Nose && r.Nose < r.Mouth && r.Mouth < r.Chin, f.Key)
		require.Regexp(t, "^#[0-9a-f]{6}$", r.Tones.LipSeam)
	}
}

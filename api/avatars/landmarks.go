package avatars

import (
	"math"

	"visavis.dev/pkg/base/problem"
)

// leastApart is how far the eyes of landmarks are apart at the least, as a share of the
// picture's width: of a close portrait they are a fifth of it.
const leastApart = 0.02

// check refuses landmarks that are no face's: points outside of the picture, or in another
// order than a face has that stands about upright.
func (l Landmarks) check() error {
	const param = "body.landmarks"
	for _, p := range []struct {
		name string
		at   Point
	}{
		{"leftEye", l.LeftEye}, {"rightEye", l.RightEye}, {"mouthLeft", l.MouthLeft}, {"mouthRight", l.MouthRight},
		{"mouthTop", l.MouthTop}, {"mouthBottom", l.MouthBottom}, {"chin", l.Chin},
	} {
		if p.at != (Point{math.Min(math.Max(p.at[0], 0), 1), math.Min(math.Max(p.at[1], 0), 1)}) {
			return problem.Invalid(param+"."+p.name, "A landmark is a point in the picture: both numbers are from 0 to 1.")
		}
	}
	eyes := (l.LeftEye[1] + l.RightEye[1]) / 2
	for _, wrong := range []struct {
		is          bool
		name, order string
	}{
		{l.RightEye[0]-l.LeftEye[0] < leastApart, "rightEye", "rightEye is to the right of leftEye, as seen in the picture."},
		{l.MouthRight[0] <= l.MouthLeft[0], "mouthRight", "mouthRight is to the right of mouthLeft, as seen in the picture."},
		{l.MouthTop[1] <= eyes, "mouthTop", "The mouth is below the eyes."},
		{l.MouthBottom[1] <= l.MouthTop[1], "mouthBottom", "mouthBottom is below mouthTop."},
		{l.Chin[1] <= l.MouthBottom[1], "chin", "chin is below mouthBottom."},
	} {
		if wrong.is {
			return problem.Invalid(param+"."+wrong.name, "%s", wrong.order)
		}
	}
	return nil
}

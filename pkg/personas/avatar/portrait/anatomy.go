package portrait

// anatomy is where everything lies on one face, in design units. Parts are
// placed by it, never by each other, so features, hair and clothes of any two
// looks fit together. Widths are half widths measured from the middle.
type anatomy struct {
	crown, hairline, brow, eye, nose, mouth, chin float64 // heights, top to bottom

	temple, cheek, jaw, chinWidth float64
	eyeX, eyeHalf                 float64 // centre and half width of an eye
	upper, lower                  float64 // how far the lids open from the eye line
	irisSize                      float64
	noseHalf, mouthHalf           float64
	neck, shoulder                float64
}

func (l Look) anatomy() anatomy {
	h, e, n, m := l.Head, l.Eyes, l.Nose, l.Mouth
	var a anatomy
	a.crown, a.eye = 186, 448
	a.chin = 698 + 21*h.Length + 9*l.Build
	a.hairline = 263 - 14*h.Hairline
	a.brow = a.eye - 48 - 5*l.Brows.Height + 7*l.Build
	a.nose = 557 + 9*n.Length + 4*h.Length
	a.mouth = a.nose + (a.chin-a.nose)*0.375

	a.cheek = 179 + 12*h.Width + 4*l.Build
	a.temple = a.cheek * (0.955 + 0.03*h.Forehead)
	a.jaw = a.cheek*(0.805+0.058*h.Jaw+0.035*l.Build+0.02*h.Cheeks) + 3*l.Build
	a.chinWidth = 64 + 14*h.Chin + 9*l.Build

	a.eyeX = 82 + 4*e.Spacing + 2*h.Width
	a.eyeHalf = 46.5 + 4*e.Size - 2.2*l.Build
	a.upper = 19.4 + 3.6*e.Open + e.Size - 2.2*l.Build
	a.lower = 12.8 + 1.5*e.Open
	a.irisSize = 20.4 + 0.8*e.Size - 0.7*l.Build
	a.noseHalf = 43 + 9*n.Width + 2.5*l.Build
	a.mouthHalf = 63 + 9*m.Width + 4*m.Smile + 3*l.Build
	a.neck = 97 + 15*l.Build
	a.shoulder = 352 + 38*l.Build
	return a
}

// outline is the edge of the face and skull.
func (a anatomy) outline() line {
	return symmetricLoop(
		pt(middle, a.crown),
		pt(middle+a.temple*0.50, a.crown+20),
		pt(middle+a.temple*0.86, a.crown+84),
		pt(middle+a.temple, a.crown+172),
		pt(middle+a.cheek, a.eye+18),
		pt(middle+a.cheek*0.965, a.nose-30),
		pt(middle+a.jaw, a.mouth+4),
		pt(middle+(a.jaw+a.chinWidth)*0.525, a.chin-44),
		pt(middle+a.chinWidth*0.74, a.chin-10),
		pt(middle, a.chin),
	)
}

// Point is a place in the picture as shares of its width and height.
type Point [2]float64

// Landmarks are where the features of a drawn face lie. Left and right are as
// seen in the picture. The eyes are the centres of the irises, and the mouth
// points lie on the outer edge of the lips.
type Landmarks struct {
	LeftEye, RightEye, MouthLeft, MouthRight, MouthTop, MouthBottom, Chin Point
}

// Landmarks finds the features of the face as Draw draws them.
func (l Look) Landmarks() Landmarks {
	a := l.anatomy()
	lips := l.lips(a)
	gaze := a.gaze()
	at := func(p point) Point {
		p = framed(p).times(1 / frameSide)
		return Point{p.x, p.y}
	}
	return Landmarks{
		LeftEye:     at(pt(extent-gaze.x, gaze.y)),
		RightEye:    at(gaze),
		MouthLeft:   at(pt(extent-lips.corner.x, lips.corner.y)),
		MouthRight:  at(lips.corner),
		MouthTop:    at(lips.top),
		MouthBottom: at(lips.bottom),
		Chin:        at(pt(middle, a.chin)),
	}
}

// leastApart is how far the eyes of landmarks are apart at the least, as a share of the
// picture's width: of a close portrait they are a fifth of it.
const leastApart = 0.02

// Plausible says whether landmarks can be those of a face that stands about upright.
func (l Landmarks) Plausible() bool {
	point, _ := l.Fault()
	return point == ""
}

// Fault is the first of the points, by its name in JSON, that lies outside of the picture, or
// in another order than a face has that stands about upright, and what would be right, as a
// sentence. Both are empty for landmarks that are plausible.
func (l Landmarks) Fault() (point, reason string) {
	for _, p := range []struct {
		name string
		at   Point
	}{
		{"leftEye", l.LeftEye}, {"rightEye", l.RightEye}, {"mouthLeft", l.MouthLeft}, {"mouthRight", l.MouthRight},
		{"mouthTop", l.MouthTop}, {"mouthBottom", l.MouthBottom}, {"chin", l.Chin},
	} {
		if p.at != (Point{min(max(p.at[0], 0), 1), min(max(p.at[1], 0), 1)}) {
			return p.name, "A landmark is a point in the picture: both numbers are from 0 to 1."
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
			return wrong.name, wrong.order
		}
	}
	return "", ""
}

package portrait

import "math"

// extent is the width and height of the design plane, and middle the axis the
// head is symmetric about.
const (
	extent = 1000.0
	middle = extent / 2
)

// curveSteps is how many straight pieces a curve segment is cut into: enough
// that no corner shows on the largest picture the product asks for.
const curveSteps = 14

// point is a place in design units.
type point struct{ x, y float64 }

func pt(x, y float64) point { return point{x, y} }

func (p point) plus(q point) point              { return point{p.x + q.x, p.y + q.y} }
func (p point) minus(q point) point             { return point{p.x - q.x, p.y - q.y} }
func (p point) times(k float64) point           { return point{p.x * k, p.y * k} }
func (p point) toward(q point, t float64) point { return p.plus(q.minus(p).times(t)) }
func (p point) length() float64                 { return math.Hypot(p.x, p.y) }

// unit is p scaled to length one; a zero vector stays zero.
func (p point) unit() point {
	if n := p.length(); n > 0 {
		return p.times(1 / n)
	}
	return p
}

// left is p turned a quarter turn.
func (p point) left() point { return point{p.y, -p.x} }

// line is a run of points; a closed area is a line whose ends are joined.
type line []point

// shape is the union of closed areas.
type shape []line

// curve is a smooth line through the points (a centripetal Catmull–Rom spline,
// which does not overshoot where points are unevenly spaced).
func curve(points ...point) line {
	n := len(points)
	first := points[0].times(2).minus(points[1])
	last := points[n-1].times(2).minus(points[n-2])
	out := line{points[0]}
	for i := 0; i+1 < n; i++ {
		before, after := first, last
		if i > 0 {
			before = points[i-1]
		}
		if i+2 < n {
			after = points[i+2]
		}
		out = append(out, segment(before, points[i], points[i+1], after)...)
	}
	return out
}

// loop is the closed area inside a smooth curve through the points.
func loop(points ...point) line {
	n := len(points)
	var out line
	for i := range points {
		out = append(out, segment(points[(i+n-1)%n], points[i], points[(i+1)%n], points[(i+2)%n])...)
	}
	return out
}

// segment is the part of a spline between b and c, without b itself.
func segment(a, b, c, d point) line {
	ab, bc, cd := knot(a, b), knot(b, c), knot(c, d)
	leave := tangent(a, b, c, ab, bc)
	arrive := tangent(b, c, d, bc, cd)
	leave, arrive = leave.times(bc), arrive.times(bc)
	out := make(line, 0, curveSteps)
	for i := 1; i <= curveSteps; i++ {
		t := float64(i) / curveSteps
		t2, t3 := t*t, t*t*t
		p := b.times(2*t3 - 3*t2 + 1).plus(c.times(3*t2 - 2*t3))
		out = append(out, p.plus(leave.times(t3-2*t2+t)).plus(arrive.times(t3-t2)))
	}
	return out
}

// knot is the centripetal parameter distance between two points.
func knot(a, b point) float64 { return math.Max(math.Sqrt(b.minus(a).length()), 1e-6) }

// tangent is the spline's derivative at b.
func tangent(a, b, c point, ab, bc float64) point {
	in := b.minus(a).times(1 / ab)
	across := c.minus(a).times(1 / (ab + bc))
	out := c.minus(b).times(1 / bc)
	return in.minus(across).plus(out)
}

// ellipse is the closed area around c.
func ellipse(c point, rx, ry float64) line {
	const steps = 48
	out := make(line, steps)
	for i := range out {
		sin, cos := math.Sincos(2 * math.Pi * float64(i) / steps)
		out[i] = pt(c.x+rx*cos, c.y+ry*sin)
	}
	return out
}

// mirror is l seen on the other side of the face.
func mirror(l line) line {
	out := make(line, len(l))
	for i, p := range l {
		out[i] = pt(extent-p.x, p.y)
	}
	return out
}

// both is l together with its mirror image.
func both(l line) shape { return shape{l, mirror(l)} }

// reversed is l walked from its end.
func reversed(l line) line {
	out := make(line, len(l))
	for i, p := range l {
		out[len(l)-1-i] = p
	}
	return out
}

// moved is l shifted by (dx, dy).
func moved(l line, dx, dy float64) line {
	out := make(line, len(l))
	for i, p := range l {
		out[i] = pt(p.x+dx, p.y+dy)
	}
	return out
}

// symmetric closes a half outline, given from top to bottom on the right, with
// its mirror image.
func symmetric(half line) line {
	return append(append(line{}, half...), reversed(mirror(half))...)
}

// symmetricLoop is a closed curve through points given for the right half, the
// first and the last of which lie on the middle axis.
func symmetricLoop(right ...point) line {
	left := reversed(mirror(right))
	return loop(append(append(line{}, right...), left[1:len(left)-1]...)...)
}

// across is a curve through points given for the right half, the first of which
// lies on the middle axis; it runs from left to right.
func across(right ...point) line {
	left := reversed(mirror(right))
	return curve(append(left, right[1:]...)...)
}

// joined puts lines end to end into one closed area.
func joined(lines ...line) line {
	var out line
	for _, l := range lines {
		out = append(out, l...)
	}
	return out
}

// area is the signed area of the closed line, which tells its winding.
func (l line) area() float64 {
	sum := 0.0
	for i, p := range l {
		q := l[(i+1)%len(l)]
		sum += p.x*q.y - q.x*p.y
	}
	return sum / 2
}

// length is how long the line is.
func (l line) length() float64 {
	sum := 0.0
	for i := 1; i < len(l); i++ {
		sum += l[i].minus(l[i-1]).length()
	}
	return sum
}

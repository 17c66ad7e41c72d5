package landmark

import (
	"image/color"
	"math"

	pigo "github.com/esimov/pigo/core"
)

// leastFace is the least side of a face that is looked for, in pixels of what is searched.
const leastFace = 40

// ground is behind what is transparent.
var ground = color.Gray{128}

// point is a place in what is searched, in pixels.
type point struct{ x, y float64 }

func (p point) to(q point) float64 { return math.Hypot(q.x-p.x, q.y-p.y) }

func (p point) between(q point, t float64) point { return point{p.x + (q.x-p.x)*t, p.y + (q.y-p.y)*t} }

func (p point) puploc() *pigo.Puploc { return &pigo.Puploc{Row: int(p.y), Col: int(p.x)} }

// pair is the middles of both eyes.
type pair struct{ left, right point }

func (e pair) apart() float64 { return e.left.to(e.right) }

func (e pair) middle() point { return e.left.between(e.right, 0.5) }

// at is a place by the face's own axes: right along the line through the eyes, and down,
// from between them, in distances of the eyes.
func (e pair) at(right, down float64) point {
	m := e.middle()
	ux, uy := e.right.x-e.left.x, e.right.y-e.left.y
	return point{m.x + right*ux - down*uy, m.y + right*uy + down*ux}
}

// of is at's inverse.
func (e pair) of(p point) (right, down float64) {
	m := e.middle()
	ux, uy := e.right.x-e.left.x, e.right.y-e.left.y
	size := ux*ux + uy*uy
	dx, dy := p.x-m.x, p.y-m.y
	return (dx*ux + dy*uy) / size, (dy*ux - dx*uy) / size
}

// mouth is the edge of closed lips.
type mouth struct{ left, right, top, low point }

// plausible says whether a mouth can be that of eyes.
func (m mouth) plausible(eyes pair) bool {
	leftX, leftY := eyes.of(m.left)
	rightX, rightY := eyes.of(m.right)
	topX, topY := eyes.of(m.top)
	lowX, lowY := eyes.of(m.low)
	wide, high := rightX-leftX, lowY-topY
	middle := (leftY + rightY) / 2
	return wide > 0.45 && wide < 1.25 && high > 0.08 && high < 0.7 &&
		middle > 0.7 && middle < 1.5 && math.Abs(leftY-rightY) < 0.25 &&
		math.Abs(leftX+rightX) < 0.5 && math.Abs(topX) < 0.35 && math.Abs(lowX) < 0.35 &&
		topY < middle+0.12 && lowY > middle-0.02
}

// estimatedEyes is where the eyes of a face are that was found as a whole.
func estimatedEyes(box pigo.Detection) pair {
	row, col, scale := float64(box.Row), float64(box.Col), float64(box.Scale)
	return pair{point{col - 0.185*scale, row - 0.06*scale}, point{col + 0.185*scale, row - 0.06*scale}}
}

// estimatedLips is where most people's mouth is, by their eyes.
func estimatedLips(eyes pair) mouth {
	return mouth{left: eyes.at(-0.40, 1.05), right: eyes.at(0.40, 1.05), top: eyes.at(0, 0.97), low: eyes.at(0, 1.20)}
}

// How far below the eyes a chin is, in distances from the eyes to where the lips meet: of
// most people, and at the least and the most.
const (
	chinUsual = 1.53
	chinLeast = 1.38
	chinMost  = 1.72
)

// chinBelow looks for the chin: where it ends, the picture gets darker or lighter all along
// a line. Where nothing tells, it is where most people's is.
func chinBelow(gray *pigo.ImageParams, eyes pair, lips mouth) point {
	_, top := eyes.of(lips.top)
	_, low := eyes.of(lips.low)
	leftX, _ := eyes.of(lips.left)
	rightX, _ := eyes.of(lips.right)
	middle, long := (leftX+rightX)/2, top*0.55+low*0.45
	// Lips that are far apart, or full, end nearer to the chin.
	least := max(chinLeast*long, low+0.12)
	const step = 0.01
	best, strongest := chinUsual*long, 0.0
	for down := least; down < chinMost*long; down += step {
		edge, n := 0.0, 0
		for right := -0.22; right <= 0.22; right += 0.04 {
			// A chin is round: beside the middle it ends higher.
			bent := down - 0.9*right*right
			above, okAbove := brightness(gray, eyes.at(middle+right, bent-0.05))
			below, okBelow := brightness(gray, eyes.at(middle+right, bent+0.05))
			if okAbove && okBelow {
				edge += above - below
				n++
			}
		}
		if n < 6 {
			break // the picture ends
		}
		// What is far from where chins are must be clearer.
		off := (down - chinUsual*long) / long
		if clear := math.Abs(edge/float64(n)) * math.Exp(-18*off*off); clear > strongest {
			best, strongest = down, clear
		}
	}
	const clearly = 9
	if strongest < clearly {
		best = chinUsual * long
	}
	return eyes.at(middle, best)
}

// brightness is how bright what is searched is around a place, from 0 to 255.
func brightness(gray *pigo.ImageParams, p point) (float64, bool) {
	x, y := int(math.Round(p.x)), int(math.Round(p.y))
	if x < 1 || y < 1 || x >= gray.Cols-1 || y >= gray.Rows-1 {
		return 0, false
	}
	sum := 0
	for dy := -1; dy <= 1; dy++ {
		for dx := -1; dx <= 1; dx++ {
			sum += int(gray.Pixels[(y+dy)*gray.Dim+x+dx])
		}
	}
	return float64(sum) / 9, true
}

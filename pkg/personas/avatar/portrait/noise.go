package portrait

import (
	"math"
	"math/rand/v2"
)

// noise is a smooth random field with values from 0 to 1, one bump per unit.
type noise [256]float32

func newNoise(r *rand.Rand) noise {
	var n noise
	for i := range n {
		n[i] = r.Float32()
	}
	return n
}

func (n *noise) at(x, y float64) float64 {
	fx, fy := math.Floor(x), math.Floor(y)
	ix, iy := int(fx), int(fy)
	sx, sy := smooth(x-fx), smooth(y-fy)
	top := n.lattice(ix, iy) + (n.lattice(ix+1, iy)-n.lattice(ix, iy))*sx
	low := n.lattice(ix, iy+1) + (n.lattice(ix+1, iy+1)-n.lattice(ix, iy+1))*sx
	return top + (low-top)*sy
}

func (n *noise) lattice(x, y int) float64 {
	return float64(n[(x*73+y*179)&255])
}

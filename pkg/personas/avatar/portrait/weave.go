package portrait

import "math"

// texture colours a place on a sheet. Grain is how much of u one pixel spans
// there; detail finer than that must be left out, or it would flicker.
type texture func(u, t, grain float64) rgb

// keep is the share of a pattern with so many bumps across the sheet that can
// be shown where a pixel spans grain.
func keep(bumps, grain float64) float64 { return smooth(1.35 - 1.9*bumps*grain) }

// weave is the paint of a textured grid: the colour of every pixel the grid
// covers. Cells are filled without antialiasing, because the mask the paint is
// laid through already has smooth edges.
func (c *canvas) weave(g *grid, tex texture) paint {
	colours := make([]rgb, c.size*c.size)
	for i := range cellsAcross {
		for j := range cellsAlong {
			a, b := corner{g[i][j], cellSpot(i, j)}, corner{g[i+1][j], cellSpot(i+1, j)}
			d, e := corner{g[i][j+1], cellSpot(i, j+1)}, corner{g[i+1][j+1], cellSpot(i+1, j+1)}
			c.triangle(colours, tex, a, b, d)
			c.triangle(colours, tex, e, b, d)
		}
	}
	return func(x, y float64) (rgb, float32) {
		return colours[int((y-frameTop)*c.scale)*c.size+int((x-frameLeft)*c.scale)], 1
	}
}

// corner is a corner of a triangle: where it lies in the picture and on the
// sheet.
type corner struct {
	at point
	on spot
}

// bleed is how far, in pixels, triangles reach past their edges, so that the
// half-covered pixels of the outline get a colour too.
const bleed = 1.5

// triangle fills the pixels of one triangle with the texture.
func (c *canvas) triangle(colours []rgb, tex texture, p, q, r corner) {
	a, b, d := framed(p.at).times(c.scale), framed(q.at).times(c.scale), framed(r.at).times(c.scale)
	area := (b.x-a.x)*(d.y-a.y) - (d.x-a.x)*(b.y-a.y)
	if math.Abs(area) < 1e-6 {
		return
	}
	low := func(x, y, z float64) int { return max(0, int(math.Min(x, math.Min(y, z))-bleed)) }
	high := func(x, y, z float64) int { return min(c.size-1, int(math.Max(x, math.Max(y, z))+bleed)) }
	longest := math.Max(b.minus(a).length(), math.Max(d.minus(a).length(), d.minus(b).length()))
	slack := bleed * longest / math.Abs(area)
	ub, ud := q.on.u-p.on.u, r.on.u-p.on.u
	grain := math.Hypot(ub*(d.y-a.y)-ud*(b.y-a.y), ud*(b.x-a.x)-ub*(d.x-a.x)) / math.Abs(area)
	for y := low(a.y, b.y, d.y); y <= high(a.y, b.y, d.y); y++ {
		for x := low(a.x, b.x, d.x); x <= high(a.x, b.x, d.x); x++ {
			fx, fy := float64(x)+0.5, float64(y)+0.5
			wb := ((fx-a.x)*(d.y-a.y) - (d.x-a.x)*(fy-a.y)) / area
			wd := ((b.x-a.x)*(fy-a.y) - (fx-a.x)*(b.y-a.y)) / area
			wa := 1 - wb - wd
			if wa < -slack || wb < -slack || wd < -slack {
				continue
			}
			on := inside(wa, wb, wd, p.on, q.on, r.on)
			colours[y*c.size+x] = tex(on.u, on.t, grain)
		}
	}
}

// inside is the weighted mean of three spots. Pixels beyond the triangle have
// negative weights, which for slivers can be huge; they take the colour of the
// nearest edge.
func inside(wa, wb, wd float64, a, b, d spot) spot {
	wa, wb, wd = math.Max(wa, 0), math.Max(wb, 0), math.Max(wd, 0)
	sum := wa + wb + wd
	return spot{
		u: (wa*a.u + wb*b.u + wd*d.u) / sum,
		t: (wa*a.t + wb*b.t + wd*d.t) / sum,
	}
}

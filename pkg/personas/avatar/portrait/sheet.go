package portrait

import "math"

// sheet is a body of hair combed one way. Its guides are strands from root to
// tip, in order across the hair; all other strands lie between them. Places on
// it are named by u, across from the first guide to the last, and t, along the
// strands from root to tip.
type sheet struct {
	guides []line
	wave   wave
	fray   float64                    // how unevenly the tips end
	sheen  float64                    // where along the strands the light band lies
	gloss  float64                    // how strong that band is
	shade  func(u, t float64) float64 // extra darkness; nil for none
	locks  float64                    // how many locks the strands gather in
}

// wave bends the strands of a sheet from side to side.
type wave struct {
	height float64 // of the bends, in design units
	count  float64 // bends along a strand
	from   float64 // where along the strand they begin
	drift  float64 // how much later the bends come across the sheet
}

// Sheets are drawn as a grid of this many cells across and along.
const (
	cellsAcross = 56
	cellsAlong  = 44
)

// grid is a sheet's strands as points, by row across and by column along. It
// reaches a little beyond the edges of the sheet, so the antialiased outline
// finds colour on both sides of the edge.
type grid [cellsAcross + 1][cellsAlong + 1]point

// spot is a place on a sheet.
type spot struct{ u, t float64 }

func cellSpot(i, j int) spot {
	return spot{float64(i) / cellsAcross, float64(j) / cellsAlong}
}

// grid lays out the strands of the sheet.
func (s sheet) grid(n noise) *grid {
	guides := make([]line, len(s.guides))
	for i, g := range s.guides {
		guides[i] = resampled(g, cellsAlong)
	}
	out := new(grid)
	for i := range out {
		u := float64(i) / cellsAcross
		strand := blend(guides, u)
		short := s.fray * (0.65*n.at(u*23, 1.5) + 0.35*n.at(u*9, 7.5))
		for j := range out[i] {
			t := float64(j) / cellsAlong * (1 - short)
			out[i][j] = s.bent(strand, u, t)
		}
	}
	return out
}

// blend is the strand at u between the guides.
func blend(guides []line, u float64) line {
	n := len(guides)
	at := u * float64(n-1)
	i := min(int(at), n-2)
	share := at - float64(i)
	before, after := guides[max(i-1, 0)], guides[min(i+2, n-1)]
	out := make(line, cellsAlong+1)
	for j := range out {
		out[j] = throughFour(before[j], guides[i][j], guides[i+1][j], after[j], share)
	}
	return out
}

// throughFour is a point of the uniform Catmull–Rom spline between b and c.
func throughFour(a, b, c, d point, t float64) point {
	t2, t3 := t*t, t*t*t
	return a.times(-0.5*t3 + t2 - 0.5*t).
		plus(b.times(1.5*t3 - 2.5*t2 + 1)).
		plus(c.times(-1.5*t3 + 2*t2 + 0.5*t)).
		plus(d.times(0.5*t3 - 0.5*t2))
}

// bent is the point at t of a strand, moved sideways by the wave.
func (s sheet) bent(strand line, u, t float64) point {
	at := t * cellsAlong
	j := min(int(at), cellsAlong-1)
	p := strand[j].toward(strand[j+1], at-float64(j))
	if s.wave.height == 0 || t < s.wave.from {
		return p
	}
	since := (t - s.wave.from) / (1 - s.wave.from)
	swing := math.Sin(2 * math.Pi * (s.wave.count*since + s.wave.drift*u))
	return p.plus(direction(strand, j).left().times(s.wave.height * swing * math.Min(1, since*2.5)))
}

// outline is the edge of the sheet.
func (g *grid) outline() line {
	var out line
	out = append(out, g[0][:]...)
	for i := 1; i < cellsAcross; i++ {
		out = append(out, g[i][cellsAlong])
	}
	out = append(out, reversed(g[cellsAcross][:])...)
	for i := cellsAcross - 1; i > 0; i-- {
		out = append(out, g[i][0])
	}
	return out
}

// strand is the line of one strand of the grid.
func (g *grid) strand(u float64) line {
	at := math.Min(math.Max(u, 0), 1) * cellsAcross
	i := min(int(at), cellsAcross-1)
	out := make(line, cellsAlong+1)
	for j := range out {
		out[j] = g[i][j].toward(g[i+1][j], at-float64(i))
	}
	return out
}

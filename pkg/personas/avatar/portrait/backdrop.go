package portrait

// drawBackdrop paints a plain wall lit from the upper left, with the light
// falling off toward the corners.
func (p *portrait) drawBackdrop() {
	inner, outer := p.look.Backdrop.Inner.rgb(), p.look.Backdrop.Outer.rgb()
	wall := line{pt(0, 0), pt(extent, 0), pt(extent, extent), pt(0, extent)}
	p.fill(shape{wall}, glow(pt(420, 380), 720, 760, inner, outer))
}

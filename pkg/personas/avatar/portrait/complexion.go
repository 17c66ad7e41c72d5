package portrait

// complexion is the set of tones one skin is painted with.
type complexion struct {
	light rgb // where the light falls
	base  rgb
	shade rgb // turned away from the light
	deep  rgb // folds and cast shadow
	line  rgb // the darkest creases: nostrils, between the lips
	blush rgb
	lip   rgb
}

func (s Skin) complexion() complexion {
	base := s.Tone.rgb()
	// Light skin is seen mostly by its redness, dark skin by its sheen: the
	// darker it is, the more the lights carry and the less the blush does.
	depth := float32(1 - base.lightness())
	rose := rgb{0.80, 0.30, 0.30}.mix(rgb{0.52, 0.16, 0.13}, depth*1.5)
	warm := rgb{1, 0.90, 0.78}
	return complexion{
		light: base.mix(warm, 0.44-0.06*depth),
		base:  base,
		shade: base.toned(0.88, 1.08).mix(rose, 0.06),
		deep:  base.toned(0.71, 1.06).mix(rose, 0.08),
		line:  base.toned(0.40, 0.95),
		blush: base.mix(rose, 0.55),
		lip:   base.toned(0.84, 0.92).mix(rose, 0.40),
	}
}

package voice

import "slices"

// Nearest is the studio voice of an engine that comes nearest to a voice: of the same
// gender, speaking as many of some languages as can be, the first of them before all
// others, native in the same language, and with the same accent and manner. False where
// the engine has none of the gender.
func Nearest(to Voice, engine string, languages []string) (Voice, bool) {
	best, most := Voice{}, -1
	for _, v := range studio {
		if v.Engine != engine || v.Gender != to.Gender {
			continue
		}
		if near := v.nearness(to, languages); near > most {
			best, most = v, near
		}
	}
	best.Languages = slices.Clone(best.Languages)
	return best, most >= 0
}

// nearness weighs what two voices have in common, each more than all that follow.
func (v *Voice) nearness(to Voice, languages []string) int {
	near := 0
	add := func(weight int, same bool) {
		if same {
			near += weight
		}
	}
	for i, code := range languages {
		weight := 16
		if i == 0 {
			weight = 1 << 20
		}
		add(weight, slices.Contains(v.Languages, code))
	}
	add(8, v.PrimaryLanguage == to.PrimaryLanguage)
	add(4, len(languages) > 0 && v.PrimaryLanguage == languages[0])
	add(2, v.Accent == to.Accent)
	add(1, v.Style == to.Style)
	return near
}

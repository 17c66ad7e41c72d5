package search

import "strings"

// minPolish is how many letters a Polish stem has at least, and minPolishVerb one that has lost
// the ending of a verb or of a noun made from one.
const (
	minPolish     = 3
	minPolishVerb = 4
)

// polishEndings are the endings of Polish words without their accents, by what they leave: of
// verbs and the nouns made from them, which are long, and of nouns and adjectives.
var polishEndings = struct{ verbs, others []string }{
	verbs: strings.Fields("owaniach owaniami owaniem owania owaniu owanie owana owane owany owac owal owala owali owaly ujemy ujecie ujesz uja uje " +
		"aniach aniami aniem ania aniu anie eniach eniami eniem enia eniu enie ieciem iecia ieciu iecie ywac iwac " +
		"alismy alam alem ilismy ylismy amy acie asz aja emy ecie esz eja imy icie isz ymy ycie ysz ac ec ic yc al ala alo aly ali il ila ilo ily ili yl yla ylo yly yli"),
	others: strings.Fields("osciami osciach oscia osci osc iejszymi iejszych iejszego iejszy iejsza iejsze " +
		"iami iach iowi iego iemu imi ami ach owi ego emu ymi ich ych iej iem iom ej em om ow im ym ia ie io iu a e i o u y"),
}

// polish is the stem of a Polish word that has no accents any more: what is left of it without
// its longest ending. Soft and hard stems come together where their last letter is the same.
func polish(word string) string {
	if root, ok := strippedOf(word, polishEndings.verbs, minPolishVerb); ok {
		return root
	}
	if root, ok := strippedOf(word, polishEndings.others, minPolish); ok {
		return root
	}
	return word
}

// strippedOf is a word without the longest of its endings that leaves so many letters.
func strippedOf(word string, endings []string, least int) (root string, ok bool) {
	longest := 0
	for _, ending := range endings {
		if len(ending) > longest && len(word)-len(ending) >= least && strings.HasSuffix(word, ending) {
			longest = len(ending)
		}
	}
	return word[:len(word)-longest], longest > 0
}

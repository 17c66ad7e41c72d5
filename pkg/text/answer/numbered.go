package answer

import "regexp"

// numberedForm is a number and what it counts.
var numberedForm = regexp.MustCompile(`(?:^|\s)(\d{1,3})\s(\p{L}+)`)

// countedLetters is how many letters of what is counted are compared, which may be inflected.
const countedLetters = 4

// Numbered are the numbers that a text counts things by, in figures or in words, each with the beginning
// of what it counts: "3 zimm".
func Numbered(language, text string) (all []string) {
	for _, m := range numberedForm.FindAllStringSubmatch(digits(language, text), -1) {
		thing := []rune(m[2])
		all = append(all, m[1]+" "+string(thing[:min(len(thing), countedLetters)]))
	}
	return all
}

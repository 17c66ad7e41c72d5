package main

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
)

const (
	// pageWords is about what a page holds, and filePages what a file of filler does.
	pageWords = 300
	filePages = 50
	// rareWords is how many words the filler has besides those of the handbook, each as
	// rare as names and terms are, and rareShare how many of its words are of them.
	rareWords = 40_000
	rareShare = 0.15
)

// filler makes pages of text that answer nothing, as large packs are full of: the words
// of the handbook as frequent as they are there, in another order, among many rare ones.
// They are the same each time.
func filler(s *set, pages int) map[string]string {
	random := rand.New(rand.NewPCG(1, 2))
	var common []string
	for _, name := range slices.Sorted(maps.Keys(s.documents)) {
		common = append(common, strings.Fields(normalize(s.documents[name]))...)
	}
	zipf := rand.NewZipf(random, 1.07, 8, rareWords-1)
	files := map[string]string{}
	for first := 0; first < pages; first += filePages {
		var text strings.Builder
		for page := first; page < min(first+filePages, pages); page++ {
			fmt.Fprintf(&text, "## %s\n\n", invented(zipf.Uint64()))
			for n := range pageWords {
				word := common[random.IntN(len(common))]
				if random.Float64() < rareShare {
					word = invented(zipf.Uint64())
				}
				text.WriteString(word)
				if n%15 == 14 {
					text.WriteByte('.')
				}
				text.WriteByte(' ')
			}
			text.WriteString("\n\n")
		}
		files[fmt.Sprintf("filler-%03d.md", first/filePages)] = text.String()
	}
	return files
}

// invented is a word that can be said.
func invented(n uint64) string {
	const consonants, vowels = "bdfgklmnprstvz", "aeiou"
	var word strings.Builder
	for n += 300; n > 0; n /= uint64(len(consonants) * len(vowels)) {
		syllable := n % uint64(len(consonants)*len(vowels))
		word.WriteByte(consonants[syllable/uint64(len(vowels))])
		word.WriteByte(vowels[syllable%uint64(len(vowels))])
	}
	return word.String()
}

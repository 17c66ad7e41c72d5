package espeak

import (
	"strings"

	"visavis.dev/pkg/speech/speaker"
)

// Silence is the shape of a mouth that says nothing.
const silence = "sil"

// shape is a mouth's shape and how far it is made.
type shape struct {
	name   string
	weight float64
}

// digraphs are the sounds of two letters that are one shape.
var digraphs = map[string]shape{
	"tʃ": {"CH", 0.9}, "dʒ": {"CH", 0.85}, "tɕ": {"CH", 0.85}, "dʑ": {"CH", 0.8}, "tʂ": {"CH", 0.85}, "ts": {"SS", 0.85}, "dz": {"SS", 0.8},
}

// shapes are those of the sounds, by the first letter of their name in the
// International Phonetic Alphabet. Consonants of the throat leave the mouth to the
// vowels around them; how far vowels open it is their weight.
var shapes = map[rune]shape{
	'p': {"PP", 1}, 'b': {"PP", 1}, 'm': {"PP", 0.95}, 'ɓ': {"PP", 1}, 'β': {"PP", 0.8}, 'ɸ': {"FF", 0.8},
	'f': {"FF", 1}, 'v': {"FF", 0.9}, 'ʋ': {"FF", 0.75}, 'ɱ': {"FF", 0.8},
	'θ': {"TH", 0.9}, 'ð': {"TH", 0.8},
	't': {"DD", 0.8}, 'd': {"DD", 0.75}, 'ʈ': {"DD", 0.8}, 'ɖ': {"DD", 0.75}, 'ɗ': {"DD", 0.75}, 'ɾ': {"DD", 0.55}, 'c': {"DD", 0.7}, 'ɟ': {"DD", 0.7},
	'k': {"kk", 0.7}, 'g': {"kk", 0.65}, 'ɡ': {"kk", 0.65}, 'x': {"kk", 0.6}, 'ɣ': {"kk", 0.55}, 'q': {"kk", 0.7}, 'χ': {"kk", 0.6}, 'ɢ': {"kk", 0.65}, 'ɠ': {"kk", 0.65},
	'ʃ': {"CH", 0.9}, 'ʒ': {"CH", 0.85}, 'ɕ': {"CH", 0.8}, 'ʑ': {"CH", 0.75}, 'ʂ': {"CH", 0.85}, 'ʐ': {"CH", 0.8}, 'ç': {"CH", 0.5},
	's': {"SS", 0.9}, 'z': {"SS", 0.85},
	'n': {"nn", 0.7}, 'ŋ': {"nn", 0.5}, 'ɲ': {"nn", 0.65}, 'ɳ': {"nn", 0.7}, 'l': {"nn", 0.7}, 'ɫ': {"nn", 0.65}, 'ʎ': {"nn", 0.65}, 'ɭ': {"nn", 0.7}, 'ɬ': {"nn", 0.7},
	'r': {"RR", 0.7}, 'ɹ': {"RR", 0.75}, 'ʀ': {"RR", 0.5}, 'ʁ': {"RR", 0.5}, 'ɽ': {"RR", 0.6}, 'ɻ': {"RR", 0.75},
	'a': {"aa", 1}, 'ɑ': {"aa", 1}, 'æ': {"aa", 0.85}, 'ɐ': {"aa", 0.7}, 'ʌ': {"aa", 0.75}, 'ä': {"aa", 1},
	'e': {"E", 0.8}, 'ɛ': {"E", 0.9}, 'ə': {"E", 0.45}, 'ɜ': {"E", 0.7}, 'ɚ': {"RR", 0.7}, 'ɘ': {"E", 0.5}, 'ɞ': {"E", 0.6},
	'i': {"I", 0.85}, 'ɪ': {"I", 0.7}, 'ɨ': {"I", 0.6}, 'j': {"I", 0.6}, 'ʲ': {"I", 0.4},
	'o': {"O", 0.9}, 'ɔ': {"O", 1}, 'ɒ': {"O", 0.95}, 'ɤ': {"O", 0.6}, 'ø': {"O", 0.75}, 'œ': {"O", 0.85}, 'ɵ': {"O", 0.7},
	'u': {"U", 0.9}, 'ʊ': {"U", 0.75}, 'ɯ': {"I", 0.5}, 'ʉ': {"U", 0.8}, 'w': {"U", 0.85}, 'y': {"U", 0.8}, 'ʏ': {"U", 0.7}, 'ɥ': {"U", 0.75},
	'h': {"aa", 0.25}, 'ħ': {"aa", 0.3}, 'ɦ': {"aa", 0.25}, 'ʔ': {silence, 0.3}, 'ʕ': {"aa", 0.35},
}

// glide is how long the first part of a diphthong is held, in milliseconds.
const glide = 75

// visemesOf are the shapes of a sound that begins at a moment: two of a diphthong.
func visemesOf(phoneme string, atMs int64) []speaker.Viseme {
	if phoneme == "" || strings.HasPrefix(phoneme, "(") {
		// A pause, or the name of a language that the text passes to.
		if phoneme == "" {
			return []speaker.Viseme{{AtMs: atMs, Shape: silence, Weight: 1}}
		}
		return nil
	}
	for digraph, s := range digraphs {
		if strings.HasPrefix(phoneme, digraph) {
			return []speaker.Viseme{{AtMs: atMs, Shape: s.name, Weight: s.weight}}
		}
	}
	var out []speaker.Viseme
	for _, r := range phoneme {
		s, ok := shapes[r]
		if !ok {
			continue
		}
		v := speaker.Viseme{AtMs: atMs + int64(len(out))*glide, Shape: s.name, Weight: s.weight}
		if last := len(out) - 1; last >= 0 && out[last].Shape == v.Shape {
			continue
		}
		if out = append(out, v); len(out) == 2 {
			break
		}
	}
	return out
}

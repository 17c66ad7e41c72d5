package espeak

import "math"

// character is how a studio voice sounds.
type character struct {
	// variant is espeak's, which has the formants and the voicing.
	variant string
	// english is espeak's name of the English that it speaks; empty for American.
	english string
	// pitch and span are 0 to 100; pace is in words a minute; gap is between words, in
	// units of 10 ms.
	pitch, span, pace, gap int
	// tract scales the length of the throat: above 1 it is shorter, and the voice lighter.
	tract float64
	// warmth, presence and air are what is raised below 260 Hz, around 2.9 kHz and
	// above 5.2 kHz, in decibels; level brings all voices to the same loudness.
	warmth, presence, air, level float64
}

// wordsAMinute is the pace to ask espeak for at a speed.
func (c *character) wordsAMinute(speed float64) int {
	if speed <= 0 {
		speed = 1
	}
	return min(max(int(math.Round(float64(c.pace)*speed/c.tract)), 80), 450)
}

// characters are those of the studio's voices, by their keys.
var characters = map[string]character{
	"nora":     {variant: "f2", pitch: 45, span: 60, pace: 158, tract: 1.00, warmth: 2.5, presence: -2, air: -3, level: -3.4},
	"owen":     {variant: "m3", english: "en-gb-x-rp", pitch: 50, span: 52, pace: 156, tract: 1.00, warmth: 2, presence: -1, air: -3, level: -2.2},
	"grace":    {variant: "f3", pitch: 58, span: 78, pace: 176, tract: 1.05, warmth: 0, presence: 0, air: -1, level: -2.7},
	"marcus":   {variant: "m7", pitch: 31, span: 48, pace: 150, tract: 0.92, warmth: 4, presence: -1, air: -3, level: -3.8},
	"lucia":    {variant: "f4", pitch: 55, span: 80, pace: 184, tract: 1.02, warmth: 1, presence: 0, air: -2, level: -3.7},
	"mateo":    {variant: "m1", pitch: 61, span: 62, pace: 166, tract: 1.00, warmth: 2, presence: -2, air: -3, level: -1.0},
	"camille":  {variant: "f1", pitch: 56, span: 64, pace: 150, tract: 1.04, warmth: 2, presence: -3, air: -2, level: -3.2},
	"lukas":    {variant: "m4", pitch: 53, span: 42, pace: 168, tract: 0.97, warmth: 1, presence: 1, air: -2, level: -1.6},
	"giulia":   {variant: "f5", pitch: 48, span: 86, pace: 172, tract: 1.00, warmth: 2, presence: 0, air: -2, level: -1.9},
	"thiago":   {variant: "m2", pitch: 64, span: 76, pace: 182, tract: 1.04, warmth: 1, presence: 0, air: -2, level: -1.0},
	"priya":    {variant: "f2", pitch: 62, span: 66, pace: 152, tract: 1.03, warmth: 1.5, presence: -1, air: -2, level: -4.1},
	"haruto":   {variant: "m5", pitch: 53, span: 46, pace: 154, tract: 0.98, warmth: 2, presence: -2, air: -3, level: -1.1},
	"seo-yeon": {variant: "f4", pitch: 70, span: 74, pace: 186, tract: 1.09, warmth: 0, presence: 0, air: -1, level: -4.3},
	"wei":      {variant: "m3", pitch: 46, span: 40, pace: 164, tract: 0.95, warmth: 2, presence: 0, air: -3, level: -1.6},
	"layla":    {variant: "f5", pitch: 40, span: 56, pace: 148, tract: 0.97, warmth: 3, presence: -3, air: -4, level: -1.4},
	"erik":     {variant: "m8", pitch: 55, span: 34, pace: 158, tract: 0.98, warmth: 1, presence: -1, air: -2, level: 1.5},

	"ruth":   {variant: "f1", english: "en-gb-x-rp", pitch: 46, span: 48, pace: 146, tract: 0.95, warmth: 3, presence: -1, air: -3, level: -3.2},
	"daniel": {variant: "m1", english: "en-gb-x-rp", pitch: 56, span: 50, pace: 170, tract: 0.96, warmth: 1, presence: 0, air: -2, level: -1.1},
	"shira":  {variant: "f3", pitch: 50, span: 58, pace: 188, tract: 0.99, warmth: 1, presence: 1, air: -2, level: -2.2},
	"reza":   {variant: "m4", pitch: 41, span: 72, pace: 144, tract: 0.94, warmth: 3, presence: -2, air: -3, level: -1.7},
	"amina":  {variant: "f5", pitch: 60, span: 82, pace: 164, tract: 1.07, warmth: 2, presence: -1, air: -1, level: -2.4},
	"jordi":  {variant: "m2", pitch: 60, span: 64, pace: 190, tract: 1.01, warmth: 1, presence: 0, air: -2, level: -0.4},
	"meena":  {variant: "f1", pitch: 58, span: 62, pace: 150, tract: 1.08, warmth: 1, presence: 0, air: -2, level: -3.5},
	"petar":  {variant: "m7", pitch: 39, span: 36, pace: 160, tract: 0.97, warmth: 3, presence: 0, air: -4, level: -3.5},
	"ploy":   {variant: "f2", pitch: 74, span: 70, pace: 168, tract: 1.10, warmth: 1, presence: -2, air: -1, level: -4.3},
	"ka-ho":  {variant: "m5", pitch: 65, span: 70, pace: 192, tract: 1.05, warmth: 0, presence: 1, air: -1, level: -1.7},
}

// characterOf is the character of a studio voice, or of a gender for any other.
func characterOf(voice, gender string) character {
	c, ok := characters[voice]
	switch {
	case ok:
	case gender == "male":
		c = characters["daniel"]
	default:
		c = characters["nora"]
	}
	return c
}

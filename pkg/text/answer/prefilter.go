package answer

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The forms of a sentence's evidence take long to match, and few sentences have any. What
// is here says cheaply of a sentence that it cannot match a form: it may only err by
// letting one through.

// features are what one pass over a sentence finds of the words that forms need.
type features struct {
	street, title, unit, number bool
	// wide is a character beyond the Latin, Greek and Cyrillic scripts, or one that folds
	// to an ASCII letter: words are not told apart by it, so that all forms are tried.
	wide bool
}

const (
	streetWord = 1 << iota
	titleWord
	unitWord
	numberWord
)

// formWords are the ASCII words of the forms, those with a capital as they are written and
// the others in lower case: a word ends at every other character.
var formWords = func() map[string]int {
	out := map[string]int{}
	for bit, words := range map[int]string{
		streetWord: "Street St Road Rd Lane Avenue Ave Row Square Way Drive Place Quay Terrace Close Court Crescent Boulevard Blvd Hill Walk Wharf Parade Gardens Highway Pike " +
			"rue avenue boulevard place quai chemin impasse route cours calle avenida avda plaza paseo camino ronda carretera via viale piazza corso largo vicolo rua travessa estrada alameda ul ulica al aleja plac pl " +
			"street st road rd lane ave square way drive terrace",
		titleWord:  "Dr Mr Mrs Ms Prof Frau Herr Herrn Mme M Sr Sra Dra Dott Sig Dhr Mevr Pan Pani",
		unitWord:   "min hour hours stunde stunden heure heures hora horas or ore uur uren saat day days tag tage tagen tagn jour jours dia dias d dagen dni g week weeks woche wochen semaine semaines semana semanas weken hafta month months monat monate monaten monatn mois mes meses mese mesi maand maande maanden ay year years jahr jahre jahren jahrn an ans a anno anni ano anos jaar lat y night nights n nuit nuits noche noches notti noite noites",
		numberWord: "one two three four five six seven eight nine ten half a an ein eine zwei drei un une deux trois uno una dos tres due tre um uma dois een twee drie",
	} {
		for word := range strings.FieldsSeq(words) {
			out[word] |= bit
		}
	}
	return out
}()

// unitStems begin the units that go on in any way.
var unitStems = []string{"minut", "godzin", "giorn", "settiman", "tygodni", "miesi"}

// longestWord is how long a word of the forms is at most.
const longestWord = 12

// featuresOf looks at each word of a sentence once.
func featuresOf(sentence string) features {
	var f features
	found := 0
	var lower [longestWord]byte
	for i := 0; i < len(sentence); {
		if c := sentence[i]; !isASCIILetter(c) {
			if c >= utf8.RuneSelf {
				r, size := utf8.DecodeRuneInString(sentence[i:])
				f.wide = f.wide || isBeyond(r)
				i += size
				continue
			}
			i++
			continue
		}
		from := i
		for i < len(sentence) && isASCIILetter(sentence[i]) {
			i++
		}
		word := sentence[from:i]
		n := 0
		for ; n < min(len(word), longestWord); n++ {
			lower[n] = word[n] | 0x20
		}
		if found |= stemmed(string(lower[:n])); len(word) <= longestWord {
			found |= formWords[word] | formWords[string(lower[:n])]
		}
	}
	f.street, f.title, f.unit, f.number = found&streetWord != 0, found&titleWord != 0, found&unitWord != 0, found&numberWord != 0
	return f
}

// stemmed is the bit of a word that goes on from a unit's stem.
func stemmed(word string) int {
	for _, stem := range unitStems {
		if strings.HasPrefix(word, stem) {
			return unitWord
		}
	}
	return 0
}

func isASCIILetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// isBeyond tells the characters of other scripts, and the two that are s and k without case.
func isBeyond(r rune) bool {
	return r >= 0x0530 && r < 0x1e00 || r == 'ſ' || r == '\u212a' || r >= 0x2e80
}

// streetParts are what the forms of streets hold within words or beside other letters.
var streetParts = []string{
	"straße", "strasse", "str.", "weg", "platz", "gasse", "allee", "ufer", "ring", "damm", "markt", "steig", "straat", "laan", "plein", "gracht", "kade", "dijk", "singel", "steeg",
	"Am ", "An der ", "Zum ", "Zur ", "Auf dem ", "Im ",
}

// foldedParts are those whatever their case.
var foldedParts = []string{" allée ", "praça", " cad", " soka", " sk.", " bulvar", " mah"}

// mayHaveStreet says whether a sentence may match streetForm.
func (f *features) mayHaveStreet(sentence string) bool {
	return f.street || f.wide || holdsAny(sentence, streetParts) || holdsAny(strings.ToLower(sentence), foldedParts)
}

// mayHaveSpan says whether a sentence may match spanForm, with a digit or without.
func (f *features) mayHaveSpan(digit bool) bool {
	return f.wide || f.unit && (digit || f.number)
}

// mayHaveTitle says whether a sentence may match titleForm.
func (f *features) mayHaveTitle() bool { return f.title || f.wide }

func holdsAny(text string, parts []string) bool {
	for _, part := range parts {
		if strings.Contains(text, part) {
			return true
		}
	}
	return false
}

// counts says whether a sentence has a digit beside amounts, times, ways to reach somebody
// and dates, when it is known which of the first three it matches.
func counts(sentence string, money, time, reach bool) bool {
	rest := sentence
	for _, one := range []struct {
		form    *regexp.Regexp
		matches bool
	}{{moneyForm, money}, {timeForm, time}, {reachForm, reach}, {dateForm, true}} {
		// What is replaced may let the next match that did not.
		if one.matches || rest != sentence {
			rest = one.form.ReplaceAllString(rest, " ")
		}
	}
	return strings.ContainsFunc(rest, unicode.IsDigit)
}

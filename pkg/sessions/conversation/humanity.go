package conversation

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// denies are the words before a claim that turn it around or only raise it.
var denies = wordSet("no|non|não|nao|nie|not|ne|не|لست|never|if|whether|ob|si|se|czy|если")

// claimsHumanity says whether a sentence has the speaker be a human being, in any language
// that is known: a model may change its language to say so.
func claimsHumanity(sentence string) bool {
	return holdsUndenied(humanClaims, sentence)
}

// tellsNature says whether a sentence tells whoever reads it what they are or shall pretend
// to be, as only one that is written for a machine does.
func tellsNature(sentence string) bool {
	return holdsUndenied(natureTold, sentence)
}

// unspeakable says whether a sentence of a passage may not be said by an avatar.
func unspeakable(sentence string) bool {
	return claimsHumanity(sentence) || tellsNature(sentence)
}

func holdsUndenied(forms map[string]*regexp.Regexp, sentence string) bool {
	said := readable(sentence)
	texts := []string{said}
	if plain := latinized(said); plain != said {
		texts = append(texts, plain)
	}
	for _, text := range texts {
		for language, form := range forms {
			if !holdsAny(text, hints[language]) {
				continue
			}
			for _, at := range form.FindAllStringIndex(text, -1) {
				before := strings.Fields(text[:at[0]])
				if len(before) == 0 || !denies[before[len(before)-1]] {
					return true
				}
			}
		}
	}
	return false
}

// hints are what a form of each language has at least one of: a form takes long to match.
var hints = map[string][]string{
	"en": {"i'm", "i am", "i ain", "you", "bot", "machine", "ai", "a.i.", "computer", "human", "person"},
	"de": {"bin", "bist", "sind", "mit ein", "kein"},
	"fr": {"suis", "avec", "à un", "pas un", "il n'y", "es un", "êtes"},
	"es": {"soy", "con un", "ningún", "ni un", "no un", "ningun", "eres", "es un", "es ahora"},
	"it": {"sono", "con un", "non un", "nessun", "sei", "lei è"},
	"pt": {"sou", "com um", "não", "nenhum", "você", "tu és"},
	"nl": {"ik ben", "ben ik", "met een", "geen", "hier", "bent"},
	"pl": {"jestem", "jesteś", " z ", "nie ", "żad"},
	"tr": {"insan", "kişi", "kadın", "erke", "gerçe", "değil", "yok", "robot"},
	"zh": {"我", "你", "您", "不是", "没有", "沒有"},
	"ja": {"私", "わたし", "僕", "ぼく", "俺", "人", "ロボット", "ボット", "ai", "機械", "プログラム", "あなた", "君"},
	"ar": {"أن", "ان", "إن", "لست", "ليس", "تتحدث", "لا"},
	"ru": {"я", "ты", "вы", "не", "ни"},
}

func holdsAny(text string, parts []string) bool {
	return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(text, part) })
}

// readable is a text as it is read aloud: in lower case, with plain apostrophes and
// blanks, without the marks that are not seen.
func readable(text string) string {
	seen := strings.Map(func(r rune) rune {
		switch {
		case unicode.In(r, unicode.Cf) || r == '*' || r == '_' || r == '\u034f' || unicode.In(r, unicode.Variation_Selector):
			return -1
		case strings.ContainsRune("’‘ʼ`´＇", r):
			return '\''
		}
		return r
	}, text)
	return strings.Join(strings.Fields(lower(norm.NFKC.String(seen))), " ")
}

// latinized is a text with Latin letters for those that look like them, without diacritics.
func latinized(text string) string {
	bare := strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return r
	}, norm.NFKD.String(text))
	return lookalikes.Replace(bare)
}

// lookalikes are small letters of Cyrillic, Greek and Armenian that look like Latin ones.
var lookalikes = strings.NewReplacer(
	"а", "a", "в", "b", "с", "c", "ԁ", "d", "е", "e", "һ", "h", "і", "i", "ј", "j", "к", "k", "ӏ", "l", "м", "m", "п", "n", "о", "o", "р", "p",
	"ѕ", "s", "т", "t", "у", "y", "х", "x", "ѵ", "v", "ѡ", "w", "ԛ", "q", "ԝ", "w", "н", "h",
	"α", "a", "β", "b", "ε", "e", "η", "n", "ι", "i", "κ", "k", "μ", "m", "ν", "v", "ο", "o", "ρ", "p", "τ", "t", "υ", "u", "χ", "x", "ω", "w", "γ", "y", "σ", "o", "ϲ", "c", "ϳ", "j",
	"ո", "n", "ս", "u", "օ", "o", "հ", "h", "ɑ", "a", "ı", "i", "ɡ", "g",
)

package answer

import (
	"regexp"
	"strings"
)

// Exception is a sentence that sets a rule and something that the rule does not hold for: "dogs are
// not allowed, except guide dogs".
type Exception struct {
	// Rule and Except are what the sentence says of either, in its own words.
	Rule, Except string
	// Condition says that the rule does not hold where the exception is so, whoever it is about:
	// "unless an adult is with them".
	Condition bool
}

// conditionForm begins an exception that is a condition.
var conditionForm = regexp.MustCompile(`(?i)unless|es sei denn|à moins|a menos que|a no ser que|a não ser|a meno che|tenzij|chyba że`)

// exceptionForms are how a language excepts: before what is excepted, after it, or around it. Those of
// [exempt] make a whole sentence the exception to the one before it.
type exceptionForms struct {
	before, after, around, exempt *regexp.Regexp
	// bans forbid where the negation's list cannot tell what is denied.
	bans *regexp.Regexp
}

// ahead and behind bound the words of a script that parts words.
const (
	ahead  = `(?i)(?:^|[\s,;(–—-])(?:`
	behind = `)(?:$|[\s,;:)])`
)

func excepting(before, after, exempt, bans string) exceptionForms {
	f := exceptionForms{before: regexp.MustCompile(ahead + before + behind), exempt: regexp.MustCompile(`(?i)` + exempt), bans: regexp.MustCompile(`(?i)(?:^|[^\p{L}])(?:` + bans + `)`)}
	if after != "" {
		f.after = regexp.MustCompile(ahead + after + `)(?:$|[\s,;:.!)])`)
	}
	return f
}

var exceptionsOf = map[string]exceptionForms{
	"en": excepting(`except(?:ing)?(?: for)?|with the exception of|apart from|aside from|other than|excluding|save for|but not|unless`, `excepted|excluded`,
		`^(?:only|however|but|still)\b|\bexempt(?:ed)?\b|^exceptions?\b|(?:does|do) not apply to|the (?:only )?exceptions? (?:is|are)|an exception is made`, `no\b|forbid|prohibit|banned`),
	"de": excepting(`außer|ausser|ausgenommen|mit ausnahme (?:von|der|des)|abgesehen von|es sei denn|aber nicht|jedoch nicht`, `ausgenommen`,
		`^(?:nur|aber|jedoch|allerdings)\b|^ausgenommen\b|ausgenommen (?:ist|sind)|(?:ist|sind) (?:davon |hiervon )?ausgenommen|gilt nicht für|^ausnahmen?\b|(?:ist|sind) die ausnahme`, `verboten|untersagt|verbiet`),
	"fr": excepting(`sauf|excepté|hormis|à l['’]exception (?:de|des|du|d['’]\S*)|à part|en dehors (?:de|des|du)|à moins (?:que|de|d['’]\S*)`, `exceptée?s?`,
		`^(?:seuls?|seules?|mais|cependant|toutefois)\b|ne s['’]applique(?:nt)? pas|^exceptions?\b|font? exception`, `interdi|défend`),
	"es": excepting(`salvo|excepto|exceptuando|(?:a|con) (?:la )?excepción de|con excepción de|aparte de|a menos que|a no ser que`, ``,
		`^(?:solo|sólo|solamente|pero|sin embargo)\b|no se aplica a|^excepci(?:ón|ones)\b|quedan? exent|quedan? exceptuad`, `prohib`),
	"it": excepting(`tranne|eccetto|salvo|ad eccezione (?:di|dei|delle|del|della|degli)|fatta eccezione per|a parte|a meno che|esclus[oaie]`, `esclus[oaie]`,
		`^(?:solo|soltanto|ma|tuttavia)\b|non (?:vale|si applica) (?:per|a)|^eccezion[ei]\b|fanno eccezione|fa eccezione`, `vieta|proibi|divieto`),
	"pt": excepting(`exceto|excepto|salvo|com exceção (?:de|dos|das|do|da)|à exceção (?:de|dos|das|do|da)|a não ser|a menos que|tirando`, ``,
		`^(?:só|apenas|mas|no entanto)\b|não se aplica (?:a|ao|aos|às)|^exceç(?:ão|ões)\b|são exceção|é exceção`, `proib`),
	"nl": excepting(`behalve|uitgezonderd|met uitzondering van|afgezien van|tenzij`, `uitgezonderd`,
		`^(?:alleen|maar|wel|echter)\b|geldt niet voor|^uitzondering(?:en)?\b|vormen een uitzondering|zijn uitgezonderd`, `verboden|verbied`),
	"pl": excepting(`oprócz|prócz|z wyjątkiem|za wyjątkiem|wyjąwszy|wyłączając|chyba że`, ``,
		`^(?:tylko|ale|jednak)\b|nie dotyczy|^wyjąt(?:ek|ki|kiem)\b|wyjątek stanowi`, `zakaz|zabron|zabrania`),
	"tr": {
		after:  regexp.MustCompile(`(?i)[\s](?:hariç|dışında|haricinde)(?:$|[\s,;.!)])`),
		exempt: regexp.MustCompile(`(?i)^(?:ancak|sadece|yalnızca)\s|için geçerli değil|istisnadır|^istisna`), bans: regexp.MustCompile(`(?i)yoktur?(?:$|[\s.!])`),
	},
	"zh": {
		around: regexp.MustCompile(`除(?:了)?(.+?)(?:以外|之外|外)`), after: regexp.MustCompile(`除外`), before: regexp.MustCompile(`但不包括|不包括|但不含`),
		exempt: regexp.MustCompile(`^(?:但|只有|仅)|不适用于|例外`), bans: regexp.MustCompile(`谢绝`),
	},
	"ja": {
		after:  regexp.MustCompile(`以外|を除[きくい]て?`),
		exempt: regexp.MustCompile(`^ただし|例外|適用されません`), bans: regexp.MustCompile(`お断り|ご遠慮`),
	},
	"ar": {
		before: regexp.MustCompile(`(?:^|[\s،,])(?:باستثناء|إلا|الا|ما عدا|ماعدا|فيما عدا|عدا|سوى)\s`),
		exempt: regexp.MustCompile(`^(?:لكن|ولكن|فقط)\s|لا ينطبق|لا يسري|يستثنى|^استثناء`), bans: regexp.MustCompile(`يمنع|يُمنع|محظور|يحظر|يُحظر`),
	},
}

// ends are the marks that end a part of a sentence.
const ends = ",;()،；，、：。"

// ExceptionIn reads the rule and the exception of a sentence; ok is false where it has none.
func ExceptionIn(language, sentence string) (e Exception, ok bool) {
	f, known := exceptionsOf[base(language)]
	if !known {
		return e, false
	}
	sentence = strings.TrimSpace(sentence)
	if f.around != nil {
		if m := f.around.FindStringSubmatchIndex(sentence); m != nil {
			return exceptionOf(sentence[:m[0]]+" "+sentence[m[1]:], sentence[m[2]:m[3]])
		}
	}
	if e, ok = f.ahead(sentence); ok || f.after == nil {
		return e, ok
	}
	m := f.after.FindStringIndex(sentence)
	if m == nil {
		return e, false
	}
	from := strings.LastIndexAny(sentence[:m[0]], ends)
	except := strings.TrimLeft(sentence[from+1:m[0]], ends)
	if from >= 0 {
		except = strings.TrimLeft(sentence[from:m[0]], ends) // its last mark may be of several bytes
	}
	rule := sentence[:max(0, from)] + " " + sentence[m[1]:]
	if topic, of, found := strings.Cut(except, "は"); found && base(language) == "ja" {
		rule, except = topic+"は"+strings.TrimSpace(rule), of // "犬は盲導犬を除き…"
	}
	return exceptionOf(rule, except)
}

// ahead reads an exception whose words stand before what is excepted.
func (f *exceptionForms) ahead(sentence string) (e Exception, ok bool) {
	if f.before == nil {
		return e, false
	}
	m := f.before.FindStringIndex(sentence)
	if m == nil || strings.Trim(sentence[m[1]:], " .!"+ends) == "" {
		return e, false
	}
	first, rest := sentence[:m[0]], sentence[m[1]:]
	if strings.Trim(first, " "+ends) != "" {
		rest, after, _ := strings.Cut(rest, ";")
		e, ok = exceptionOf(first+" "+after, rest)
		e.Condition = conditionForm.MatchString(sentence[m[0]:m[1]])
		return e, ok
	}
	// "Except for guide dogs, dogs are not allowed."
	except, rule, found := strings.Cut(rest, ",")
	if !found {
		except, rule, _ = strings.Cut(rest, "،")
	}
	return exceptionOf(rule, except)
}

func exceptionOf(rule, except string) (Exception, bool) {
	e := Exception{Rule: strings.Trim(rule, " ."+ends), Except: strings.Trim(except, " .!"+ends)}
	return e, e.Rule != "" && e.Except != ""
}

// Exempts says whether a sentence as a whole is an exception to the one before it: "this does not
// apply to guide dogs".
func Exempts(language, sentence string) bool {
	f, known := exceptionsOf[base(language)]
	return known && f.exempt.MatchString(strings.TrimSpace(sentence))
}

// Forbids says whether a text forbids or denies what it speaks of, rather than allowing it: "no dogs",
// and not "dogs are not forbidden".
func Forbids(language, text string) bool {
	n, _ := NegationIn(language, text)
	f, known := exceptionsOf[base(language)]
	return n.Denials%2 == 1 != (known && f.bans.MatchString(plainNo.ReplaceAllString(text, " ")))
}

// plainNo are words with "no" that forbid nothing, or that the negation's list has.
var plainNo = regexp.MustCompile(`(?i)\bno (?:one|problem|matter|doubt|later|more|less|fewer)\b`)

// Excepted is whether what is excepted from a rule is so: the contrary of the rule.
func Excepted(language, rule string) Verdict {
	if Forbids(language, rule) {
		return Holds
	}
	return Fails
}

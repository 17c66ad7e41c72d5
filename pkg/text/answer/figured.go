package answer

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"visavis.dev/pkg/text/numeral"
	"visavis.dev/pkg/text/search"
)

// hourForms are what stands around a number in words that is a time of day, in a language.
type hourForms struct {
	// at goes before a time alone, and from before other numbers as well: it needs one of the
	// words that follow a time, in a sentence that speaks of hours.
	at, from *regexp.Regexp
	// unit follows a time. Where it follows lengths of time too, as "heures" does, it needs one of
	// the words before.
	unit *regexp.Regexp
	sure bool
}

var hourFormsOf = map[string]hourForms{
	"en": formsOf(`at|half past|half`, `from|until|till|between|and|to`, `o['’]clock\b`, true),
	"de": formsOf(`um|gegen|halb`, `von|ab|bis|zwischen|und`, `uhr\b`, true),
	"fr": formsOf(``, `à|dès|de|jusqu['’]à|entre|et`, `heures\b`, false),
	"es": formsOf(`a las|las`, `desde las|hasta las|y`, `horas\b`, false),
	"it": formsOf(`alle|dalle`, `fino alle|e`, ``, false),
	"pt": formsOf(`às|das`, `até às|e`, `horas\b`, false),
	"nl": formsOf(`om|half`, `van|vanaf|tot|tussen|en`, `uur\b`, false),
	"zh": formsOf(``, ``, `[点點]`, true),
	"ja": formsOf(``, ``, `時(?:$|[^間])`, true),
}

func formsOf(at, from, unit string, sure bool) hourForms {
	before := func(words string) *regexp.Regexp {
		if words == "" {
			return nil
		}
		return regexp.MustCompile(`(?i)(?:^|[\s(])(?:` + words + `)\s$`)
	}
	f := hourForms{at: before(at), from: before(from), sure: sure}
	if unit != "" {
		f.unit = regexp.MustCompile(`(?i)^\s?` + unit)
	}
	return f
}

var (
	// timeAfter is what may follow a time that has no unit.
	timeAfter = regexp.MustCompile(`(?i)^(?:\s?[,.;:!?)]|$|\s(?:in the (?:morning|afternoon|evening)|at night|on|every|each|sharp|and|to|until|till|und|bis|am|y|e|en|tot|de la|del|di|da|morgens|vormittags|nachmittags|abends|['’]s)(?:$|[\s,.]))`)
	// partAfter says that more of the time follows, which is not read: "las diez y media".
	partAfter = regexp.MustCompile(`(?i)^(?:\s?(?:o['’]clock|uhr|heures?|horas|uur|[点點時]))?\s?(?:y media|y cuarto|menos|e mezza|e un quarto|e meia|et demie|et quart|moins|half|半|dreißig|fünfzehn|fünfundvierzig|trente|quinze|thirty|fifteen|forty)`)
	// partBefore says that the time is not the whole hour: "ten to nine", "Viertel nach neun".
	partBefore  = regexp.MustCompile(`(?i)(?:\b(?:quarter|viertel|kwart|past|minutes?|minuten|nach|vor|dreiviertel|over|voor)\s(?:past |to |nach |vor |over |voor )?|(?:ten|five|twenty|zehn|fünf|zwanzig|tien|vijf) (?:to|past|vor|nach|voor|over) )$`)
	halfPast    = regexp.MustCompile(`(?i)(?:half past|halb|half)\s$`)
	untilBefore = regexp.MustCompile(`(?i)(?:until|till|to|bis|jusqu['’]à|à|hasta(?: las)?|fino alle|até às|tot)\s$`)
	closeBefore = regexp.MustCompile(`(?i)(?:clos\w+|schließ\w*|ferm\w+|cierra\w*|chiud\w+|fecha\w*|sluit\w*) (?:at|um|à|a las|alle|às|om)\s$`)
	startBefore = regexp.MustCompile(`(?i)(?:(?:from|between|von|ab|zwischen|de|dès|entre|desde(?: las)?|dalle|das|van|vanaf|tussen)|(?:open\w*|start\w*|begin\w*|öffne\w*|ouvr\w+|abre\w*|apr\w+) (?:at|um|à|a las|alle|às|om))\s$`)
	laterAfter  = regexp.MustCompile(`(?i)^\s?(?:o['’]clock |uhr |heures? |horas |uur )?(?:in the (?:afternoon|evening)|at night|nachmittags|abends|du soir|de l['’]après-midi|de la (?:tarde|noche)|del pomeriggio|di sera|da (?:tarde|noite)|['’]s (?:middags|avonds)|po południu|wieczorem)`)
	soonerAfter = regexp.MustCompile(`(?i)^\s?(?:o['’]clock |uhr |heures? |horas |uur )?(?:in the morning|vormittags|morgens|du matin|de la mañana|di mattina|da manhã|['’]s ochtends)`)
	laterBefore = regexp.MustCompile(`(?i)(?:下午|晚上|午後|夜|öğleden sonra |akşam )$`)
)

// nearby is how many bytes before and after a number in words tell whether it is a time.
const nearby = 40

// figured is a sentence with its numbers in figures, and with the times of day among them as
// they are written: "from nine until six" is "from 9:00 until 18:00".
func figured(language, sentence string) string { return inFigures(language, sentence, true) }

// timed is a sentence with the times of day that it has in words as they are written; other
// numbers stay words.
func timed(language, sentence string) string { return inFigures(language, sentence, false) }

func inFigures(language, sentence string, numbers bool) string {
	found := numeral.In(language, sentence)
	if len(found) == 0 {
		return sentence
	}
	ofHours := speaksOfHours(language, sentence)
	var out strings.Builder
	from, last := 0, -1
	for i, n := range found {
		out.WriteString(sentence[from:n.From])
		from = n.To
		w := around(language, sentence, n, ofHours)
		w.last = last
		if i+1 < len(found) {
			next := found[i+1]
			between := sentence[n.To:next.From]
			w.spans, w.to = len(between) < nearby && spanBetween.MatchString(between), between == " to "
			following := around(language, sentence, next, ofHours)
			w.spansTime = following.named()
		}
		switch minute, is := w.timeOf(n.Value); {
		case is:
			if last = minute; laterAfter.MatchString(w.after) && minute < noon {
				last += noon
			}
			fmt.Fprintf(&out, "%d:%02d", minute/60, minute%60)
		case numbers:
			out.WriteString(strconv.Itoa(n.Value))
		default:
			out.WriteString(sentence[n.From:n.To])
		}
	}
	return out.String() + sentence[from:]
}

// spanBetween is what stands between the two numbers of a span.
var spanBetween = regexp.MustCompile(`(?i)^\s(?:and|to|until|till|bis|und|à|et|a|y|e|tot|en)\s$`)

// speaksOfHours says whether a sentence says when something is open.
func speaksOfHours(language, sentence string) bool {
	hours := byKey()["hours"]
	for _, m := range search.Meanings(language, sentence) {
		if slices.Contains(m.Concepts, hours) {
			return true
		}
	}
	return false
}

// surrounded is a number in words with what stands around it.
type surrounded struct {
	forms         hourForms
	language      string
	before, after string
	// ofHours says that the sentence speaks of hours, and last is the time before it in the
	// sentence in minutes, negative for none.
	ofHours bool
	last    int
	// spans says that another number follows after "and" or "to", and spansTime that this one may
	// be a time: "between five and ten people" names none.
	spans, spansTime bool
	// to says that the other number follows after "to": "at ten to nine".
	to bool
}

func around(language, sentence string, n numeral.Found, ofHours bool) surrounded {
	return surrounded{
		forms: hourFormsOf[base(language)], language: base(language), ofHours: ofHours, last: -1,
		before: sentence[max(0, n.From-nearby):n.From], after: sentence[n.To:min(len(sentence), n.To+nearby)],
	}
}

func matches(form *regexp.Regexp, text string) bool { return form != nil && form.MatchString(text) }

// named says whether what follows lets a number be a time.
func (w *surrounded) named() bool {
	return !partAfter.MatchString(w.after) && (matches(w.forms.unit, w.after) || timeAfter.MatchString(w.after))
}

// timeOf is the time of day, in minutes, that a number is, if it is one.
func (w *surrounded) timeOf(value int) (minute int, is bool) {
	unit := matches(w.forms.unit, w.after)
	at, from := matches(w.forms.at, w.before), matches(w.forms.from, w.before)
	switch {
	case value > 24, !w.named(), partBefore.MatchString(w.before) && !halfPast.MatchString(w.before), w.spans && !w.spansTime:
		return 0, false
	case unit && (w.forms.sure || at || from):
	case at && !w.to:
	case from && w.ofHours && !unit:
	default:
		return 0, false
	}
	minute = value * 60
	switch {
	case halfPast.MatchString(w.before) && (w.language == "de" || w.language == "nl"):
		minute -= 30 // "halb zehn"
	case halfPast.MatchString(w.before):
		minute += 30
	}
	if minute < noon && w.isLater(minute) {
		minute += noon
	}
	return minute, true
}

// isLater says whether a time before noon is that after it, where the text leaves it out: nothing
// closes at six in the morning, or at five when it opened at nine.
func (w *surrounded) isLater(minute int) bool {
	switch {
	case laterAfter.MatchString(w.after), soonerAfter.MatchString(w.after), startBefore.MatchString(w.before):
		return false
	case w.last >= 18*60:
		return false // past midnight
	case w.last >= minute:
		return true
	case closeBefore.MatchString(w.before):
		return w.last < 0
	default:
		return w.last < 0 && w.ofHours && untilBefore.MatchString(w.before) && minute < 8*60
	}
}

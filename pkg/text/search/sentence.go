package search

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/sentences"
)

// Span is a stretch of a text in bytes: text[From:To].
type Span struct{ From, To int }

// Sentences are the sentences of a text, without the space around them. They
// are those of UAX #29, except that abbreviations, initials, the numbers of
// lists and lines wrapped inside a sentence do not end one.
func Sentences(text string) []Span {
	var out []Span
	open := false // whether the last of out goes on
	segments := sentences.FromString(text)
	for segments.Next() {
		from, to := segments.Start(), segments.End()
		s := text[from:to]
		if strings.TrimSpace(s) == "" {
			open = open && !strings.Contains(s, "\n")
			continue
		}
		span := trimmed(text, from, to)
		if open && goesOn(text[out[len(out)-1].From:from], s) {
			out[len(out)-1].To = span.To
		} else {
			out = append(out, span)
		}
		open = true
	}
	return out
}

func trimmed(text string, from, to int) Span {
	s := text[from:to]
	from += len(s) - len(strings.TrimLeftFunc(s, unicode.IsSpace))
	return Span{from, from + len(strings.TrimSpace(s))}
}

// goesOn says whether what came so far, with the space after it, goes on in
// what follows.
func goesOn(before, after string) bool {
	body := strings.TrimRightFunc(before, unicode.IsSpace)
	space := before[len(body):]
	next, _ := utf8.DecodeRuneInString(strings.TrimLeft(after, " \t\"'«„“(["))
	if strings.Contains(space, "\n") {
		wrapped := strings.Count(space, "\n") == 1 && !strings.ContainsAny(body[max(0, len(body)-1):], ".!?:;") && !strings.HasSuffix(body, "。")
		return wrapped && unicode.IsLower(next)
	}
	stem, ok := strings.CutSuffix(body, ".")
	if !ok {
		return false
	}
	words := strings.Fields(stem)
	if len(words) == 0 {
		return false
	}
	as := strings.TrimLeft(words[len(words)-1], "(\"'„“«[")
	initial, size := utf8.DecodeRuneInString(as)
	last := strings.ToLower(as)
	switch {
	case abbreviations[last], beforeNumber[last] && unicode.IsDigit(next):
		return true
	case size == len(as) && unicode.IsUpper(initial):
		return true // "J. Smith"
	case isNumber(last) && len(last) <= 3:
		return len(words) == 1 || beforeOrdinal[strings.ToLower(words[len(words)-2])]
	}
	return false
}

func isNumber(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// abbreviations never end a sentence, without their last point; those that
// may ("etc.", "usw.") are left to UAX #29, which looks at the next letter.
var abbreviations = set(`e.g i.e dr mr mrs ms prof st mt vs approx dept jr sr gen capt lt rev hon ca cf
	z.b d.h u.a o.ä i.d.r z.t u.u s.o s.u bzw tel evtl ggf inkl zzgl vgl hr fr frl dipl bspw sog
	mme mlle p.ex c.-à-d sra srta dra uds aprox dña p.ej sig dott avv bijv d.w.z dhr mevr t.ex bl.a f.eks`)

// beforeNumber are those that do not where a number follows: "No. 5".
var beforeNumber = set("no nr núm n nº vol p pp pág pag fig abs art sec abb kap max min mind ch eq")

// beforeOrdinal are the words before a German or Danish ordinal: "am 3. Mai".
var beforeOrdinal = set("am der den dem des vom zum bis im ab die das den d seit")

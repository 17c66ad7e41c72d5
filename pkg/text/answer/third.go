package answer

import "regexp"

// thirdForms are how a language speaks of a person who was named before; where it says that by the
// verb alone, of one who may, must or pays.
var thirdForms = map[string]*regexp.Regexp{
	"en": regexp.MustCompile(`(?i)\b(?:he|she|him|her)\b`),
	"de": regexp.MustCompile(`\b(?:er|Er|ihn|ihm)\b|(?:^|[^n])\s(?:sie)\b`),
	"fr": regexp.MustCompile(`(?i)\b(?:elle|lui)\b|(?:peut|doit|paie|paye|paiera|va)[- ]t?-?il\b|\bil (?:peut|doit|paie|paye|va)\b`),
	"es": regexp.MustCompile(`(?i)(?:^|[^\p{L}])(?:él|ella)(?:$|[^\p{L}])|(?:^|[^\p{L}]|[^s]e )(?:paga|debe|tiene que|necesita|entra)\b|^[¿\s]*(?:y )?puede\b`),
	"it": regexp.MustCompile(`(?i)\b(?:lui)\b|(?:^|[^i] )(?:paga|deve)\b|^(?:e )?può(?:$|[^\p{L}])`),
	"pt": regexp.MustCompile(`(?i)\b(?:ele|ela)\b|(?:^|[^e] )(?:paga|deve|precisa)\b|^(?:e )?pode\b`),
	"nl": regexp.MustCompile(`(?i)\b(?:hij|zij|ze|hem|haar)\b`),
	"pl": regexp.MustCompile(`(?i)(?:^|[^\p{L}])(?:on|ona|jego|ją|jej|mu|niego|niej)(?:$|[^\p{L}])|\b(?:płaci|zapłaci|musi)(?:$|[^\p{L}])|^(?:a |i )?(?:czy )?może\b`),
	"tr": regexp.MustCompile(`(?i)(?:^|\s)(?:onun|ona|onu|kendisi)(?:$|[\s?.,])|(?:öder|ödüyor|ödeyecek)(?:\s|$|\?)`),
	"zh": regexp.MustCompile(`(?:^|[^其吉])他|她`),
	"ja": regexp.MustCompile(`彼|その子|この子|あの子`),
	"ar": regexp.MustCompile(`(?:^|\s)(?:و?هو|و?هي|له|لها|و?يدفع|و?تدفع|يمكنه|يمكنها|عليه|عليها)(?:$|[\s؟?.,])`),
}

// impersonalForm speaks of nobody, in words that may speak of somebody.
var impersonalForm = regexp.MustCompile(`(?i)\bse puede\b|\bsi può(?:$|[^\p{L}])|\bpode-se\b|\bs(?:e|i) paga\b|\bpaga-se\b|\bpuede (?:usted|ayudar|decir)|\bpuò (?:aiutar|dir)|\bpode (?:me|ajudar|dizer)|\bmoże (?:pan|pani|mi)\b`)

// OfThird says whether a question speaks of a person who was named before, by a pronoun or the form of
// its verb.
func OfThird(language, text string) bool {
	form := thirdForms[base(language)]
	return form != nil && form.MatchString(text) && !impersonalForm.MatchString(text)
}

// selfForms are how a language speaks of who asks.
var selfForms = map[string]*regexp.Regexp{
	"en": regexp.MustCompile(`(?i)\bi\b|\bmyself\b`),
	"de": regexp.MustCompile(`(?i)\b(?:ich|mir|mich)\b`),
	"fr": regexp.MustCompile(`(?i)\b(?:je|moi)\b|\bj['’]`),
	"es": regexp.MustCompile(`(?i)\b(?:yo|puedo|pago|debo|tengo|necesito)\b`),
	"it": regexp.MustCompile(`(?i)\b(?:io|posso|pago|devo|ho)\b`),
	"pt": regexp.MustCompile(`(?i)\b(?:eu|posso|pago|devo|tenho|preciso)\b`),
	"nl": regexp.MustCompile(`(?i)\b(?:ik|mij)\b`),
	"pl": regexp.MustCompile(`(?i)\b(?:ja|mam)\b|(?:^|[^\p{L}])(?:mogę|muszę|płacę|zapłacę)(?:$|[^\p{L}])`),
	"tr": regexp.MustCompile(`(?i)\bben\b|m[iıuü]y[iıuü]m`),
	"zh": regexp.MustCompile(`我`),
	"ja": regexp.MustCompile(`私|僕|俺`),
	"ar": regexp.MustCompile(`(?:^|\s)(?:و?أنا|يمكنني|أدفع|أستطيع)(?:$|[\s؟?.,])`),
}

// OfSelf says whether a question speaks of who asks it.
func OfSelf(language, text string) bool {
	form := selfForms[base(language)]
	return form != nil && form.MatchString(text)
}

// ownAge is somebody's own age as they say it.
var ownAge = regexp.MustCompile(`(?i)(?:^|[^\p{L}])(?:i am|i['’]?m|ich bin|j['’]ai|tengo|ho|tenho|ik ben|mam) \d|我(?:今年)?\s?\d|私は\s?\d|عمري \d|\d\s?yaşındayım`)

// TellsOwnAge says whether who asks says how old they are.
func TellsOwnAge(text string) bool { return ownAge.MatchString(text) }

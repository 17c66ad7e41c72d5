package answer

import "regexp"

// thirdForms are how a language speaks of a person who was named before; where it says that by the
// verb alone, of one who may, must or pays.
var thirdForms = map[string]*regexp.Regexp{
	"en": regexp.MustCompile(`(?i)\b(?:he|she|him|her)\b`),
	"de": regexp.MustCompile(`\b(?:er|Er|ihn|ihm|ihr)\b|(?:^|[^n])\s(?:sie)\b`),
	"fr": regexp.MustCompile(`(?i)\b(?:elle|lui)\b|(?:peut|doit|paie|paye|paiera|va)[- ]t?-?il\b|\bil (?:peut|doit|paie|paye|va)\b`),
	"es": regexp.MustCompile(`(?i)(?:^|[^\p{L}])(?:él|ella)(?:$|[^\p{L}])|(?:^|[^\p{L}]|[^s]e )(?:paga|debe|tiene que|necesita|entra)\b|^[¿\s]*(?:y )?puede\b`),
	"it": regexp.MustCompile(`(?i)\b(?:lui|lei|gli)\b|(?:^|[^i] )(?:paga|deve)\b|^(?:e )?può(?:$|[^\p{L}])`),
	"pt": regexp.MustCompile(`(?i)\b(?:ele|ela)\b|(?:^|[^e] )(?:paga|deve|precisa)\b|^(?:e )?pode\b`),
	"nl": regexp.MustCompile(`(?i)\b(?:hij|zij|ze|hem|haar)\b`),
	"pl": regexp.MustCompile(`(?i)(?:^|[^\p{L}])(?:on|ona|jego|ją|jej|mu|niego|niej)(?:$|[^\p{L}])|\b(?:płaci|zapłaci|musi)(?:$|[^\p{L}])|^(?:a |i )?(?:czy )?może\b`),
	"tr": regexp.MustCompile(`(?i)(?:^|\s)(?:onun|ona|onu|kendisi)(?:$|[\s?.,])|(?:[ae]bilir|öder|ödüyor|ödeyecek|gerek)(?:\s|$|\?)`),
	"zh": regexp.MustCompile(`他|她`),
	"ja": regexp.MustCompile(`彼|その子|この子|あの子|払`),
	"ar": regexp.MustCompile(`(?:^|\s)(?:و?هو|و?هي|له|لها|و?يدفع|و?تدفع|يمكنه|يمكنها|عليه|عليها)(?:$|[\s؟?.,])`),
}

// impersonalForm speaks of nobody, in words that may speak of somebody.
var impersonalForm = regexp.MustCompile(`(?i)\bse puede\b|\bsi può\b|\bpode-se\b|\bs(?:e|i) paga\b|\bpaga-se\b|\bpuede (?:usted|ayudar|decir)|\bpuò (?:aiutar|dir)|\bpode (?:me|ajudar|dizer)|\bmoże (?:pan|pani|mi)\b`)

// OfThird says whether a question speaks of a person who was named before, by a pronoun or the form of
// its verb.
func OfThird(language, text string) bool {
	form := thirdForms[base(language)]
	return form != nil && form.MatchString(text) && !impersonalForm.MatchString(text)
}

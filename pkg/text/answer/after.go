package answer

import "regexp"

// afterForms say in a language what follows something.
var afterForms = map[string]*regexp.Regexp{
	"en": regexp.MustCompile(`(?i)\b(?:after|afterwards|thereafter|once)\b`),
	"de": regexp.MustCompile(`(?i)\b(?:nach|nachdem|danach|anschließend|sobald)\b`),
	"fr": regexp.MustCompile(`(?i)\baprès|\bensuite\b|\bune fois\b|\bdès que\b`),
	"es": regexp.MustCompile(`(?i)\b(?:después|tras|luego|una vez)\b`),
	"it": regexp.MustCompile(`(?i)\b(?:dopo|poi|una volta|in seguito)\b`),
	"pt": regexp.MustCompile(`(?i)\b(?:depois|após|uma vez)\b`),
	"nl": regexp.MustCompile(`(?i)\b(?:na|nadat|daarna|zodra)\b`),
	"pl": regexp.MustCompile(`(?i)\b(?:po|potem|następnie|gdy tylko)\b`),
	"tr": regexp.MustCompile(`(?i)sonra`),
	"zh": regexp.MustCompile(`后|以后|之后`),
	"ja": regexp.MustCompile(`後|あと`),
	"ar": regexp.MustCompile(`(?:^|\s)و?بعد`),
}

// Follows says whether a text speaks of what is after something: "for 90 days after canceling".
func Follows(language, text string) bool {
	form := afterForms[base(language)]
	return form != nil && form.MatchString(text)
}

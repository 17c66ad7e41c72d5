package answer

// WithoutOrdinals is a text without the words that tell a place in a row: "the first".
func WithoutOrdinals(text string) string {
	for _, o := range ordinals {
		text = o.form.ReplaceAllString(text, " ")
	}
	return text
}

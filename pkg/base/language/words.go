package language

// Words are a text in several languages, by their codes. In a patch a language
// may be named in any way.
type Words map[string]string

// Key makes a key of what a patch has for it (package patch).
func (Words) Key(name string) string { return Key(name) }

// In is the text in a language, or else in the one that is spoken otherwise;
// empty where there is neither.
func (w Words) In(language, otherwise string) string {
	if text, ok := w[language]; ok {
		return text
	}
	return w[otherwise]
}

package language

import "slices"

// Accent makes English speak with another language's accent.
type Accent struct {
	// Key is what settings.accent takes: the English name of the language the
	// accent is of, in lower case.
	Key string
	// Label is the name to show, in English.
	Label string
}

var accents = []Accent{
	{Key: "arabic", Label: "Arabic accent"},
	{Key: "chinese", Label: "Chinese accent"},
	{Key: "dutch", Label: "Dutch accent"},
	{Key: "french", Label: "French accent"},
	{Key: "german", Label: "German accent"},
	{Key: "greek", Label: "Greek accent"},
	{Key: "hindi", Label: "Hindi accent"},
	{Key: "italian", Label: "Italian accent"},
	{Key: "japanese", Label: "Japanese accent"},
	{Key: "korean", Label: "Korean accent"},
	{Key: "polish", Label: "Polish accent"},
	{Key: "portuguese", Label: "Portuguese accent"},
	{Key: "russian", Label: "Russian accent"},
	{Key: "spanish", Label: "Spanish accent"},
	{Key: "swedish", Label: "Swedish accent"},
	{Key: "turkish", Label: "Turkish accent"},
}

// Accents returns the accents, ordered by label. The slice is the caller's own.
func Accents() []Accent {
	return slices.Clone(accents)
}

package portrait

import "slices"

// Face is one invented person of the library.
type Face struct {
	Key     string // stable lower-case ASCII key; never reused for another face
	Name    string // first name
	Gender  string // "female" or "male"
	AgeBand string // "20s", "30s", "40s", "50s" or "60s"
	// Heritage is "white", "black", "indian", "chinese", "korean", "japanese",
	// "thai", "hispanic", "middleeastern" or "mixed".
	Heritage string
	Look     Look
}

// Library is all faces, in the order they are shown. The caller may change what
// it gets.
func Library() []Face {
	return slices.Concat(
		whiteFaces, blackFaces, indianFaces, chineseFaces, koreanFaces,
		japaneseFaces, thaiFaces, hispanicFaces, middleEasternFaces, mixedFaces,
	)
}

// The walls the people stand in front of.
var (
	mist  = Backdrop{Inner: 0xE3EBEF, Outer: 0xA8BCC9}
	sage  = Backdrop{Inner: 0xE4EBDF, Outer: 0xA9BBA2}
	sand  = Backdrop{Inner: 0xF2E9DB, Outer: 0xCDB698}
	rose  = Backdrop{Inner: 0xF4E6E2, Outer: 0xD2AEA6}
	lilac = Backdrop{Inner: 0xEAE6F1, Outer: 0xB3AAC8}
	stone = Backdrop{Inner: 0xE9E8E5, Outer: 0xB1AEA8}
	teal  = Backdrop{Inner: 0xD5E6E4, Outer: 0x85AAA8}
	slate = Backdrop{Inner: 0xB9C5D0, Outer: 0x66788A}
	amber = Backdrop{Inner: 0xF6E6C8, Outer: 0xD6AE78}
	clay  = Backdrop{Inner: 0xEBD5C6, Outer: 0xB98C74}
)

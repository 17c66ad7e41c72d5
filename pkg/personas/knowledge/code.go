package knowledge

// Code says why a document could not be read (events,
// knowledge.document.failed).
type Code string

// The codes.
const (
	AddressRefused Code = "address_refused"
	Blocked        Code = "blocked"
	Empty          Code = "empty"
	FetchFailed    Code = "fetch_failed"
	Timeout        Code = "timeout"
	// PackFull: the pack has no room for its words and passages.
	PackFull    Code = "pack_full"
	TooComplex  Code = "too_complex"
	TooLarge    Code = "too_large"
	Unreadable  Code = "unreadable"
	Unsupported Code = "unsupported"
)

// messages say the codes in words.
var messages = map[Code]string{
	AddressRefused: "The address is not public.",
	Blocked:        "The site does not let its pages be read.",
	Empty:          "There is no text in it.",
	FetchFailed:    "The address could not be fetched.",
	Timeout:        "The address did not answer in time.",
	PackFull:       "The pack is full: with it, its documents would have too many different words and passages. Delete documents, or use another pack.",
	TooComplex:     "It has more cells, elements, lines, levels or different words than are read of one document.",
	TooLarge:       "It is too large, or unpacks to too much, or has too much text.",
	Unreadable:     "It could not be read: it is damaged or needs a password, or reading it took more memory or time than one document may.",
	Unsupported:    "It is of a kind that cannot be read.",
}

// Message says the code in words.
func (c Code) Message() string { return messages[c] }

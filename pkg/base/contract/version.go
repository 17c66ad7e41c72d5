// Package contract holds the dated contracts of the API (spec, Versioning) and
// the differences between them. Everything else in the code base knows the
// newest contract only; a Change here walks an answer back to an older one.
package contract

// Version is the date of a contract. Dates compare as strings.
type Version string

// The contracts that exist, oldest first.
const (
	V20260708 Version = "2026-07-08"
	V20261001 Version = "2026-10-01"

	Latest = V20261001
)

// Header carries the contract: in a request the one asked for, in an answer
// the one it is written in (Versioning, 2).
const Header = "Service-Version"

// Versions lists every contract, oldest first.
func Versions() []Version { return []Version{V20260708, V20261001} }

// Parse reads a contract's date.
func Parse(s string) (Version, bool) {
	for _, v := range Versions() {
		if string(v) == s {
			return v, true
		}
	}
	return "", false
}

// Before says whether v is an older contract than other.
func (v Version) Before(other Version) bool { return v < other }

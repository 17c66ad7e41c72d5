// Package record keeps what was done about a candidate, so that nobody can change it later
// without being found out: each entry holds the hash of the one before. Personal words are no
// part of an entry but of what lies beside it, by a salted hash: they can be erased, and the
// chain still verifies.
package record

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"visavis.dev/pkg/base/id"
)

// Entry is one thing that was done.
type Entry struct {
	// Number counts from one.
	Number int64     `json:"number"`
	At     time.Time `json:"at"`
	// Actor is the id of a key or a person, candidate, or platform, and Action what was done,
	// such as "candidate.reviewed".
	Actor  string `json:"actor"`
	Action string `json:"action"`
	// Data are the facts as JSON, exactly as they were hashed.
	Data string `json:"data"`
	// WordsHash is of the words beside the entry; empty for none.
	WordsHash Hash `json:"wordsHash"`
	// Previous is the hash of the entry before; of the first the hash of the candidate's id.
	Previous Hash `json:"previous"`
	Hash     Hash `json:"hash"`
	// Words lie beside the entry, with their salt; nil for none, and once they are erased.
	Words *Words `json:"words,omitempty"`
}

// Words are personal words with the salt of their hash.
type Words struct {
	Salt Hash   `json:"salt"`
	Text string `json:"text"`
}

// Hash is a SHA-256, or the salt of one. In JSON it is in base64url.
type Hash []byte

// MarshalText implements encoding.TextMarshaler.
func (h Hash) MarshalText() ([]byte, error) {
	return []byte(base64.RawURLEncoding.EncodeToString(h)), nil
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (h *Hash) UnmarshalText(text []byte) (err error) {
	*h, err = base64.RawURLEncoding.Strict().DecodeString(string(text))
	return err
}

// digest hashes parts so that no two lists of parts are hashed alike.
func digest(of string, parts ...[]byte) Hash {
	sum := sha256.New()
	for _, part := range append([][]byte{[]byte(of)}, parts...) {
		var length [8]byte
		binary.BigEndian.PutUint64(length[:], uint64(len(part)))
		sum.Write(length[:])
		sum.Write(part)
	}
	return sum.Sum(nil)
}

// Genesis is what the first entry of a candidate comes after.
func Genesis(c id.Candidate) Hash { return digest("visavis candidate record", []byte(c.String())) }

// moment is a time as it is hashed.
func moment(t time.Time) []byte { return []byte(t.UTC().Format("2006-01-02T15:04:05.000000Z")) }

func (e *Entry) sum() Hash {
	var number [8]byte
	binary.BigEndian.PutUint64(number[:], uint64(e.Number))
	return digest("visavis candidate record entry", number[:], moment(e.At), []byte(e.Actor), []byte(e.Action), []byte(e.Data), e.WordsHash, e.Previous)
}

// newWords salts words.
func newWords(text string) *Words {
	salt := make([]byte, sha256.Size)
	_, _ = rand.Read(salt) // never fails: the program ends instead
	return &Words{Salt: salt, Text: text}
}

func (w *Words) sum() Hash {
	return digest("visavis candidate record words", w.Salt, []byte(w.Text))
}

// ErrBroken says that a record is not as it was written.
var ErrBroken = errors.New("the record was changed")

func broken(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrBroken}, args...)...)
}

// Check says whether entries are a candidate's record from the first on, unchanged. The error is
// ErrBroken, and says where.
func Check(c id.Candidate, entries []Entry) error {
	previous := Genesis(c)
	for i := range entries {
		e := &entries[i]
		switch {
		case !e.At.Equal(e.At.Truncate(time.Microsecond)):
			return broken("entry %d is dated more finely than what was hashed", e.Number)
		case e.Number != int64(i+1):
			return broken("entry %d stands in the place of entry %d", e.Number, i+1)
		case !same(e.Previous, previous):
			return broken("entry %d does not come after the one before it", e.Number)
		case !same(e.Hash, e.sum()):
			return broken("entry %d is not what was hashed", e.Number)
		case e.Words != nil && !same(e.WordsHash, e.Words.sum()):
			return broken("the words of entry %d are not what was hashed", e.Number)
		}
		previous = e.Hash
	}
	return nil
}

func same(a, b Hash) bool { return subtle.ConstantTimeCompare(a, b) == 1 }

// head is the hash that the next entry comes after.
func head(c id.Candidate, entries []Entry) Hash {
	if len(entries) == 0 {
		return Genesis(c)
	}
	return entries[len(entries)-1].Hash
}

// Ends says whether entries are all of a record that has so many, and the last of them its head.
func Ends(c id.Candidate, entries []Entry, length int64, last []byte) bool {
	return int64(len(entries)) == length && (length == 0 || same(head(c, entries), last))
}

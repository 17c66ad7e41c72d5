package search

import (
	"bytes"
	"encoding/binary"
	"errors"
	"maps"
	"slices"

	"visavis.dev/pkg/base/id"
)

// version is the first byte of the stored form. It rises with every change of
// the form or of the analysis: a document stored under another version is to
// be analysed anew.
const version = 2

// readable says whether a document in a language, by its code, that was stored under a version is
// what this one would write: version 2 stems Polish, and is else as version 1.
func readable(v byte, language string) bool {
	return v == version || v == 1 && language != "pl"
}

// ErrVersion says that a form was stored by another version of the analysis.
var ErrVersion = errors.New("analysed by another version")

// ErrCorrupt says that bytes are not what Marshal writes.
var ErrCorrupt = errors.New("not an analysed document")

// Marshal writes the stored form: the version; the document's terms in order,
// each as what it shares with the one before and the rest; then each passage
// as its id, its length and its terms' numbers, as differences, with counts.
// Numbers are unsigned varints.
func (d Analysed) Marshal() []byte {
	numbers := map[string]uint64{}
	for _, p := range d.Passages {
		for _, t := range p.Terms {
			numbers[t.Term] = 0
		}
	}
	terms := slices.Sorted(maps.Keys(numbers))
	b := binary.AppendUvarint([]byte{version}, uint64(len(terms)))
	before := ""
	for n, t := range terms {
		numbers[t] = uint64(n)
		shared := common(before, t)
		b = binary.AppendUvarint(b, uint64(shared))
		b = binary.AppendUvarint(b, uint64(len(t)-shared))
		b = append(b, t[shared:]...)
		before = t
	}
	b = binary.AppendUvarint(b, uint64(len(d.Passages)))
	for _, p := range d.Passages {
		b = append(b, p.ID[:]...)
		b = binary.AppendUvarint(b, uint64(p.Length))
		b = binary.AppendUvarint(b, uint64(len(p.Terms)))
		next := uint64(0)
		for _, t := range p.Terms {
			b = binary.AppendUvarint(b, numbers[t.Term]-next)
			b = append(b, t.Count)
			next = numbers[t.Term] + 1
		}
	}
	return b
}

func common(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// What the things that are counted take at least, in bytes.
const (
	minTerm      = 2
	minFrequency = 2
	minPassage   = len(id.Chunk{}) + 2
)

// newReader reads a form of a document in a language: any bytes, of which those that Marshal does not write
// are found out, and what is allocated stays in proportion to them.
func newReader(form []byte, language string) (reader, error) {
	r := reader{rest: form}
	switch v := r.byte(); {
	case r.failed:
		return r, ErrCorrupt
	case !readable(v, language):
		return r, ErrVersion
	}
	return r, nil
}

// reader takes numbers and bytes off its rest until one is missing; from then
// on it answers zeros.
type reader struct {
	rest   []byte
	failed bool
}

func (r *reader) fail() { r.failed, r.rest = true, nil }

func (r *reader) byte() byte {
	if b := r.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (r *reader) take(n uint64) []byte {
	if n > uint64(len(r.rest)) {
		r.fail()
		return nil
	}
	b := r.rest[:n]
	r.rest = r.rest[n:]
	return b
}

func (r *reader) number() uint64 {
	v, n := binary.Uvarint(r.rest)
	if n <= 0 {
		r.fail()
		return 0
	}
	r.rest = r.rest[n:]
	return v
}

// count reads how many things of so many bytes at least follow.
func (r *reader) count(size int) int {
	n := r.number()
	if n > uint64(len(r.rest)/size) {
		r.fail()
		return 0
	}
	return int(n)
}

// terms reads the terms, and answers the number that each is given.
func (r *reader) terms(number func([]byte) uint32) []uint32 {
	n := r.count(minTerm)
	numbers := make([]uint32, 0, n)
	var term [longest]byte
	length := uint64(0)
	for range n {
		shared, own := r.number(), r.number()
		if shared > length || own > longest || shared+own > longest {
			r.fail()
			return numbers
		}
		rest := r.take(own)
		if r.failed || bytes.Compare(rest, term[shared:length]) <= 0 {
			r.fail()
			return numbers
		}
		length = shared + own
		copy(term[shared:], rest)
		numbers = append(numbers, number(term[:length]))
	}
	return numbers
}

// passage reads a passage; its terms follow.
func (r *reader) passage() (p Passage) {
	copy(p.ID[:], r.take(uint64(len(p.ID))))
	length := r.number()
	if length > 1<<31-1 {
		r.fail()
	}
	p.Length = int(length)
	return p
}

// frequencies reads a passage's terms, and how often it has each.
func (r *reader) frequencies(numbers []uint32, each func(number uint32, count uint8)) {
	next := uint64(0)
	for range r.count(minFrequency) {
		skip := r.number()
		count := r.byte()
		if r.failed || skip >= uint64(len(numbers)) || next+skip >= uint64(len(numbers)) || count == 0 || count > mostFrequent {
			r.fail()
			return
		}
		each(numbers[next+skip], count)
		next += skip + 1
	}
}

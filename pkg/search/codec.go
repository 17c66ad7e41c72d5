package search

import (
	"encoding/binary"
	"errors"
	"maps"
	"slices"

	"visavis.dev/pkg/id"
)

// version is the first byte of the stored form. It rises with every change of
// the form or of the analysis: a document stored under another version is to
// be analysed anew.
const version = 1

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

// Unmarshal reads what Marshal wrote. It takes any bytes: those that Marshal
// does not write are ErrCorrupt, and what is allocated stays in proportion to
// what was given.
func Unmarshal(b []byte) (Analysed, error) {
	r := reader{rest: b}
	if v := r.byte(); r.failed || v != version {
		if r.failed {
			return Analysed{}, ErrCorrupt
		}
		return Analysed{}, ErrVersion
	}
	terms := r.terms()
	n := r.count(minPassage)
	d := Analysed{Passages: make([]Passage, 0, n)}
	for range n {
		d.Passages = append(d.Passages, r.passage(terms))
		if r.failed {
			break
		}
	}
	if r.failed || len(r.rest) > 0 {
		return Analysed{}, ErrCorrupt
	}
	return d, nil
}

// What the things that are counted take at least, in bytes.
const (
	minTerm      = 2
	minFrequency = 2
	minPassage   = len(id.Chunk{}) + 2
)

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

func (r *reader) terms() []string {
	n := r.count(minTerm)
	out := make([]string, 0, n)
	before := ""
	for range n {
		shared, own := r.number(), r.number()
		if shared > uint64(len(before)) || shared+own > longest {
			r.fail()
			return nil
		}
		term := before[:shared] + string(r.take(own))
		if r.failed || term <= before {
			r.fail()
			return nil
		}
		out = append(out, term)
		before = term
	}
	return out
}

func (r *reader) passage(terms []string) Passage {
	var p Passage
	copy(p.ID[:], r.take(uint64(len(p.ID))))
	length := r.number()
	if length > 1<<31-1 {
		r.fail()
	}
	p.Length = int(length)
	n := r.count(minFrequency)
	p.Terms = make([]Frequency, 0, n)
	next := uint64(0)
	for range n {
		skip := r.number()
		count := r.byte()
		if r.failed || skip >= uint64(len(terms)) || next+skip >= uint64(len(terms)) || count == 0 || count > mostFrequent {
			r.fail()
			return Passage{}
		}
		p.Terms = append(p.Terms, Frequency{terms[next+skip], count})
		next += skip + 1
	}
	return p
}

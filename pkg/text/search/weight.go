package search

import (
	"errors"
	"math"
	"math/bits"
)

// Weight is what a document or a pack takes of an index's memory at most, told
// before the index is there. Documents' weights add up to their pack's, in
// which a term counts once however many documents have it.
type Weight struct {
	Passages, Postings int64
	Vocabulary         Vocabulary
}

// What a passage, a posting and a term beside its letters take, in bytes. A
// posting's is its place in a block that may be half empty, and its share of
// what is needed to remove its document.
const (
	passageBytes  = 32
	postingBytes  = 8
	termBytes     = 27
	documentBytes = 512
)

// Bytes is what an index of so many documents takes at most, without tags.
func (w *Weight) Bytes(documents int64) int64 {
	return documents*documentBytes + w.Passages*passageBytes + w.Postings*postingBytes + w.Vocabulary.bytes()
}

// Add adds another's weight.
func (w *Weight) Add(o Weight) {
	w.Passages += o.Passages
	w.Postings += o.Postings
	w.Vocabulary = w.Vocabulary.With(o.Vocabulary)
}

// Vocabulary tells what the different terms of a text take without keeping
// them, off by a thirtieth or so: a HyperLogLog of 1,024 registers (Flajolet et
// al., 2007) that counts bytes. A term stands for as many things as it takes
// unitBytes. Vocabularies of several documents make that of all of them, in
// which what they share counts once.
//
// Who knows the hash can choose words that are counted too low. They get a pack
// that no process loads, since what an index really takes is bounded as well.
//
// An empty one is nil, and its bytes are what a database keeps.
type Vocabulary []byte

const (
	vocabularyBits = 10
	registers      = 1 << vocabularyBits
	unitBytes      = 16
)

// With is the vocabulary of both. One of another length was kept by another
// release and counts nothing.
func (v Vocabulary) With(o Vocabulary) Vocabulary {
	if len(o) != registers {
		return v
	}
	both := make(Vocabulary, registers)
	if len(v) == registers {
		copy(both, v)
	}
	for i, rank := range o {
		both[i] = max(both[i], rank)
	}
	return both
}

// enter counts a term; the vocabulary is one that With or newVocabulary made.
func (v Vocabulary) enter(term string) {
	hash := uint64(14695981039346656037) // FNV-1a
	for i := range len(term) {
		hash = (hash ^ uint64(term[i])) * 1099511628211
	}
	for range (termBytes + len(term) + unitBytes - 1) / unitBytes {
		hash += 0x9e3779b97f4a7c15
		h := mix(hash)
		register := h >> (64 - vocabularyBits)
		rank := byte(bits.LeadingZeros64(h<<vocabularyBits|1<<(vocabularyBits-1)) + 1)
		v[register] = max(v[register], rank)
	}
}

// mix spreads a hash over all its bits (SplitMix64).
func mix(h uint64) uint64 {
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	return h ^ h>>31
}

// bytes is what the terms take.
func (v Vocabulary) bytes() int64 {
	if len(v) != registers {
		return 0
	}
	sum, empty := 0.0, 0
	for _, rank := range v {
		sum += math.Ldexp(1, -int(rank))
		if rank == 0 {
			empty++
		}
	}
	n := 0.7213 / (1 + 1.079/registers) * registers * registers / sum
	if n <= 2.5*registers && empty > 0 { // counted by the empty ones when few
		n = registers * math.Log(registers/float64(empty))
	}
	return int64(n * unitBytes)
}

// ErrTooLarge says that a document would take more than MaxDocumentBytes.
var ErrTooLarge = errors.New("the document takes too much of an index")

const (
	// MaxDocumentBytes bounds what one document takes of an index, by its
	// weight, and twice what its forms take together.
	MaxDocumentBytes = 48 << 20
	// formText is about how much text one form holds, in bytes: a form is a row
	// of a database and is read whole.
	formText = 512 << 10
)

// Build analyses a document's passages in its language ("" when unknown) and
// answers the forms that an index adds, and their weight. The error is ErrTooLarge.
func Build(language string, passages []Text) (forms [][]byte, w Weight, err error) {
	w.Vocabulary = make(Vocabulary, registers)
	stored := 0
	for len(passages) > 0 {
		n, size := 0, 0
		for n < len(passages) && size < formText {
			size += len(passages[n].Heading) + len(passages[n].Text)
			n++
		}
		some := Analyze(language, passages[:n])
		passages = passages[n:]
		for _, p := range some.Passages {
			w.Postings += int64(len(p.Terms))
			for _, t := range p.Terms {
				w.Vocabulary.enter(t.Term)
			}
		}
		w.Passages += int64(n)
		forms = append(forms, some.Marshal())
		if stored += len(forms[len(forms)-1]); stored > MaxDocumentBytes/2 || w.Bytes(1) > MaxDocumentBytes {
			return nil, w, ErrTooLarge
		}
	}
	return forms, w, nil
}

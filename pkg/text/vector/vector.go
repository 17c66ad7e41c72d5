// Package vector finds the passages whose vectors are nearest to a question's. Vectors are
// of length 1, so that the nearest are those with the largest product; a byte is kept of
// each number, which moves a product by less than one in a hundred.
package vector

import (
	"bytes"
	"container/heap"
	"context"
	"encoding/binary"
	"errors"
	"math"
	"slices"

	"visavis.dev/pkg/base/id"
)

// version is the first byte of a form.
const version = 1

// headBytes is what comes before the first vector of a form: the version and how many numbers
// a vector has; entryBytes is what a vector has beside its numbers: the passage and its scale.
const (
	headBytes  = 3
	entryBytes = 20
)

// ErrForm says that a form cannot be read.
var ErrForm = errors.New("the form of vectors cannot be read")

// Bytes is what vectors of so many passages take, stored or in memory.
func Bytes(passages int64, dimensions int) int64 { return passages * int64(dimensions+entryBytes) }

// Marshal is the form in which the vectors of passages are stored, all of one size.
func Marshal(passages []id.Chunk, vectors [][]float32) []byte {
	dimensions := len(vectors[0])
	form := make([]byte, 0, headBytes+len(passages)*(dimensions+entryBytes))
	form = append(form, version)
	form = binary.BigEndian.AppendUint16(form, uint16(dimensions))
	for i, v := range vectors {
		most := float32(0)
		for _, n := range v {
			most = max(most, n, -n)
		}
		scale := most / math.MaxInt8
		form = append(form, passages[i][:]...)
		form = binary.BigEndian.AppendUint32(form, math.Float32bits(scale))
		for _, n := range v {
			form = append(form, byte(int8(math.Round(float64(n/scale)))))
		}
	}
	return form
}

// Space names what vectors are comparable with: those of one model of one service.
type Space string

// Set holds the vectors of documents. It is not safe for concurrent changes.
type Set struct {
	documents map[id.Document]*document
	bytes     int64
}

// document is one with its vectors.
type document struct {
	tags     []string
	language string
	parts    []part
}

// part is a form.
type part struct {
	space      Space
	dimensions int
	// entries are the vectors as they are stored.
	entries []byte
}

// NewSet makes a set without vectors.
func NewSet() *Set { return &Set{documents: map[id.Document]*document{}} }

// Bytes is what the set takes, about.
func (s *Set) Bytes() int64 { return s.bytes }

// Put makes a document one with these tags, in this language, without vectors.
func (s *Set) Put(d id.Document, tags []string, language string) {
	s.Remove(d)
	s.documents[d] = &document{tags: tags, language: language}
}

// Remove takes a document out.
func (s *Set) Remove(d id.Document) {
	if had := s.documents[d]; had != nil {
		for _, p := range had.parts {
			s.bytes -= int64(len(p.entries))
		}
		delete(s.documents, d)
	}
}

// Add adds vectors to a document that was put. The error is ErrForm.
func (s *Set) Add(d id.Document, space Space, form []byte) error {
	if len(form) < headBytes || form[0] != version {
		return ErrForm
	}
	p := part{space: space, dimensions: int(binary.BigEndian.Uint16(form[1:])), entries: form[headBytes:]}
	if p.dimensions == 0 || len(p.entries)%(p.dimensions+entryBytes) != 0 {
		return ErrForm
	}
	if had := s.documents[d]; had != nil {
		had.parts = append(had.parts, p)
		s.bytes += int64(len(p.entries))
	}
	return nil
}

// Question is what vectors are compared with.
type Question struct {
	Space  Space
	Vector []float32
	// Tags leaves documents with one of them, none all of them; Language, when set, those in it.
	Tags     []string
	Language string
	// Without leaves out documents; nil leaves out none.
	Without func(id.Document) bool
	// Limit is how many passages are found at most.
	Limit int
}

// Near is a passage that is near to a question.
type Near struct {
	Passage  id.Chunk
	Document id.Document
	// Score is 0 to 1: how much nearer it is than the passages of the set are commonly, of how
	// much nearer one could be.
	Score float64
}

// common is the share of passages that are no nearer than what is common: most passages have
// nothing to do with a question, whatever their model makes of that in numbers.
const common = 0.25

// Nearest finds the passages that are nearest to a question, the nearest first. Models differ
// in how near to each other they put texts that have nothing in common, so nearness is told
// from what is common among all passages of the set; of a set with a passage or two that
// tells nothing, and no score is above 0. It ends early, with none, where the context does.
func (s *Set) Nearest(ctx context.Context, q Question) []Near {
	limit := max(q.Limit, 0)
	near := &nearest{}
	var all []float32
	asked, scale := quantize(q.Vector)
	for which, d := range s.documents {
		if ctx.Err() != nil {
			return nil
		}
		wanted := d.matches(q) && (q.Without == nil || !q.Without(which))
		for _, p := range d.parts {
			if p.space != q.Space || p.dimensions != len(q.Vector) {
				continue
			}
			size := p.dimensions + entryBytes
			for e := range slices.Chunk(p.entries, size) {
				cosine := scale * math.Float32frombits(binary.BigEndian.Uint32(e[16:])) * float32(product(asked, e[entryBytes:]))
				all = append(all, cosine)
				if wanted {
					near.add(candidate{id.Chunk(e[:16]), which, cosine}, limit)
				}
			}
		}
	}
	if len(all) == 0 {
		return nil
	}
	slices.Sort(all)
	usual := float64(all[int(common*float64(len(all)-1))])
	found := make([]Near, len(near.all))
	for i := len(found) - 1; i >= 0; i-- {
		c := heap.Pop(near).(candidate)
		score := 0.0
		if usual < 1 {
			score = min(1, max(0, (float64(c.cosine)-usual)/(1-usual)))
		}
		found[i] = Near{c.passage, c.document, score}
	}
	return found
}

func (d *document) matches(q Question) bool {
	return (q.Language == "" || q.Language == d.language) &&
		(len(q.Tags) == 0 || slices.ContainsFunc(q.Tags, func(tag string) bool { return slices.Contains(d.tags, tag) }))
}

// quantize is a vector in whole numbers, and what one of them stands for.
func quantize(v []float32) (whole []int8, scale float32) {
	most := float32(0)
	for _, n := range v {
		most = max(most, n, -n)
	}
	whole, scale = make([]int8, len(v)), most/math.MaxInt8
	for i, n := range v {
		whole[i] = int8(math.Round(float64(n / scale)))
	}
	return whole, scale
}

// product is that of a question's numbers with stored ones.
func product(asked []int8, stored []byte) (sum int32) {
	stored = stored[:len(asked)]
	for i, n := range asked {
		sum += int32(n) * int32(int8(stored[i]))
	}
	return sum
}

// candidate is a passage that may be among the nearest.
type candidate struct {
	passage  id.Chunk
	document id.Document
	cosine   float32
}

// nearest are the nearest so far, the farthest of them on top.
type nearest struct{ all []candidate }

func (n *nearest) add(c candidate, limit int) {
	switch {
	case len(n.all) < limit:
		heap.Push(n, c)
	case limit > 0 && n.farther(n.all[0], c):
		n.all[0] = c
		heap.Fix(n, 0)
	}
}

// farther says whether one is farther than another; of those as near, the order is that of
// their ids, so that a question finds the same every time.
func (n *nearest) farther(one, other candidate) bool {
	if one.cosine != other.cosine {
		return one.cosine < other.cosine
	}
	return bytes.Compare(one.passage[:], other.passage[:]) > 0
}

func (n *nearest) Len() int           { return len(n.all) }
func (n *nearest) Less(i, j int) bool { return n.farther(n.all[i], n.all[j]) }
func (n *nearest) Swap(i, j int)      { n.all[i], n.all[j] = n.all[j], n.all[i] }

// Push implements heap.Interface.
func (n *nearest) Push(x any) { n.all = append(n.all, x.(candidate)) }

// Pop implements heap.Interface.
func (n *nearest) Pop() any {
	last := n.all[len(n.all)-1]
	n.all = n.all[:len(n.all)-1]
	return last
}

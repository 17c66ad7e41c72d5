package record

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"slices"
)

// Step leads from a hash of a Merkle tree to the one above it: the hash beside it, and whether
// that stands on the left.
type Step struct {
	Left bool `json:"left"`
	Hash Hash `json:"hash"`
}

// leaf is the hash of a record of so many entries, by the hash of the last.
func leaf(c Chain) Hash {
	var length [8]byte
	binary.BigEndian.PutUint64(length[:], uint64(c.Length))
	return digest("visavis candidate record leaf", []byte(c.Candidate.String()), length[:], c.Head)
}

func node(left, right Hash) Hash { return digest("visavis candidate record node", left, right) }

// tree is the root of the Merkle tree of hashes, and the path from each of them to it. A hash
// without a neighbor goes up as it is.
func tree(leaves []Hash) (root Hash, paths [][]Step) {
	paths = make([][]Step, len(leaves))
	// below are the leaves under each hash of a level.
	below := make([][]int, len(leaves))
	for i := range leaves {
		below[i] = []int{i}
	}
	for level := slices.Clone(leaves); ; {
		if len(level) == 1 {
			return level[0], paths
		}
		var above []Hash
		var under [][]int
		for i := 0; i < len(level); i += 2 {
			if i+1 == len(level) {
				above, under = append(above, level[i]), append(under, below[i])
				continue
			}
			for _, l := range below[i] {
				paths[l] = append(paths[l], Step{false, level[i+1]})
			}
			for _, l := range below[i+1] {
				paths[l] = append(paths[l], Step{true, level[i]})
			}
			above = append(above, node(level[i], level[i+1]))
			under = append(under, append(below[i], below[i+1]...))
		}
		level, below = above, under
	}
}

// climb is the root that a path leads to from a hash.
func climb(from Hash, path []Step) Hash {
	for _, s := range path {
		if s.Left {
			from = node(s.Hash, from)
		} else {
			from = node(from, s.Hash)
		}
	}
	return from
}

// pack writes a path as it is stored, and unpack reads it.
func pack(path []Step) []byte {
	packed := []byte{}
	for _, s := range path {
		side := byte(0)
		if s.Left {
			side = 1
		}
		packed = append(append(packed, side), s.Hash...)
	}
	return packed
}

func unpack(packed []byte) []Step {
	path := []Step{}
	for part := range slices.Chunk(packed, 1+sha256.Size) {
		path = append(path, Step{part[0] == 1, slices.Clone(part[1:])})
	}
	return path
}

// byCandidate orders records as an anchor holds them.
func byCandidate(a, b Chain) int { return bytes.Compare(a.Candidate[:], b.Candidate[:]) }

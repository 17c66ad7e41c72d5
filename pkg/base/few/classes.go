package few

import (
	"cmp"
	"encoding/binary"
	"errors"
	"maps"
	"slices"
)

// Record is a value that one person has. Another value of theirs is another record.
type Record struct{ Person, Value uint64 }

func order(a, b Record) int {
	return cmp.Or(cmp.Compare(a.Person, b.Person), cmp.Compare(a.Value, b.Value))
}

// Classes keep what all sums that were ever told have in common. Every sum is over a set of records. Two records are of
// one class where each of those sets has both or neither. Whatever somebody adds up, or subtracts, of told
// sums counts all records of a class the same. So where each class is of six people or more, every such
// combination is of six or more, or of nobody; and it stays so, however many sums there are.
//
// The zero value is that of nothing told. A copy is of the same classes.
type Classes struct {
	of map[Record]int32
	// people are those of each class, with how many records of it they have.
	people map[int32]map[uint64]int
	last   int32
}

// Tell enters sets that are to be told together, and says whether they may be. If not, nothing is entered.
// A set of nobody may not be told: that would say that there are none, where others hear that there are few. Where more has to be
// asked that may refuse, takeBack takes back what was entered, as long as nothing else was since.
//
// It looks at the records of the sets and no others, however many there are.
func (c *Classes) Tell(sets ...[]Record) (takeBack func(), may bool) { return c.tell(Least, sets) }

func (c *Classes) tell(least int, sets [][]Record) (takeBack func(), may bool) {
	if c.of == nil {
		c.of, c.people = map[Record]int32{}, map[int32]map[uint64]int{}
	}
	var moved []move
	takeBack = func() {
		for _, m := range slices.Backward(moved) {
			c.put(m.Record, m.from)
		}
	}
	may = true
	for _, set := range sets {
		moved = append(moved, c.split(set)...)
		may = may && len(set) > 0
	}
	for _, m := range moved {
		for _, class := range []int32{m.from, m.to} {
			if n := len(c.people[class]); n > 0 && n < least {
				may = false
			}
		}
	}
	if !may {
		takeBack()
	}
	return takeBack, may
}

// move is what became of a record's class; from is zero where it was of none.
type move struct {
	Record
	from, to int32
}

// split has the records of a set that are of one class become one of their own. Those that were in no set are of no class.
func (c *Classes) split(set []Record) (moved []move) {
	set = slices.Compact(slices.SortedFunc(slices.Values(set), order))
	apart := map[int32]int32{}
	for _, r := range set {
		was := c.of[r]
		if apart[was] == 0 {
			c.last++
			apart[was] = c.last
		}
		moved = append(moved, move{r, was, apart[was]})
	}
	for _, m := range moved {
		c.put(m.Record, m.to)
	}
	return moved
}

// put has a record be of a class, or of none.
func (c *Classes) put(r Record, class int32) {
	if was := c.of[r]; was != 0 {
		if c.people[was][r.Person]--; c.people[was][r.Person] == 0 {
			delete(c.people[was], r.Person)
		}
		if len(c.people[was]) == 0 {
			delete(c.people, was)
		}
	}
	if class == 0 {
		delete(c.of, r)
		return
	}
	c.of[r] = class
	if c.people[class] == nil {
		c.people[class] = map[uint64]int{}
	}
	c.people[class][r.Person]++
}

// Len is how many records there are in all sets.
func (c *Classes) Len() int { return len(c.of) }

// recordBytes is how long a record is, written.
const recordBytes = 16

// Bytes writes the classes, of each how many records it has and then those.
func (c *Classes) Bytes() []byte {
	by := map[int32][]Record{}
	for r, class := range c.of {
		by[class] = append(by[class], r)
	}
	all := slices.Collect(maps.Values(by))
	for _, of := range all {
		slices.SortFunc(of, order)
	}
	slices.SortFunc(all, func(a, b []Record) int { return order(a[0], b[0]) })
	b := make([]byte, 0, recordBytes*len(c.of)+binary.MaxVarintLen64*len(all))
	for _, of := range all {
		b = binary.AppendUvarint(b, uint64(len(of)))
		b = append(b, Written(of)...)
	}
	return b
}

// ErrBroken is of classes or records that cannot be read.
var ErrBroken = errors.New("few: records cannot be read")

// Read is what Bytes wrote. The error is ErrBroken.
func Read(b []byte) (Classes, error) {
	c := Classes{of: map[Record]int32{}, people: map[int32]map[uint64]int{}}
	for len(b) > 0 {
		n, size := binary.Uvarint(b)
		if size <= 0 || n == 0 || n > uint64(len(b)-size)/recordBytes {
			return c, ErrBroken
		}
		b = b[size:]
		of, err := Records(b[:n*recordBytes])
		if err != nil {
			return c, err
		}
		b = b[n*recordBytes:]
		c.last++
		for _, r := range of {
			c.put(r, c.last)
		}
	}
	return c, nil
}

// Written are records, one after the other.
func Written(all []Record) []byte {
	b := make([]byte, 0, recordBytes*len(all))
	for _, r := range all {
		b = binary.BigEndian.AppendUint64(b, r.Person)
		b = binary.BigEndian.AppendUint64(b, r.Value)
	}
	return b
}

// Records are those that Written wrote. The error is ErrBroken.
func Records(b []byte) ([]Record, error) {
	if len(b)%recordBytes != 0 {
		return nil, ErrBroken
	}
	all := make([]Record, 0, len(b)/recordBytes)
	for some := range slices.Chunk(b, recordBytes) {
		all = append(all, Record{binary.BigEndian.Uint64(some), binary.BigEndian.Uint64(some[8:])})
	}
	return all, nil
}

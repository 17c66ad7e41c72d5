package move

import "sync"

// messageBytes is how much one message to a database holds at most, unless it is one row:
// CockroachDB takes no more than 16 MiB, and what goes along has a length of its own.
const messageBytes = 8 << 20

// bytes is about how long a row is in a message.
func (r record) bytes() int {
	sum := 0
	for _, v := range r {
		sum += 4
		if v != nil {
			sum += len(*v)
		}
	}
	return sum
}

// keyBytes is about how long a key is in a message.
func keyBytes(key []string) int {
	sum := 0
	for _, part := range key {
		sum += 4 + len(part)
	}
	return sum
}

// portions parts things so that each part fits into a message, unless it is one.
func portions[T any](all []T, bytes func(T) int) (parts [][]T) {
	begin, sum := 0, 0
	for i, one := range all {
		size := bytes(one)
		if sum += size; sum > messageBytes && i > begin {
			parts = append(parts, all[begin:i])
			begin, sum = i, size
		}
	}
	if begin < len(all) {
		parts = append(parts, all[begin:])
	}
	return parts
}

// firstPage is how many rows of a table are read at first: what they are like is not known.
const firstPage = 64

// pages knows how many rows of each table a page can have, so that those which do not fit
// into one are not read for nothing each time.
type pages struct {
	mu sync.Mutex
	of map[string]int
}

// size is how many rows of a table are to be read.
func (p *pages) size(table string, most int) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n, known := p.of[table]; known {
		return min(n, most)
	}
	return min(firstPage, most)
}

// learn takes note of how many rows of those that were asked for came.
func (p *pages) learn(table string, asked, came int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.of == nil {
		p.of = map[string]int{}
	}
	if came < asked {
		asked = came
	}
	p.of[table] = max(2*asked, 1)
}

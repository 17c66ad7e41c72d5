package pdf

// The kinds of object. A number is a float64 whether or not it has a fraction;
// null is nil.
type (
	name    string
	text    string // a string object: bytes in an encoding its place decides
	keyword string
	array   []any
	dict    map[name]any
	ref     int // of an object's number; generations are of no use to readers
	stream  struct {
		dict dict
		raw  []byte
	}
)

// number is v as an integer; what is no number is 0.
func number(v any) int {
	f, _ := v.(float64)
	if f > 1<<31 || f < -1<<31 {
		return 0
	}
	return int(f)
}

// matrix is a transformation [a b c d e f] as in section 8.3.3.
type matrix [6]float64

var identity = matrix{1, 0, 0, 1, 0, 0}

// times applies m first and n after it.
func (m matrix) times(n matrix) matrix {
	return matrix{
		m[0]*n[0] + m[1]*n[2], m[0]*n[1] + m[1]*n[3],
		m[2]*n[0] + m[3]*n[2], m[2]*n[1] + m[3]*n[3],
		m[4]*n[0] + m[5]*n[2] + n[4], m[4]*n[1] + m[5]*n[3] + n[5],
	}
}

// matrixOf reads six numbers.
func matrixOf(values []any) (matrix, bool) {
	var m matrix
	if len(values) != len(m) {
		return identity, false
	}
	for i, v := range values {
		m[i], _ = v.(float64)
	}
	return m, true
}

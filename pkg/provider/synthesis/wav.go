package synthesis

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"visavis.dev/pkg/provider/upstream"
)

const (
	// maxHeader bounds what comes before the samples, in bytes.
	maxHeader = 64 << 10
	// blockBytes is how much sound is handed on at once at most.
	blockBytes = 16 << 10
	// believed is the largest size of samples that is taken at its word: a stream's header is
	// written before its length is known, and holds 0 or some very large number.
	believed = 256 << 20
	// lowest and highest are the rates that are taken, in samples a second.
	lowest, highest = 8000, 48000
)

// The formats of samples.
const (
	integers   = 1
	floats     = 3
	extensible = 0xFFFE
)

// form is what the samples of a file are.
type form struct {
	format, channels, bits uint16
	rate                   uint32
}

var errSound = errors.New("it is no sound of a kind that is known")

func malformed(format string, args ...any) error {
	return &upstream.Error{Code: upstream.Malformed, Err: fmt.Errorf("%w: "+format, append([]any{errSound}, args...)...)}
}

// readWAV gives the samples of a file while it comes.
func readWAV(r io.Reader, heard func(Piece) error) error {
	f, size, err := readHeader(r)
	if err != nil {
		return err
	}
	if size > 0 && size <= believed {
		return f.read(io.LimitReader(r, size), size, heard)
	}
	return f.read(r, 0, heard)
}

// readHeader reads up to the samples; size is how many bytes they are said to be.
func readHeader(r io.Reader) (f form, size int64, err error) {
	var head [12]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return f, 0, cut(err)
	}
	if string(head[:4]) != "RIFF" || string(head[8:]) != "WAVE" {
		return f, 0, malformed("it begins otherwise than a WAV file")
	}
	for room := int64(maxHeader); room > 0; {
		if _, err := io.ReadFull(r, head[:8]); err != nil {
			return f, 0, cut(err)
		}
		name, size := string(head[:4]), int64(binary.LittleEndian.Uint32(head[4:8]))
		if name == "data" {
			return f, size, f.check()
		}
		if room -= 8 + size; room < 0 {
			break
		}
		body := make([]byte, size+size%2)
		if _, err := io.ReadFull(r, body); err != nil {
			return f, 0, cut(err)
		}
		if name == "fmt " {
			if f, err = formOf(body); err != nil {
				return f, 0, err
			}
		}
	}
	return f, 0, malformed("its header does not end")
}

func formOf(b []byte) (form, error) {
	if len(b) < 16 {
		return form{}, malformed("its form is cut short")
	}
	le := binary.LittleEndian
	f := form{le.Uint16(b), le.Uint16(b[2:]), le.Uint16(b[14:]), le.Uint32(b[4:])}
	if f.format == extensible && len(b) >= 26 {
		f.format = le.Uint16(b[24:])
	}
	return f, nil
}

// check refuses what is not samples of 16 bits, or floats of 32, for one ear or two.
func (f form) check() error {
	if (f.format != integers || f.bits != 16) && (f.format != floats || f.bits != 32) || f.channels < 1 || f.channels > 2 ||
		f.rate < lowest || f.rate > highest {
		return malformed("format %d, %d bits, %d channels, %d Hz", f.format, f.bits, f.channels, f.rate)
	}
	return nil
}

// read gives the samples as they come. Where they are fewer than size, the answer broke off.
func (f form) read(r io.Reader, size int64, heard func(Piece) error) error {
	frame := int(f.bits/8) * int(f.channels)
	block := make([]byte, blockBytes)
	kept, got := 0, int64(0)
	for {
		n, err := r.Read(block[kept:])
		kept, got = kept+n, got+int64(n)
		if whole := kept - kept%frame; whole > 0 {
			if err := heard(Piece{Rate: int(f.rate), Samples: f.samples(block[:whole])}); err != nil {
				return err
			}
			kept = copy(block, block[whole:kept])
		}
		switch {
		case err == nil:
		case !errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
			return upstream.FromBody(err)
		case got < size:
			return &upstream.Error{Code: upstream.Truncated, Err: io.ErrUnexpectedEOF}
		default:
			return nil
		}
	}
}

// samples are those of whole frames, for one ear.
func (f form) samples(b []byte) []int16 {
	wide, channels := int(f.bits/8), int(f.channels)
	out := make([]int16, len(b)/(wide*channels))
	for i := range out {
		sum := 0
		for c := range channels {
			sum += f.sample(b[(i*channels+c)*wide:])
		}
		out[i] = int16(sum / channels)
	}
	return out
}

func (f form) sample(b []byte) int {
	if f.format == integers {
		return int(int16(binary.LittleEndian.Uint16(b)))
	}
	x := float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))
	if math.IsNaN(x) {
		return 0
	}
	return int(min(max(x, -1), 1) * math.MaxInt16)
}

// cut is the error of an answer that ends where it may not: what is too short to be sound is
// none.
func cut(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return malformed("it ends in its header")
	}
	return upstream.FromBody(err)
}

package synthesis

import (
	"bytes"
	"testing"
)

// Whatever comes, nothing breaks, and no more samples are given than bytes came.
func FuzzReadWAV(f *testing.F) {
	f.Add([]byte("RIFF\xff\xff\xff\xffWAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\xc0\x5d\x00\x00\x80\xbb\x00\x00\x02\x00\x10\x00data\x04\x00\x00\x00\x01\x00\x02\x00"))
	f.Add([]byte("RIFF\x00\x00\x00\x00WAVEfmt \x02\x00\x00\x00\x01\x00data\x00\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, file []byte) {
		n := 0
		err := readWAV(bytes.NewReader(file), func(p Piece) error {
			if p.Rate < lowest || p.Rate > highest {
				t.Fatalf("a rate of %d", p.Rate)
			}
			n += len(p.Samples)
			return nil
		})
		if 2*n > len(file) {
			t.Fatalf("%d samples of %d bytes (%v)", n, len(file), err)
		}
	})
}

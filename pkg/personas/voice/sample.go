package voice

import (
	"bytes"
	"slices"
)

// MaxSampleBytes bounds the recordings of a voice together.
const MaxSampleBytes = 25 << 20

// SampleType is the content type of a recording, by what is in it; false for
// what is none that voices are made of: WAV, MP3, M4A and WebM.
func SampleType(data []byte) (contentType string, ok bool) {
	switch {
	case len(data) < 12:
		return "", false
	case string(data[:4]) == "RIFF" && string(data[8:12]) == "WAVE":
		return "audio/wav", true
	case string(data[:3]) == "ID3", isMP3Frame(data):
		return "audio/mpeg", true
	case string(data[4:8]) == "ftyp" && slices.Contains([]string{"M4A ", "M4B ", "mp41", "mp42", "isom", "iso2", "dash"}, string(data[8:12])):
		return "audio/mp4", true
	case bytes.HasPrefix(data, []byte{0x1a, 0x45, 0xdf, 0xa3}) && bytes.Contains(data[:min(len(data), 64)], []byte("webm")):
		return "audio/webm", true
	}
	return "", false
}

// isMP3Frame says whether data begins with the header of an MPEG layer III
// frame whose bit rate and sample rate there are.
func isMP3Frame(data []byte) bool {
	return data[0] == 0xff && data[1]&0xe0 == 0xe0 && data[1]&0x18 != 0x08 && data[1]&0x06 == 0x02 &&
		data[2]&0xf0 != 0xf0 && data[2]&0xf0 != 0 && data[2]&0x0c != 0x0c
}

// endings are the file endings of the content types.
var endings = map[string]string{"audio/wav": ".wav", "audio/mpeg": ".mp3", "audio/mp4": ".m4a", "audio/webm": ".webm"}

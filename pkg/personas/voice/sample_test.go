package voice_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/personas/voice"
)

func TestSampleType(t *testing.T) {
	for content, want := range map[string]string{
		"RIFF\x00\x00\x00\x00WAVEfmt ":                      "audio/wav",
		"RIFF\x00\x00\x00\x00AVI LIST":                      "",
		"RIFF":                                              "",
		"ID3\x04\x00\x00\x00\x00\x00\x00\x00\x00":           "audio/mpeg",
		"\xff\xfb\x90\x00aaaaaaaaaa":                        "audio/mpeg",
		"\xff\xf3\x50\x00aaaaaaaaaa":                        "audio/mpeg",
		"\xff\xfb\xf0\x00aaaaaaaaaa":                        "", // no such bit rate
		"\xff\xfd\x90\x00aaaaaaaaaa":                        "", // layer II
		"\xff\xd8\xff\xe0\x00\x10JFIF\x00\x01":              "",
		"\x00\x00\x00\x20ftypM4A \x00\x00":                  "audio/mp4",
		"\x00\x00\x00\x20ftypavif\x00\x00":                  "",
		"\x1a\x45\xdf\xa3\x9f\x42\x86\x81\x01B\x82\x84webm": "audio/webm",
		"\x1a\x45\xdf\xa3\x9f\x42\x86\x81\x01matroska":      "",
		"":                     "",
		"<html>aaaaaaaaaaaaaa": "",
	} {
		got, ok := voice.SampleType([]byte(content))
		require.Equal(t, want, got, "%q", content)
		require.Equal(t, want != "", ok)
	}
}

func FuzzSampleType(f *testing.F) {
	f.Add([]byte("RIFF\x00\x00\x00\x00WAVE"))
	f.Add([]byte{0xff, 0xfb, 0x90, 0})
	f.Fuzz(func(t *testing.T, data []byte) {
		contentType, ok := voice.SampleType(data)
		require.Equal(t, contentType != "", ok)
	})
}

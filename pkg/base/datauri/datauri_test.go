package datauri_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/datauri"
)

func TestParse(t *testing.T) {
	for name, c := range map[string]struct {
		text, mediaType, data string
	}{
		"an image":               {"data:image/png;base64,aGVsbG8=", "image/png", "hello"},
		"no data":                {"data:image/png;base64,", "image/png", ""},
		"two characters padding": {"data:image/png;base64,aGVsbA==", "image/png", "hell"},
		"a capital scheme":       {"DATA:image/png;base64,aGVsbG8=", "image/png", "hello"},
		"a capital type":         {"data:IMAGE/PNG;base64,aGVsbG8=", "image/png", "hello"},
		"a parameter":            {"data:text/plain;charset=utf-8;base64,aGVsbG8=", "text/plain", "hello"},
	} {
		t.Run(name, func(t *testing.T) {
			require.True(t, datauri.Is(c.text))
			mediaType, data, err := datauri.Parse(c.text, 5)
			require.NoError(t, err)
			require.Equal(t, c.mediaType, mediaType)
			require.Equal(t, c.data, string(data))
		})
	}
}

func TestMalformed(t *testing.T) {
	for name, text := range map[string]string{
		"empty":                    "",
		"the scheme alone":         "data:",
		"another scheme":           "https://example.com/a.png",
		"space before":             " data:image/png;base64,aGVsbG8=",
		"no comma":                 "data:image/png;base64",
		"no base64":                "data:image/png,hello",
		"base64 too early":         "data:image/png;base64;charset=utf-8,aGVsbG8=",
		"no type":                  "data:;base64,aGVsbG8=",
		"a type that is none":      "data:image/;base64,aGVsbG8=",
		"a second comma":           "data:image/png;base64,aGVs,bG8=",
		"no padding":               "data:image/png;base64,aGVsbG8",
		"too much padding":         "data:image/png;base64,aGVsbG8==",
		"bits that are not data":   "data:image/png;base64,aGVsbG9=",
		"the alphabet of URLs":     "data:image/png;base64,_-_-",
		"percent signs":            "data:image/png;base64,aGVsbG8%3D",
		"not base64 after data":    "data:image/png;base64,aGVsbG8=#a",
		"a character out of place": "data:image/png;base64,aG=sbG8=",
	} {
		t.Run(name, func(t *testing.T) {
			_, data, err := datauri.Parse(text, 100)
			require.ErrorIs(t, err, datauri.ErrMalformed)
			require.Nil(t, data)
		})
	}
}

func TestIs(t *testing.T) {
	for text, want := range map[string]bool{
		"data:": true, "data:x": true, "Data:,": true, "data": false, "": false, "xdata:": false, "dаta:": false,
	} {
		require.Equal(t, want, datauri.Is(text), "%q", text)
	}
}

func encoded(size int) string {
	return "data:image/png;base64," + base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{1}, size))
}

func TestLimit(t *testing.T) {
	for limit := range 20 {
		for size := range 30 {
			_, data, err := datauri.Parse(encoded(size), limit)
			if size > limit {
				require.ErrorIs(t, err, datauri.ErrTooLarge, "%d of %d bytes", size, limit)
				require.Nil(t, data)
				continue
			}
			require.NoError(t, err, "%d of %d bytes", size, limit)
			require.Len(t, data, size)
		}
	}
}

func TestTooLargeIsDecidedBeforeDecoding(t *testing.T) {
	text := encoded(1 << 20)
	_, _, err := datauri.Parse(text[:len(text)-1]+"!", 1000)
	require.ErrorIs(t, err, datauri.ErrTooLarge, "what decoding would find is not looked at")
}

func FuzzParse(f *testing.F) {
	f.Add("data:image/png;base64,aGVsbG8=", 5)
	f.Add("data:;base64,", 0)
	f.Add("data:a/b;x=\"y\";base64,AAAA", 2)
	f.Fuzz(func(t *testing.T, text string, limit int) {
		limit %= 1 << 20
		mediaType, data, err := datauri.Parse(text, limit)
		if err != nil {
			require.True(t, errors.Is(err, datauri.ErrMalformed) || errors.Is(err, datauri.ErrTooLarge))
			return
		}
		require.True(t, datauri.Is(text))
		require.NotEmpty(t, mediaType)
		require.LessOrEqual(t, len(data), limit)
	})
}

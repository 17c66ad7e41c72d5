package cursor_test

import (
	"bytes"
	"encoding/base64"
	"math"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"visavis.dev/pkg/base/cursor"
	"visavis.dev/pkg/base/id"
)

type position struct {
	At time.Time  `json:"a"`
	ID id.Avatar  `json:"i"`
	N  int64      `json:"n"`
	Up *time.Time `json:"u,omitempty"`
}

var pattern = regexp.MustCompile(cursor.Pattern)

func newCodec() *cursor.Codec { return cursor.New(bytes.Repeat([]byte{7}, 32)) }

func seal(t require.TestingT, c *cursor.Codec, list string, p any) string {
	s, err := c.Seal(list, p)
	require.NoError(t, err)
	return s
}

func TestRoundTrip(t *testing.T) {
	c := newCodec()
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.String().Draw(t, "list")
		want := position{
			At: time.UnixMicro(rapid.Int64Range(0, 4e15).Draw(t, "at")).UTC(),
			ID: id.Avatar(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "id")),
			N:  rapid.Int64().Draw(t, "n"),
		}
		text := seal(t, c, list, want)
		require.Regexp(t, pattern, text)
		var got position
		require.NoError(t, c.Open(list, text, &got))
		require.Equal(t, want, got)
		require.ErrorIs(t, c.Open(list+"?", text, &got), cursor.ErrForeign)
	})
}

func TestForeign(t *testing.T) {
	c := newCodec()
	good := seal(t, c, "org_1 /avatars kind=custom", position{N: 1})
	for name, s := range map[string]struct {
		codec        *cursor.Codec
		list, cursor string
	}{
		"another list":           {c, "org_1 /voices kind=custom", good},
		"other filters":          {c, "org_1 /avatars kind=builtin", good},
		"another organization":   {c, "org_2 /avatars kind=custom", good},
		"no list":                {c, "", good},
		"another secret":         {cursor.New(cursor.NewSecret()), "org_1 /avatars kind=custom", good},
		"empty":                  {c, "org_1 /avatars kind=custom", ""},
		"too short for a tag":    {c, "org_1 /avatars kind=custom", good[:10]},
		"a tag alone":            {c, "org_1 /avatars kind=custom", good[:22]},
		"cut off":                {c, "org_1 /avatars kind=custom", good[:len(good)-2]},
		"longer":                 {c, "org_1 /avatars kind=custom", good + "AAAA"},
		"padded":                 {c, "org_1 /avatars kind=custom", good + "="},
		"not base64":             {c, "org_1 /avatars kind=custom", "!" + good[1:]},
		"a line break inside":    {c, "org_1 /avatars kind=custom", good[:8] + "\n" + good[8:]},
		"a list borrowed from":   {c, "org_1 /avatars kind=custom{", good},
		"the standard's own way": {c, "org_1 /avatars kind=custom", base64.StdEncoding.EncodeToString([]byte(good))},
	} {
		t.Run(name, func(t *testing.T) {
			got := position{N: -1}
			require.ErrorIs(t, s.codec.Open(s.list, s.cursor, &got), cursor.ErrForeign)
			require.Equal(t, position{N: -1}, got, "nothing is read out of it")
		})
	}
}

func TestEveryChangedCharacterIsNoticed(t *testing.T) {
	c := newCodec()
	good := seal(t, c, "list", position{N: math.MaxInt64})
	for i := range len(good) {
		for _, other := range "AZaz09-_" {
			if rune(good[i]) == other {
				continue
			}
			changed := good[:i] + string(other) + good[i+1:]
			var got position
			require.ErrorIs(t, c.Open("list", changed, &got), cursor.ErrForeign, "character %d as %c", i, other)
		}
	}
}

func TestAnotherTypeOfPosition(t *testing.T) {
	c := newCodec()
	var n int
	require.ErrorIs(t, c.Open("list", seal(t, c, "list", "text"), &n), cursor.ErrForeign)
}

func TestTooLongAPosition(t *testing.T) {
	c := newCodec()
	// 16 bytes of tag, 2 of quotes: 150 bytes are 200 characters.
	require.Len(t, seal(t, c, "list", strings.Repeat("x", 132)), 200)
	_, err := c.Seal("list", strings.Repeat("x", 133))
	require.Error(t, err)
	_, err = c.Seal("list", math.NaN())
	require.Error(t, err, "no JSON")
}

func TestSecretsDiffer(t *testing.T) {
	a, b := cursor.NewSecret(), cursor.NewSecret()
	require.Len(t, a, 32)
	require.NotEqual(t, a, b)
}

func FuzzOpen(f *testing.F) {
	c := newCodec()
	f.Add("list", seal(f, c, "list", position{N: 1}))
	f.Add("", "")
	f.Add("list", "AAAAAAAAAAAAAAAAAAAAAAAA")
	f.Fuzz(func(t *testing.T, list, text string) {
		var got position
		if err := c.Open(list, text, &got); err != nil {
			require.ErrorIs(t, err, cursor.ErrForeign)
			return
		}
		require.Equal(t, text, seal(t, c, list, got), "only what was sealed opens")
	})
}

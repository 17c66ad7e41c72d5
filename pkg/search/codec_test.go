package search

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"visavis.dev/pkg/id"
)

func TestMarshalRoundTrip(t *testing.T) {
	t.Parallel()

	rapid.Check(t, func(t *rapid.T) {
		var passages []Text
		for range rapid.IntRange(0, 4).Draw(t, "passages") {
			passages = append(passages, Text{ID: id.NewChunk(), Heading: rapid.String().Draw(t, "heading"), Text: rapid.String().Draw(t, "text")})
		}
		d := Analyze(rapid.SampledFrom([]string{"", "en", "de", "ja"}).Draw(t, "language"), passages)
		got, err := Unmarshal(d.Marshal())
		require.NoError(t, err)
		require.Equal(t, d, got)
	})
}

func TestUnmarshalRefuses(t *testing.T) {
	t.Parallel()

	whole := Analyze("en", []Text{{ID: id.NewChunk(), Text: "some words and some more"}}).Marshal()
	for n := range whole {
		_, err := Unmarshal(whole[:n])
		require.ErrorIs(t, err, ErrCorrupt, "cut at %d", n)
	}
	_, err := Unmarshal(append(whole, 0))
	require.ErrorIs(t, err, ErrCorrupt)
	whole[0]++
	_, err = Unmarshal(whole)
	require.ErrorIs(t, err, ErrVersion)
}

func TestHeadingsCountMore(t *testing.T) {
	t.Parallel()

	d := Analyze("en", []Text{{Heading: "Tickets", Text: "A ticket and a bus"}})
	require.Equal(t, []Frequency{{"a", 2}, {"and", 1}, {"bus", 1}, {"ticket", 1 + headingWeight}}, d.Passages[0].Terms)
	require.Equal(t, 3, d.Passages[0].Length)
}

func FuzzUnmarshal(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{version, 0xff, 0xff, 0xff, 0xff, 0x0f})
	f.Add(Analyze("en", []Text{{Heading: "Title", Text: "some words and some more"}, {Text: "words"}}).Marshal())
	f.Fuzz(func(t *testing.T, b []byte) {
		d, err := Unmarshal(b)
		if err != nil {
			return
		}
		again, err := Unmarshal(d.Marshal())
		require.NoError(t, err)
		require.Equal(t, d, again)
		x := New()
		x.Add(id.NewDocument(), nil, "en", d)
		x.Search(Query{Text: "words", Limit: 3})
	})
}

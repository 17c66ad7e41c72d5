package extract_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"visavis.dev/pkg/text/extract"
)

func chunksOf(text string) []string {
	var out []string
	for _, c := range extract.Chunks(extract.Document{Sections: []extract.Section{{Text: text}}}) {
		out = append(out, c.Text)
	}
	return out
}

func TestChunksEndAtSentences(t *testing.T) {
	sentence := "The garden behind the old museum is open every day of the year. "
	for _, c := range chunksOf(strings.TrimSpace(strings.Repeat(sentence, 60))) {
		words := len(strings.Fields(c))
		require.True(t, 120 <= words && words <= 200, "%d words", words)
		require.True(t, strings.HasSuffix(c, "year."))
		require.True(t, strings.HasPrefix(c, "The"))
	}
}

func TestChunksStayWithinPagesAndHeadings(t *testing.T) {
	d := extract.Document{Sections: []extract.Section{
		{Heading: "A", Text: "One.", Page: 1}, {Heading: "A", Text: "Two.", Page: 2}, {Heading: "B", Text: "Three.", Page: 2},
	}}
	require.Equal(t, []extract.Chunk{
		{Heading: "A", Text: "One.", Page: 1}, {Heading: "A", Text: "Two.", Page: 2}, {Heading: "B", Text: "Three.", Page: 2},
	}, extract.Chunks(d))
}

func TestChunksKeepRowsAndItemsWhole(t *testing.T) {
	var rows []string
	for i := range 100 {
		rows = append(rows, fmt.Sprintf("Name: Visitor %d; Note: Came late. Left early. Was happy.", i), fmt.Sprintf("- Item %d. It has two sentences.", i))
	}
	whole := map[string]bool{}
	for _, r := range rows {
		whole[r] = true
	}
	chunks := chunksOf(strings.Join(rows, "\n"))
	require.Greater(t, len(chunks), 5)
	for _, c := range chunks {
		for line := range strings.SplitSeq(c, "\n") {
			require.True(t, whole[line], line)
		}
	}
}

func TestChunksOfScriptsWithoutSpaces(t *testing.T) {
	for _, c := range chunksOf(strings.Repeat("博物館は毎日九時に開きます。", 200)) {
		require.LessOrEqual(t, utf8.RuneCountInString(c), 400)
		require.True(t, strings.HasSuffix(c, "。"))
	}
	for _, text := range []string{strings.Repeat("館", 5000), strings.Repeat("a", 50_000), strings.Repeat("ก", 5000), strings.Repeat("a\u0301", 9000)} {
		chunks := chunksOf(text)
		require.Equal(t, text, strings.Join(chunks, ""))
		for _, c := range chunks {
			require.LessOrEqual(t, utf8.RuneCountInString(c), 1600)
		}
	}
}

// Nothing is lost, nothing is said twice, and no passage is long.
func TestChunksInvariants(t *testing.T) {
	letters := []rune("aB。館 .!?:;-1\n\u0301é")
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOfN(rapid.RuneFrom(letters), 0, 4000, -1).Draw(t, "text")
		chunks := chunksOf(text)
		require.Equal(t, strings.Join(strings.Fields(text), ""), strings.Join(strings.Fields(strings.Join(chunks, "")), ""))
		for _, c := range chunks {
			require.LessOrEqual(t, utf8.RuneCountInString(c), 3200)
			require.NotEmpty(t, c)
		}
	})
}

// Marks piled up on one letter, of any number, are cut without looking at all of them for
// each piece.
func TestAMillionMarksOnALetter(t *testing.T) {
	t.Parallel()
	done := make(chan int, 1)
	go func() {
		text := "a" + strings.Repeat("\u0301", 8<<20)
		done <- len(extract.Chunks(extract.Document{Sections: []extract.Section{{Text: text}}}))
	}()
	select {
	case n := <-done:
		require.Positive(t, n)
	case <-time.After(time.Minute):
		t.Fatal("it looks at all of them for each piece")
	}
}

// Cutting a long text takes little more memory than its passages: it is done beside other
// work, for whoever sends one.
func TestChunksTakeLittleMoreThanTheText(t *testing.T) {
	text := strings.Repeat("A. ", 3<<20)
	d := extract.Document{Sections: []extract.Section{{Text: text}}}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	chunks := extract.Chunks(d)
	runtime.ReadMemStats(&after)
	require.Greater(t, len(chunks), 10_000)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, 8*uint64(len(text)))
}

package spool_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"visavis.dev/pkg/base/spool"
)

func TestBudget(t *testing.T) {
	b := spool.NewBudget(400)
	one, other, third := b.Reserve("one"), b.Reserve("one"), b.Reserve("two")
	require.NoError(t, one.Grow(60))
	require.ErrorIs(t, other.Grow(41), spool.ErrOverBudget, "a holder has a quarter")
	require.NoError(t, other.Grow(40))
	require.NoError(t, third.Grow(300), "what is larger than a share is let in alone")
	require.ErrorIs(t, b.Reserve("three").Grow(1), spool.ErrOverBudget)
	one.Release()
	one.Release()
	require.EqualValues(t, 340, b.Used())
	require.NoError(t, b.Reserve("three").Grow(60))
	other.Take(1)
	require.EqualValues(t, 401, b.Used(), "what is taken is counted too")
	third.Shrink(100)
	third.Shrink(200)
	require.EqualValues(t, 201, b.Used())
	require.EqualValues(t, 100, third.Bytes())
}

// Whatever is reserved and given back, the books are right, and the budget holds but
// for one that is alone.
func TestBudgetHolds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const total = 100
		b := spool.NewBudget(total)
		held := map[*spool.Reservation]bool{}
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			r := b.Reserve(rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "holder"))
			if err := r.Grow(rapid.Int64Range(1, 200).Draw(t, "bytes")); err == nil {
				held[r] = true
			}
			if rapid.Bool().Draw(t, "release") {
				for r := range held {
					r.Release()
					delete(held, r)
					break
				}
			}
			var sum int64
			for r := range held {
				sum += r.Bytes()
			}
			require.Equal(t, sum, b.Used())
			require.True(t, sum <= total || len(held) == 1, "%d bytes in %d", sum, len(held))
		}
	})
}

func read(t *testing.T, text string, inMemory int64) *spool.Body {
	t.Helper()
	b, err := spool.Folder(t.TempDir()).Read(strings.NewReader(text), inMemory)
	require.NoError(t, err)
	t.Cleanup(b.Close)
	return b
}

func TestLargeBodiesLieInFilesWithoutNames(t *testing.T) {
	folder := t.TempDir()
	for size, spooled := range map[int]bool{0: false, 9: false, 10: false, 11: true, 1 << 20: true} {
		text := strings.Repeat("x", size)
		b, err := spool.Folder(folder).Read(iotest.HalfReader(strings.NewReader(text)), 10)
		require.NoError(t, err)
		require.Equal(t, spooled, b.Spooled(), "%d", size)
		require.EqualValues(t, size, b.Size())
		all, err := b.Bytes()
		require.NoError(t, err)
		require.Equal(t, text, string(all))
		left, err := os.ReadDir(folder)
		require.NoError(t, err)
		require.Empty(t, left, "nothing is left to clear away")
		b.Close()
	}
}

func TestErrorsOfTheSenderAreToldAsTheyAre(t *testing.T) {
	broken := errors.New("broken")
	for _, size := range []int{1, 100} {
		b, err := spool.Folder(t.TempDir()).Read(io.MultiReader(strings.NewReader(strings.Repeat("x", size)), iotest.ErrReader(broken)), 10)
		require.ErrorIs(t, err, broken)
		b.Close()
	}
}

func TestDetach(t *testing.T) {
	long, other := strings.Repeat("a/b\\", 10_000), strings.Repeat("z", 20_000)
	text, err := json.Marshal(map[string]any{
		"picture": long, "name": "a \"quoted\" name", "samples": []any{other, "short", long},
		"consent": map[string]any{"evidence": other, "picture": "not here"}, "other": map[string]any{"picture": strings.Repeat("y", 20_000)},
	})
	require.NoError(t, err)
	for _, inMemory := range []int64{10, 1 << 20} {
		b := read(t, string(text), inMemory)
		rest, detached, err := b.Detach([]string{"picture", "samples[]", "consent.evidence"}, 1<<20)
		require.NoError(t, err)
		require.Len(t, detached, 4)
		var got, want map[string]any
		require.NoError(t, json.Unmarshal(rest, &got))
		require.NoError(t, json.Unmarshal(text, &want))
		attach := func(v any) any {
			if found, ok := detached[v.(string)]; ok {
				whole, err := found.String()
				require.NoError(t, err)
				streamed, err := io.ReadAll(iotest.OneByteReader(found.Open()))
				require.NoError(t, err)
				require.Equal(t, whole, string(streamed))
				return whole
			}
			return v
		}
		got["picture"] = attach(got["picture"])
		for i, s := range got["samples"].([]any) {
			got["samples"].([]any)[i] = attach(s)
		}
		consent := got["consent"].(map[string]any)
		consent["evidence"] = attach(consent["evidence"])
		require.Equal(t, want, got)

		again, _, err := read(t, string(text), inMemory).Detach([]string{"picture", "samples[]", "consent.evidence"}, 1<<20)
		require.NoError(t, err)
		require.Equal(t, string(rest), string(again), "the same request is told by the same bytes")
	}
}

func TestWhatIsLeftIsBounded(t *testing.T) {
	for name, text := range map[string]string{
		"a long text elsewhere": `{"name": "` + strings.Repeat("x", 2000) + `"}`,
		"a long name":           `{"` + strings.Repeat("x", 2000) + `": 1}`,
		"many numbers":          `[` + strings.Repeat("1,", 1000) + `1]`,
	} {
		_, _, err := read(t, text, 10).Detach([]string{"picture"}, 1000)
		require.ErrorIs(t, err, spool.ErrTextTooLong, name)
	}
	_, _, err := read(t, strings.Repeat("[", 20_000), 10).Detach(nil, 1<<20)
	require.ErrorIs(t, err, spool.ErrTooDeep)
}

// What is no JSON stays what it is, for whoever reads it to refuse.
func TestWhatIsNoJSON(t *testing.T) {
	for _, text := range []string{``, `"`, `{"picture": "` + strings.Repeat("x", 10), `}}]]`, `{"picture":`, `,:,:`, `"\`} {
		rest, detached, err := read(t, text, 1<<20).Detach([]string{"picture"}, 1<<20)
		require.NoError(t, err)
		require.Empty(t, detached)
		require.Equal(t, text, string(rest))
	}
}

// A text that is read as a stream is what encoding/json reads, or refused.
func FuzzOpen(f *testing.F) {
	f.Add(`a\/b\n\u0041`)
	f.Add(`\u00e4`)
	f.Fuzz(func(t *testing.T, raw string) {
		body := `{"p": "` + raw + strings.Repeat("x", 20_000) + `"}`
		var want struct{ P string }
		if json.Unmarshal([]byte(body), &want) != nil {
			return
		}
		_, detached, err := read(t, body, 10).Detach([]string{"p"}, 1<<20)
		require.NoError(t, err)
		for _, text := range detached {
			got, err := io.ReadAll(text.Open())
			if err != nil {
				require.ErrorIs(t, err, spool.ErrEscape)
			} else if json.Valid([]byte(`"`+raw+`"`)) && isASCII(raw) {
				require.Equal(t, want.P, string(got))
			}
		}
	})
}

func isASCII(s string) bool { return !strings.ContainsFunc(s, func(r rune) bool { return r > 0x7e }) }

func BenchmarkDetach(b *testing.B) {
	data := make([]byte, 32<<20)
	for i := range data {
		data[i] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdef"[rand.IntN(32)]
	}
	text := append(append([]byte(`{"picture":"`), data...), `"}`...)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		body, err := spool.Folder(b.TempDir()).Read(bytes.NewReader(text), 1<<20)
		require.NoError(b, err)
		_, detached, err := body.Detach([]string{"picture"}, 1<<20)
		require.NoError(b, err)
		require.Len(b, detached, 1)
		body.Close()
	}
}

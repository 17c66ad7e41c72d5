package few_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"visavis.dev/pkg/base/few"
	"visavis.dev/pkg/base/few/fewtest"
)

// asked draws sets of records, as groups of people give them whose values change, who come and who go.
func asked(t *rapid.T) (sets [][]few.Record) {
	value := map[uint64]uint64{}
	in := map[uint64]bool{}
	for i := range uint64(rapid.IntRange(6, 40).Draw(t, "people")) {
		in[i] = true
	}
	for range rapid.IntRange(1, 12).Draw(t, "steps") {
		some := func(label string, most int) (who []uint64) {
			from := rapid.Uint64Range(0, 40).Draw(t, label)
			for i := range uint64(rapid.IntRange(0, most).Draw(t, "of "+label)) {
				who = append(who, (from+i)%41)
			}
			return who
		}
		for _, who := range some("changed", 9) {
			value[who]++
		}
		for _, who := range some("left", 9) {
			delete(in, who)
		}
		for _, who := range some("came", 9) {
			in[who] = true
		}
		group := rapid.SampledFrom([]uint64{1, 1, 2, 3}).Draw(t, "group")
		var set []few.Record
		for who := range uint64(41) {
			if in[who] && who%group == 0 {
				set = append(set, few.Record{who, value[who]})
			}
		}
		sets = append(sets, set)
	}
	return sets
}

// No combination of what is told is of fewer than six people, whatever is asked.
func TestNothingThatIsToldIsOfFew(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var (
			c    few.Classes
			told [][]few.Record
		)
		for rest := asked(t); len(rest) > 0; {
			n := min(rapid.IntRange(1, 3).Draw(t, "together"), len(rest))
			sets := rest[:n]
			rest = rest[n:]
			before := c.Bytes()
			takeBack, may := c.Tell(sets...)
			if !may || rapid.IntRange(0, 3).Draw(t, "taken back") == 0 {
				if may {
					takeBack()
				}
				require.Equal(t, before, c.Bytes(), "what is not told is not entered")
				continue
			}
			told = append(told, sets...)
			read, err := few.Read(c.Bytes())
			require.NoError(t, err)
			require.Equal(t, c.Bytes(), read.Bytes())
			c = read
			if n := fewtest.Fewest(told, few.Least); n < few.Least {
				t.Fatalf("something is of %d: %v", n, told)
			}
		}
	})
}

// With a weaker rule the judge finds what is of few, or it would find nothing of the right one either.
func TestTheJudgeOfWeakerRules(t *testing.T) {
	for name, may := range map[string]func(c *few.Classes, told [][]few.Record, set []few.Record) bool{
		"of five": func(c *few.Classes, _ [][]few.Record, set []few.Record) bool {
			return c.TellFrom(few.Least-1, [][]few.Record{set})
		},
		"each set by itself": func(_ *few.Classes, _ [][]few.Record, set []few.Record) bool { return len(set) >= few.Least },
		"beside each other": func(_ *few.Classes, told [][]few.Record, set []few.Record) bool {
			return len(set) >= few.Least && !slices.ContainsFunc(told, func(other []few.Record) bool {
				apart := 0
				for _, r := range slices.Concat(set, other) {
					if slices.Contains(set, r) != slices.Contains(other, r) {
						apart++
					}
				}
				return apart > 0 && apart < few.Least
			})
		},
		"records for people": func(c *few.Classes, _ [][]few.Record, set []few.Record) bool {
			var each []few.Record
			for i, r := range set {
				each = append(each, few.Record{r.Person<<8 | r.Value<<1, uint64(i)}, few.Record{r.Person<<8 | r.Value<<1 | 1, uint64(i)})
			}
			return tell(c, each)
		},
	} {
		t.Run(name, func(t *testing.T) {
			found := false
			for seed := range 300 {
				var (
					c    few.Classes
					told [][]few.Record
				)
				for _, set := range rapid.Custom(asked).Example(seed) {
					if may(&c, told, set) {
						told = append(told, set)
					}
				}
				if found = fewtest.Fewest(told, few.Least) < few.Least; found {
					break
				}
			}
			require.True(t, found)
		})
	}
}

// tell says whether sets may be told.
func tell(c *few.Classes, sets ...[]few.Record) bool {
	_, may := c.Tell(sets...)
	return may
}

func TestWhatIsAlwaysToldAndWhatNever(t *testing.T) {
	of := func(from, to uint64) (set []few.Record) {
		for i := from; i < to; i++ {
			set = append(set, few.Record{i, 0})
		}
		return set
	}
	var c few.Classes
	require.False(t, tell(&c, nil), "nobody")
	require.False(t, tell(&c, of(0, 5)))
	require.True(t, tell(&c, of(0, 20)))
	require.True(t, tell(&c, of(0, 20)), "again")
	require.False(t, tell(&c, of(0, 15)), "five are left")
	require.False(t, tell(&c, of(0, 25)), "five came")
	require.True(t, tell(&c, of(6, 26)))
	require.False(t, tell(&c, of(0, 10), of(10, 20)), "the two do not fit what was told")
	require.True(t, tell(&c, of(6, 12), of(12, 20)))
	require.Equal(t, 26, c.Len())
	require.False(t, tell(&c, append(of(0, 6), few.Record{1, 1})[1:]), "five and one of them again")
	_, err := few.Read([]byte{3, 1})
	require.ErrorIs(t, err, few.ErrBroken)
}

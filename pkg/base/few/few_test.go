package few_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"visavis.dev/pkg/base/few"
)

var blocks = rapid.SliceOfN(rapid.Int64Range(0, 14), 1, 8)

func sum(all []int64) (n int64) {
	for _, one := range all {
		n += one
	}
	return n
}

// No sum and no difference of totals that are told is of one to five people.
func TestTotalsTellOfEnough(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		of := blocks.Draw(t, "blocks")
		wanted := rapid.Permutation(indexes(len(of))).Draw(t, "wanted")
		told := few.Totals(of, wanted)
		for i, a := range told {
			require.True(t, few.May(sum(of[a:])), "%v %v", of, told)
			for _, b := range told[i:] {
				require.True(t, few.May(sum(of[a:b])), "%v %v", of, told)
			}
		}
		if few.May(sum(of[wanted[0]:])) {
			require.Contains(t, told, wanted[0], "what is wanted most comes first")
		}
	})
}

func indexes(n int) (all []int) {
	for i := range n {
		all = append(all, i)
	}
	return all
}

// Whoever knows the sum of all groups cannot work out those that are not told, where they are few.
func TestGroupsTellOfEnough(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		of := blocks.Draw(t, "sizes")
		told := few.Groups(of)
		var rest int64
		for i, n := range of {
			if told[i] {
				require.True(t, few.May(n))
			} else {
				rest += n
			}
		}
		if few.May(sum(of)) { // which is told at all
			require.True(t, few.May(rest), "%v %v", of, told)
		}
	})
}

func TestMergedBlocksAreOfEnough(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		of := blocks.Draw(t, "blocks")
		begins := few.Merge(of)
		if sum(of) < few.Least {
			require.Empty(t, begins)
			return
		}
		require.Zero(t, sum(of[:begins[0]]))
		for i, from := range begins {
			to := len(of)
			if i+1 < len(begins) {
				to = begins[i+1]
			}
			require.GreaterOrEqual(t, sum(of[from:to]), int64(few.Least), "%v %v", of, begins)
		}
	})
}

func TestApart(t *testing.T) {
	require.True(t, few.Apart(12))
	require.False(t, few.Apart(5))
	require.True(t, few.Apart(12, new(int64(12)), new(int64(6)), nil))
	require.False(t, few.Apart(12, new(int64(15))))
	require.False(t, few.Apart(12, new(int64(7))))
}

func TestFiveAreFew(t *testing.T) {
	require.Equal(t, []bool{true, false, true, true, false, false}, []bool{few.May(0), few.May(1), few.May(6), few.May(7), few.May(5), few.May(2)})
	require.Equal(t, []bool{true, false, false}, few.Groups([]int64{20, 7, 3}), "a second is left out beside the one that is small")
	require.Equal(t, []int{0, 2}, few.Totals([]int64{2, 8, 10}, []int{2, 0, 1}), "what differs from another by few is left out")
}

package sheet_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/figures/sheet"
)

func TestNoCellIsAFormula(t *testing.T) {
	t.Parallel()
	for cell, want := range map[string]string{
		"": "", "Kim": "Kim", "-1.5": "-1.5", "+4": "+4", "=1+1": "'=1+1", "+49 30": "'+49 30", "-1+1": "'-1+1", "@SUM(A1)": "'@SUM(A1)",
		"\t=1": "'\t=1", " =1": "' =1", "＝1+1": "'＝1+1", "|calc": "'|calc", "%0A": "'%0A", "a=1": "a=1",
	} {
		require.Equal(t, want, sheet.Cell(cell), "%q", cell)
	}
	require.Equal(t, []string{"'=1", "2"}, sheet.Safe([]string{"=1", "2"}))
}

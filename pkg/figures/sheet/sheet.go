// Package sheet makes the cells of tables that people open in spreadsheets.
package sheet

import (
	"strconv"
	"strings"
)

// formulas are what a cell begins with that a spreadsheet computes; some look past spaces.
const formulas = "=+-@\t\r\n|%＝＋－＠"

// Safe makes a line's cells such that no spreadsheet computes one: what would be a formula gets
// an apostrophe before it. Numbers stay.
func Safe(line []string) []string {
	safe := make([]string, len(line))
	for i, cell := range line {
		safe[i] = Cell(cell)
	}
	return safe
}

// Cell is one of them.
func Cell(cell string) string {
	trimmed := strings.TrimLeft(cell, " \u00a0\ufeff")
	if trimmed == "" || !strings.ContainsRune(formulas, []rune(trimmed)[0]) {
		return cell
	}
	if _, err := strconv.ParseFloat(cell, 64); err == nil {
		return cell
	}
	return "'" + cell
}

package problem

import "strings"

// Or writes choices as a sentence does: "a, b or c".
func Or[S ~string](items []S) string { return enumerate(items, "or") }

// And writes a list as a sentence does: "a, b and c".
func And[S ~string](items []S) string { return enumerate(items, "and") }

func enumerate[S ~string](items []S, last string) string {
	texts := make([]string, len(items))
	for i, item := range items {
		texts[i] = string(item)
	}
	if len(texts) < 2 {
		return strings.Join(texts, "")
	}
	return strings.Join(texts[:len(texts)-1], ", ") + " " + last + " " + texts[len(texts)-1]
}

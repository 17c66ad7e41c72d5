package route

import (
	"regexp"
	"unicode/utf8"

	"visavis.dev/pkg/base/problem"
)

const (
	maxVariables = 50
	maxVariable  = 1000
)

var variableName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]{0,39}$`)

// CheckVariables refuses variables of a body that stand for {{name}} in a persona's
// texts: at most 50 of at most 1,000 characters, with plain names.
func CheckVariables(m map[string]string) error {
	if len(m) > maxVariables {
		return problem.Invalid("body.variables", "variables holds at most %d.", maxVariables)
	}
	for name, value := range m {
		if !variableName.MatchString(name) || utf8.RuneCountInString(value) > maxVariable {
			return problem.Invalid("body.variables", "A variable's name is a letter and at most 39 letters, digits and underscores; its value has at most %d characters.", maxVariable)
		}
	}
	return nil
}

package template

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// placeholder is where a text has the answer to a question: {{hours}}, or
// {{organization|our museum}} with what is said as long as there is no answer.
var placeholder = regexp.MustCompile(`\{\{([a-z][a-z0-9_]{0,39})(\|[^{}]*)?\}\}`)

// Filled is the template with the answers to its questions, by their keys, in its
// texts. A line that cannot be said without an answer is left out, so that a
// portal is right before anybody has answered anything.
func (t *Template) Filled(answers map[string]string) Template {
	var tree any
	reread(t, &tree)
	var filled Template
	reread(replaced(tree, answers), &filled)
	// It has no texts, and nothing is not the same as null.
	filled.Persona.Definition = t.Persona.Definition
	return filled
}

// reread reads what was written of a value.
func reread(from, into any) {
	b, err := json.Marshal(from)
	if err == nil {
		err = json.Unmarshal(b, into)
	}
	if err != nil {
		panic(err) // it came from such a text
	}
}

// replaced is a tree of JSON with the answers in its strings.
func replaced(node any, answers map[string]string) any {
	switch node := node.(type) {
	case string:
		return answered(node, answers)
	case []any:
		for i := range node {
			node[i] = replaced(node[i], answers)
		}
	case map[string]any:
		for key := range node {
			node[key] = replaced(node[key], answers)
		}
	}
	return node
}

// answered is a text with the answers in it.
func answered(text string, answers map[string]string) string {
	if !placeholder.MatchString(text) {
		return text
	}
	var out strings.Builder
	for line := range strings.Lines(text) {
		sayable := true
		line = placeholder.ReplaceAllStringFunc(line, func(found string) string {
			parts := placeholder.FindStringSubmatch(found)
			// An answer is part of a sentence, whatever was typed.
			if answer := strings.Join(strings.Fields(answers[parts[1]]), " "); answer != "" {
				return answer
			}
			sayable = sayable && parts[2] != ""
			return strings.TrimPrefix(parts[2], "|")
		})
		if sayable {
			out.WriteString(line)
		}
	}
	return out.String()
}

// checkPlaceholders refuses a text that waits for an answer nobody is asked for.
func (t *Template) checkPlaceholders() error {
	for _, key := range t.placeholders() {
		if !slices.ContainsFunc(t.Questions, func(q Question) bool { return q.Key == key }) {
			return fmt.Errorf("{{%s}} is the key of no question", key)
		}
	}
	return nil
}

// placeholders are the keys that the texts name.
func (t *Template) placeholders() []string {
	b, err := json.Marshal(t)
	if err != nil {
		panic(err) // it came from such a text
	}
	var keys []string
	for _, found := range placeholder.FindAllSubmatch(b, -1) {
		keys = append(keys, string(found[1]))
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

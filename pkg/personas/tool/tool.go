// Package tool is what a model may ask to be done in a conversation, by somebody else than
// the product: the client of a session, or a system of the customer's.
package tool

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"visavis.dev/pkg/base/errdefs"
)

// Tool is one tool, as its owner describes it.
type Tool struct {
	// Name is by what the model asks for it.
	Name string `json:"name"`
	// Title is what visitors are told that it does, where they are asked; Name unless given.
	Title string `json:"title"`
	// Description tells the model what it does, and when it is to be used.
	Description string `json:"description"`
	// Parameters is the JSON Schema of its arguments; an object without properties unless
	// given.
	Parameters json.RawMessage `json:"parameters"`
	// Confirm says who is asked before it is used.
	Confirm Confirm `json:"confirm"`
	// TimeoutMs is how long it may take.
	TimeoutMs int64 `json:"timeoutMs"`
}

// Confirm says who is asked before a tool is used.
type Confirm string

// Who is asked: nobody, or the visitor.
const (
	Never   Confirm = "never"
	Visitor Confirm = "visitor"
)

// The bounds of a tool's description, in characters, and of its time.
const (
	maxTitle       = 200
	maxDescription = 1000
	minTimeoutMs   = 100
	maxTimeoutMs   = 30_000
	usualTimeoutMs = 10_000
)

// name is what models take as a name.
var name = regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9_-]{0,63}$`)

// Read reads a description, and fills in what is not given. The error is an
// errdefs.Invalid.
func Read(config map[string]any) (Tool, error) {
	text, err := json.Marshal(config)
	if err != nil {
		return Tool{}, err
	}
	t := Tool{Confirm: Never, TimeoutMs: usualTimeoutMs}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&t); err != nil {
		if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			return Tool{}, errdefs.InvalidField(wrong.Field, "is a %s and should be a %s", wrong.Value, wrong.Type)
		}
		if field, found := strings.CutPrefix(err.Error(), "json: unknown field "); found {
			return Tool{}, errdefs.InvalidField(strings.Trim(field, `"`), "is not known; name, title, description, parameters, confirm and timeoutMs are")
		}
		return Tool{}, errdefs.InvalidField("", "is not the description of a tool")
	}
	return t, t.normalize()
}

func (t *Tool) normalize() error {
	t.Title, t.Description = strings.TrimSpace(t.Title), strings.TrimSpace(t.Description)
	switch {
	case !name.MatchString(t.Name):
		return errdefs.InvalidField("name", "must have 1 to 64 letters, digits, _ or -, and begin with a letter")
	case t.Description == "":
		return errdefs.InvalidField("description", "is needed: it tells the model what the tool does and when to use it")
	case len([]rune(t.Description)) > maxDescription:
		return errdefs.InvalidField("description", "must have at most %d characters", maxDescription)
	case len([]rune(t.Title)) > maxTitle:
		return errdefs.InvalidField("title", "must have at most %d characters", maxTitle)
	case t.Confirm != Never && t.Confirm != Visitor:
		return errdefs.InvalidField("confirm", "must be never or visitor")
	case t.TimeoutMs < minTimeoutMs || t.TimeoutMs > maxTimeoutMs:
		return errdefs.InvalidField("timeoutMs", "must be from %d to %d", minTimeoutMs, maxTimeoutMs)
	}
	if t.Title == "" {
		t.Title = strings.NewReplacer("_", " ", "-", " ").Replace(t.Name)
	}
	if len(t.Parameters) == 0 || string(t.Parameters) == "null" {
		t.Parameters = json.RawMessage(`{"type":"object","properties":{}}`)
	}
	if _, err := Compile(t.Parameters); err != nil {
		return errdefs.InvalidField("parameters", "%s", err.Error())
	}
	return nil
}

// Within is how long a use may take.
func (t *Tool) Within() time.Duration { return time.Duration(t.TimeoutMs) * time.Millisecond }

// Schema checks arguments.
type Schema struct{ compiled *jsonschema.Schema }

// Compile reads the JSON Schema of arguments, which is an object's. The error is a clause
// about it.
func Compile(parameters json.RawMessage) (*Schema, error) {
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(parameters))
	if err != nil {
		return nil, errors.New("is not JSON")
	}
	object, ok := value.(map[string]any)
	if !ok || object["type"] != "object" {
		return nil, errors.New(`must be a JSON Schema whose type is "object"`)
	}
	if err := checkSchema(object, maxDepth); err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(jsonschema.SchemeURLLoader{}) // nothing is loaded
	c.AssertFormat()
	const location = "parameters.json"
	if err := c.AddResource(location, object); err != nil {
		return nil, errors.New("is not a JSON Schema")
	}
	compiled, err := c.Compile(location)
	if err != nil {
		return nil, errors.New("is not a JSON Schema")
	}
	return &Schema{compiled}, nil
}

const (
	// maxDepth bounds how deep schemas, and arguments, are nested.
	maxDepth = 12
	// maxNumber bounds a number in arguments, in characters.
	maxNumber = 30
)

// refused are keywords that a schema may not have: those that refer to other schemas, since
// none may be fetched and a few that refer to each other take for ever to check, and regular
// expressions, which take more memory than their length tells.
var refused = []string{"$ref", "$dynamicRef", "$recursiveRef", "$schema", "$id", "$anchor", "$vocabulary", "pattern", "patternProperties"}

// checkSchema refuses a schema that is costly to check arguments by. Properties may have any
// name.
func checkSchema(value any, depth int) error {
	if depth == 0 {
		return errors.New("is nested too deeply")
	}
	switch v := value.(type) {
	case map[string]any:
		for key, inner := range v {
			if err := checkKeyword(key, inner, depth); err != nil {
				return err
			}
		}
	case []any:
		for _, inner := range v {
			if err := checkSchema(inner, depth-1); err != nil {
				return err
			}
		}
	}
	return nil
}

func checkKeyword(key string, value any, depth int) error {
	switch key {
	case "enum", "const", "default", "examples":
		return nil
	case "format":
		if value == "regex" {
			return errors.New("must not have the format regex")
		}
	case "properties", "$defs", "definitions", "dependentSchemas":
		named, _ := value.(map[string]any)
		for _, schema := range named {
			if err := checkSchema(schema, depth-1); err != nil {
				return err
			}
		}
		return nil
	}
	if slices.Contains(refused, key) {
		return fmt.Errorf("must not have the keyword %s", key)
	}
	return checkSchema(value, depth-1)
}

// checkNumbers refuses numbers that take long to calculate with, and deep nesting.
func checkNumbers(value any, depth int) error {
	if depth == 0 {
		return errors.New("the arguments are nested too deeply")
	}
	switch v := value.(type) {
	case json.Number:
		exponent := strings.IndexAny(string(v), "eE")
		if len(v) > maxNumber || exponent >= 0 && len(v)-exponent > len("e+99") {
			return errors.New("a number is too large, or too exact")
		}
	case map[string]any:
		for _, inner := range v {
			if err := checkNumbers(inner, depth-1); err != nil {
				return err
			}
		}
	case []any:
		for _, inner := range v {
			if err := checkNumbers(inner, depth-1); err != nil {
				return err
			}
		}
	}
	return nil
}

// Arguments reads the arguments that a model wrote; none are an empty object. The error tells
// the model what is wrong with them.
func (s *Schema) Arguments(written string) (map[string]any, error) {
	if strings.TrimSpace(written) == "" {
		written = "{}"
	}
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(written))
	if err != nil {
		return nil, errors.New("the arguments are not JSON")
	}
	arguments, ok := value.(map[string]any)
	if !ok {
		return nil, errors.New("the arguments are not a JSON object")
	}
	if err := checkNumbers(value, maxDepth); err != nil {
		return nil, err
	}
	if err := s.compiled.Validate(value); err != nil {
		wrong, ok := err.(*jsonschema.ValidationError) //nolint:errorlint // the library wraps nothing
		if !ok {
			return nil, errors.New("the arguments are not as the tool wants them")
		}
		for len(wrong.Causes) > 0 {
			wrong = wrong.Causes[0]
		}
		return nil, fmt.Errorf("argument %s: %s", strings.Join(wrong.InstanceLocation, "."), wrong.ErrorKind.LocalizedString(english))
	}
	return arguments, nil
}

var english = message.NewPrinter(language.English)

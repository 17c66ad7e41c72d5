package connection

import (
	"encoding/json"
	"errors"
	"maps"
	"regexp"
	"slices"
	"strings"
)

const (
	// maxSchema bounds the schema of a tool's arguments, in bytes, maxSchemaNodes what it is
	// made of, and maxSchemaDepth how deep it is. maxWritten bounds it as its server wrote it,
	// and what of that is read, again wherever it is referred to.
	maxSchema      = 16 << 10
	maxSchemaNodes = 2000
	maxSchemaDepth = 11
	maxWritten     = 4 * maxSchema
)

// plainer makes a schema plain: what it refers to within itself is put in its place, and what
// no argument is checked by here, such as regular expressions, is left to its server.
type plainer struct {
	root        map[string]any
	nodes, read int
	// loosened counts what was left out that arguments would be checked by.
	loosened int
}

var errTooLarge = errors.New("is too large")

// plainSchema is a server's schema of arguments as models and the check of arguments take it.
// The error is a clause about it.
func plainSchema(written json.RawMessage) (json.RawMessage, error) {
	if len(written) > maxWritten {
		return nil, errTooLarge
	}
	var root map[string]any
	if err := json.Unmarshal(written, &root); err != nil || root == nil {
		return nil, errors.New("is no object")
	}
	p := &plainer{root: root}
	plain, err := p.schema(root, maxSchemaDepth)
	if err != nil {
		return nil, err
	}
	object, _ := plain.(map[string]any)
	if object["type"] == nil {
		object["type"] = "object"
	}
	text, err := json.Marshal(object)
	if err == nil && len(text) > maxSchema {
		err = errTooLarge
	}
	return text, err
}

// The keywords that are kept; a model is told nothing else of a schema.
var (
	// literal are those of plain values, naming those that name arguments by them, and named
	// those whose members are schemas by the names of arguments.
	literal = []string{"enum", "const", "default", "required", "dependentRequired"}
	naming  = []string{"required", "dependentRequired"}
	named   = []string{"properties", "dependentSchemas"}
	kept    = slices.Concat(literal, named, []string{
		"type", "format", "multipleOf", "maximum", "exclusiveMaximum", "minimum", "exclusiveMinimum", "maxLength", "minLength",
		"items", "prefixItems", "contains", "minContains", "maxContains", "maxItems", "minItems", "uniqueItems",
		"additionalProperties", "minProperties", "maxProperties", "allOf", "anyOf", "oneOf", "not", "if", "then", "else",
		"description", "title", "x-mcp-header",
	})
	// notes are those left out by which no argument is checked.
	notes = []string{
		"$schema", "$id", "$anchor", "$dynamicAnchor", "$recursiveAnchor", "$vocabulary", "$comment", "$defs", "definitions",
		"examples", "deprecated", "readOnly", "writeOnly",
	}
	// turning are those whose schemas may refuse more the less they say.
	turning = []string{"not", "oneOf", "if", "contains"}
)

func (p *plainer) spend(bytes int) error {
	if p.read += bytes; p.read > maxWritten {
		return errTooLarge
	}
	return nil
}

func (p *plainer) schema(value any, depth int) (any, error) {
	if p.nodes++; p.nodes > maxSchemaNodes {
		return nil, errTooLarge
	}
	if depth == 0 {
		return nil, errors.New("is nested too deeply, or refers to itself")
	}
	switch v := value.(type) {
	case map[string]any:
		return p.object(v, depth)
	case []any:
		plain := make([]any, len(v))
		for i, inner := range v {
			var err error
			if plain[i], err = p.schema(inner, depth-1); err != nil {
				return nil, err
			}
		}
		return plain, nil
	case string:
		if !words.MatchString(v) {
			return nil, errText
		}
	}
	return value, nil
}

func (p *plainer) object(v map[string]any, depth int) (any, error) {
	plain := map[string]any{}
	if ref, ok := v["$ref"].(string); ok {
		resolved, err := p.referred(ref, depth)
		if err != nil {
			return nil, err
		}
		if object, ok := resolved.(map[string]any); ok {
			maps.Copy(plain, object)
		}
	}
	for key, inner := range v {
		if err := p.spend(len(key)); err != nil {
			return nil, err
		}
		if key == "additionalProperties" && v["patternProperties"] != nil {
			continue // it says so of those that the patterns do not match
		}
		before := p.loosened
		value, keep, err := p.keyword(key, inner, depth)
		if err != nil {
			return nil, err
		}
		if keep && (p.loosened == before || !slices.Contains(turning, key)) {
			plain[key] = value
		}
	}
	return plain, nil
}

// keyword is what is kept of a keyword.
func (p *plainer) keyword(key string, inner any, depth int) (value any, keep bool, err error) {
	switch {
	case key == "$ref" || slices.Contains(notes, key):
		return nil, false, nil
	case strings.HasPrefix(key, "$"):
		return nil, false, errors.New("has the keyword " + said(key, 20))
	case !slices.Contains(kept, key):
		p.loosened++
		return nil, false, nil
	case slices.Contains(literal, key):
		return p.literalOf(key, inner)
	}
	if text, isText := inner.(string); isText {
		return p.text(key, text)
	}
	members, isObject := inner.(map[string]any)
	if !isObject || !slices.Contains(named, key) {
		value, err = p.schema(inner, depth-1)
		return value, true, err
	}
	plain := map[string]any{}
	for name, schema := range members {
		if !argument.MatchString(name) {
			return nil, false, errArgument
		}
		if plain[name], err = p.schema(schema, depth-1); err != nil {
			return nil, false, err
		}
	}
	return plain, true, nil
}

// words are what a text that is no description may be.
var words = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

var errText = errors.New("has a text where none belongs")

// text is what is kept of a keyword that is a text.
func (p *plainer) text(key, text string) (value any, keep bool, err error) {
	if err := p.spend(len(text)); err != nil {
		return nil, false, err
	}
	switch {
	case key == "description" || key == "title":
		return said(text, maxSaidInside), true, nil
	case key == "format" && (text == "regex" || !words.MatchString(text)):
		p.loosened++
		return nil, false, nil
	case !words.MatchString(text):
		return nil, false, errText
	}
	return text, true, nil
}

// argument is a name of an argument that may be said: visitors are asked about arguments by
// their names, and models take no others.
var argument = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,64}$`)

var (
	errArgument = errors.New("names an argument otherwise than by 1 to 64 letters, digits, _, . or -")
	errLiteral  = errors.New("has a value of more than 200 characters, or of several lines")
)

// literalOf is what is kept of a keyword of plain values.
func (p *plainer) literalOf(key string, inner any) (value any, keep bool, err error) {
	switch err := p.literal(inner, maxSchemaDepth); {
	case errors.Is(err, errLiteral) && key == "default":
		return nil, false, nil
	case err != nil:
		return nil, false, err
	case slices.Contains(naming, key) && !namesArguments(inner):
		return nil, false, errArgument
	}
	return inner, true, nil
}

// literal checks a plain value.
func (p *plainer) literal(value any, depth int) error {
	if depth == 0 {
		return errors.New("is nested too deeply")
	}
	switch v := value.(type) {
	case string:
		if err := p.spend(len(v)); err != nil {
			return err
		}
		if !oneLine(v, maxSaidInside) {
			return errLiteral
		}
	case []any:
		for _, inner := range v {
			if err := p.literal(inner, depth-1); err != nil {
				return err
			}
		}
	case map[string]any:
		for name, inner := range v {
			if err := errors.Join(p.literal(name, depth), p.literal(inner, depth-1)); err != nil {
				return err
			}
		}
	}
	return p.spend(1)
}

// namesArguments says whether the names of arguments in a value may be said.
func namesArguments(value any) bool {
	switch v := value.(type) {
	case []any:
		return !slices.ContainsFunc(v, func(each any) bool { return !namesArguments(each) })
	case map[string]any:
		for name, inner := range v {
			if !argument.MatchString(name) || !namesArguments(inner) {
				return false
			}
		}
		return true
	case string:
		return argument.MatchString(v)
	}
	return false
}

// referred is what a reference within the schema refers to.
func (p *plainer) referred(ref string, depth int) (any, error) {
	if err := p.spend(len(ref)); err != nil {
		return nil, err
	}
	target, err := p.target(ref)
	if err != nil {
		return nil, err
	}
	return p.schema(target, depth-1)
}

func (p *plainer) target(ref string) (any, error) {
	if ref == "#" {
		return p.root, nil
	}
	path, ok := strings.CutPrefix(ref, "#/")
	if !ok {
		return nil, errors.New("refers to another schema")
	}
	var at any = p.root
	for part := range strings.SplitSeq(path, "/") {
		object, _ := at.(map[string]any)
		inner, found := object[strings.NewReplacer("~1", "/", "~0", "~").Replace(part)]
		if !found {
			return nil, errors.New("refers to nothing")
		}
		at = inner
	}
	return at, nil
}

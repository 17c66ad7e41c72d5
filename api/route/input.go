package route

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"visavis.dev/pkg/base/problem"
)

// checkQuery refuses query strings that are malformed, or that no database
// can keep.
func (c *Call) checkQuery() error {
	query, err := url.ParseQuery(c.request.URL.RawQuery)
	if err != nil {
		return problem.Invalid("query", "The query is not well-formed.").WithCause(err)
	}
	for name, values := range query {
		for _, text := range append(values, name) {
			if !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
				return problem.Invalid("query."+strings.ToValidUTF8(strings.ReplaceAll(name, "\x00", ""), ""),
					"The query must be valid UTF-8 without NUL characters.")
			}
			if len(values) > 1 {
				return problem.Invalid("query."+name, "The query parameter %s was sent more than once.", name)
			}
		}
	}
	return nil
}

// readBody takes the whole body in, within the operation's bound, and refuses
// what is no JSON text.
func (c *Call) readBody() error {
	if !c.Op.hasBody() {
		c.request.Body = http.NoBody
		return nil
	}
	if boundary, ok := c.formBoundary(); ok {
		return c.readForm(boundary)
	}
	return c.spoolBody()
}

// take makes JSON text the body that the handler's input is read from.
func (c *Call) take(body []byte) error {
	if !utf8.Valid(body) {
		return problem.Invalid("body", "The body must be valid UTF-8.")
	}
	if err := checkJSON(body); err != nil {
		return err
	}
	if err := checkMembers(body); err != nil {
		return err
	}
	c.body = body
	c.request.Body = io.NopCloser(bytes.NewReader(body))
	return nil
}

// checkJSON says where a body is no JSON. One without anything is the handler's.
func checkJSON(body []byte) error {
	if len(body) == 0 || json.Valid(body) {
		return nil
	}
	var whole json.RawMessage
	wrong, ok := errors.AsType[*json.SyntaxError](json.Unmarshal(body, &whole))
	if !ok {
		return problem.Invalid("body", "The body must be JSON.")
	}
	before := body[:min(max(wrong.Offset-1, 0), int64(len(body)))]
	line := bytes.Count(before, []byte("\n")) + 1
	column := utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:]) + 1
	return problem.Invalid("body", "The body is no JSON: line %d, column %d: %s.", line, column, expected(wrong)).
		WithDetail("line", line).WithDetail("column", column).WithDetail("offset", len(before))
}

// expected is what a decoder says of a syntax error, in words of our own.
func expected(wrong *json.SyntaxError) string {
	text := wrong.Error()
	switch {
	case text == "unexpected end of JSON input":
		return "it ends too early; a quote, a bracket or a brace is not closed"
	case strings.HasSuffix(text, "looking for beginning of object key string"):
		return "expected the name of a property in double quotes; after the last property comes no comma"
	case strings.HasSuffix(text, "after object key:value pair"), strings.HasSuffix(text, "after object key/value pair"):
		return "expected a comma or }"
	case strings.HasSuffix(text, "after array element"):
		return "expected a comma or ]"
	case strings.HasSuffix(text, "after object key"):
		return "expected a colon"
	case strings.HasSuffix(text, "looking for beginning of value"):
		return "expected a value: a text in double quotes, a number, true, false, null, { or ["
	case strings.HasSuffix(text, "after top-level value"):
		return "expected nothing more"
	case strings.HasSuffix(text, "in string literal"), strings.HasSuffix(text, "in string escape code"):
		return "a text has a character or an escape sequence that it may not have, such as a line break"
	}
	return "expected JSON"
}

// takes names the content types of the operation's requests.
func (o *Operation) takes() string {
	if len(o.Raw) > 0 {
		return strings.Join(o.Raw, " or ")
	}
	types := append([]string{"application/json"}, o.Takes...)
	if o.Upload != nil {
		types = append(types, "multipart/form-data")
	}
	return strings.Join(types, " or ")
}

func tooLarge(limit int64) *problem.Problem {
	return problem.New(problem.TooLarge, "The body is larger than %d bytes.", limit).WithParam("body")
}

// isJSON accepts a missing content type too, as curl without -H sends none of use.
func (o *Operation) isJSON(header string) bool {
	if header == "" {
		return true
	}
	mediaType, params, err := mime.ParseMediaType(header)
	charset := strings.ToLower(params["charset"])
	return err == nil && (mediaType == "application/json" || slices.Contains(o.Takes, mediaType)) && (charset == "" || charset == "utf-8")
}

// takesType says whether a body may have a content type: one of Raw where there are any.
func (o *Operation) takesType(header string) bool {
	if len(o.Raw) > 0 {
		return o.isRaw(header)
	}
	return o.isJSON(header)
}

// isRaw says whether a body of a content type is taken as it is.
func (o *Operation) isRaw(header string) bool {
	mediaType, _, err := mime.ParseMediaType(header)
	return err == nil && slices.Contains(o.Raw, mediaType)
}

// CheckTime refuses a moment whose year in UTC has not four digits: it could
// be kept, but never written in an answer.
func CheckTime(param string, t time.Time) error {
	if year := t.UTC().Year(); year < 1 || year > 9999 {
		return problem.Invalid(param, "%s must lie in the years 0001 to 9999 (UTC).", param)
	}
	return nil
}

// UTC is a moment in UTC, as answers write it; nil stays nil.
func UTC(t *time.Time) *time.Time {
	if t == nil {
		return nil
	}
	u := t.UTC()
	return &u
}

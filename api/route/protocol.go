package route

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"visavis.dev/pkg/base/problem"
)

// Protocol serves another protocol at the path of an operation with one id, whose requests
// and answers have forms of that protocol's: it is in none of the API's documents. The chain
// before it is every operation's, with the body read and bounded. open makes the handler
// that answers a request; its error is answered in the API's form.
func (s *Service) Protocol(o Operation, open func(ctx context.Context, c *Call, id string) (http.Handler, error)) {
	s.route(BasePath+o.Path, &o, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		c := callOf(r.Context())
		next, err := open(r.Context(), c, r.PathValue("id"))
		if err != nil {
			c.refuse(err)
			return
		}
		w := &plainRefusals{ResponseWriter: c.writer}
		next.ServeHTTP(w, c.request)
		if w.refused != "" {
			c.refuse(problem.New(w.refused, "The request is none of this protocol: %s.", w.words()).WithParam("body"))
		}
	}))
}

// plainRefusals passes on what a protocol's library answers, but for refusals in plain words, which every failure of
// the API has in its own form.
type plainRefusals struct {
	http.ResponseWriter
	refused problem.Code
	text    []byte
}

// refusalsOf are the codes of what a library refuses, by status.
var refusalsOf = map[int]problem.Code{
	http.StatusBadRequest: problem.InvalidRequest, http.StatusNotFound: problem.NotFound, http.StatusRequestEntityTooLarge: problem.TooLarge,
	http.StatusUnsupportedMediaType: problem.UnsupportedMediaType,
}

// WriteHeader implements http.ResponseWriter.
func (w *plainRefusals) WriteHeader(status int) {
	code, known := refusalsOf[status]
	if kind, _, _ := strings.Cut(w.Header().Get("Content-Type"), ";"); known && kind == "text/plain" {
		w.refused = code
		return
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (w *plainRefusals) Write(b []byte) (int, error) {
	if w.refused == "" {
		if _, err := w.ResponseWriter.Write(withoutTypes(b)); err != nil {
			return 0, err
		}
		return len(b), nil
	}
	w.text = append(w.text, b...)
	return len(b), nil
}

// Unwrap lets http.ResponseController reach the writer below.
func (w *plainRefusals) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// words is what the library said, without what it says of its own types.
func (w *plainRefusals) words() string {
	text, _, _ := strings.Cut(strings.TrimSpace(string(w.text)), ": json:")
	text = strings.TrimPrefix(text, "malformed payload: ")
	switch {
	case text == "unmarshaling jsonrpc message":
		return "it is no message, or one of its fields is of the wrong type"
	case strings.Contains(text, "invalid ID type"):
		return "id is of the wrong type, a string or a number is expected"
	}
	return strings.TrimSuffix(strings.ToValidUTF8(text, ""), ".")
}

// withoutTypes takes out of the failures of an answer what a library says of its own types. Other answers, whatever they quote, are as
// they were.
func withoutTypes(answer []byte) []byte {
	if !bytes.Contains(answer, []byte("unmarshal")) && !bytes.Contains(answer, []byte("JSON input")) && !bytes.Contains(answer, []byte("EOF")) {
		return answer
	}
	lines := bytes.SplitAfter(answer, []byte("\n"))
	for i, line := range lines {
		text, event := bytes.CutPrefix(line, []byte("data: ")) // of a stream
		var whole map[string]any
		numbers := json.NewDecoder(bytes.NewReader(text))
		numbers.UseNumber() // an id is answered as it was sent
		if numbers.Decode(&whole) != nil {
			continue
		}
		failure, _ := whole["error"].(map[string]any)
		result, _ := whole["result"].(map[string]any)
		switch {
		case failure != nil:
			failure["message"] = plainText(failure["message"])
			data, _ := failure["data"].(map[string]any)
			if said, ok := data["error"].(string); ok && plainText(said) != said {
				data["error"] = plainText(said)
				failure["message"] = data["error"]
			}
		case result["isError"] == true:
			parts, _ := result["content"].([]any)
			for _, part := range parts {
				if part, ok := part.(map[string]any); ok {
					part["text"] = plainText(part["text"])
				}
			}
		default:
			continue
		}
		written, err := json.Marshal(whole)
		if err != nil {
			continue
		}
		if event {
			written = append([]byte("data: "), written...)
		}
		lines[i] = append(written, line[len(bytes.TrimRight(line, "\r\n")):]...)
	}
	return bytes.Join(lines, nil)
}

// wrapped is how a library says that it could not read the parameters of a request, which it repeats.
var wrapped = regexp.MustCompile(`(?s)unmarshaling ".*" into a \*?[\w.]+: (.+)$`)

// unread is how the libraries say that a value is of the wrong type, and where: as a type's field, behind the type's name and in one of
// them its package's, or as a whole.
var unread = regexp.MustCompile(`cannot unmarshal .* into Go (?:value of type|struct field (?:mcp\.)?(\w+)\.([\w.]+) of type) (.+)$`)

// kindsOf are the kinds of values, by the names of their types.
var kindsOf = []struct {
	types *regexp.Regexp
	kind  string
}{
	{regexp.MustCompile(`^(?:string|a2a\.TaskID|a2a\.MessageRole|mcp\.LoggingLevel)$`), "a string"},
	{regexp.MustCompile(`^bool$`), "true or false"},
	{regexp.MustCompile(`^(?:u?int|float)\d*$`), "a number"},
	{regexp.MustCompile(`^\[\]`), "a list"},
	{regexp.MustCompile(`^(?:map\[|jsonrpc\.|mcp\.|a2a\.(?:Message|SendMessageRequest|MessageSendParams)$)`), "an object"},
}

// listed are the fields that are lists: a failure names one also where an item of it is meant.
var listed = []string{"acceptedOutputModes", "extensions", "parts", "referenceTaskIds"}

// plainText is what a library said of a request that it could not read, in words that name the field.
func plainText(said any) any {
	text, ok := said.(string)
	if !ok {
		return said
	}
	switch {
	case strings.HasSuffix(text, "unexpected end of JSON input"):
		return "params is missing."
	case strings.HasSuffix(text, "parse error: EOF"):
		return "The body is empty."
	}
	if params := wrapped.FindStringSubmatch(text); params != nil {
		if text = params[1]; !strings.HasPrefix(text, "json: cannot unmarshal ") {
			return "params cannot be read."
		}
	}
	found := unread.FindStringSubmatch(text)
	if found == nil {
		return said
	}
	field := "params"
	switch {
	case strings.Contains(text, "unmarshaling arguments"):
		field = "arguments"
	case found[1] == "ServerRequest":
		field = found[2]
	case found[2] != "":
		field += "." + found[2]
	case strings.HasPrefix(found[3], "jsonrpc."):
		field = "The body"
	}
	kind := ""
	for _, k := range kindsOf {
		if k.types.MatchString(found[3]) {
			kind = k.kind
			break
		}
	}
	if last := field[strings.LastIndex(field, ".")+1:]; kind != "a list" && slices.Contains(listed, last) {
		field = "An item of " + field
	}
	if kind == "" {
		return field + " is of the wrong type."
	}
	return field + " is of the wrong type, " + kind + " is expected."
}

// identified says whether the caller of a request proved before who they are, by a key of another protocol.
func (s *Service) identified(r *http.Request) bool {
	o, match := s.find(r.Method, r.URL.Path)
	return o != nil && o.Identifies != nil && o.Identifies(r, match.URLParam("id"))
}

// Told is an error in words for a caller of another protocol, as the API would tell it. What
// the caller is not told is logged. Unlike what else there is of a call it may be asked
// while the answer is written.
func (c *Call) Told(ctx context.Context, err error) string {
	p := c.Problem(err)
	if p.Code.Status() >= http.StatusInternalServerError && !errors.Is(err, context.Canceled) {
		c.service.Log.ErrorContext(ctx, "request failed", "error", p)
	}
	return p.Message
}

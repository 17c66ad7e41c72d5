package reference

import (
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"strconv"
	"strings"
)

// sample is a request in a language.
type sample struct{ Language, Label, Code string }

// request is what the samples of an operation send.
type request struct {
	method string
	// target is the path below /v1, with its query.
	target string
	// body is JSON text, indented; empty for none.
	body              string
	keyed, idempotent bool
}

// samples are the operation's request in each language.
func (d *document) samples(o *operation) []sample {
	r := d.request(o)
	return []sample{
		{"curl", "curl", r.curl()}, {"go", "Go", r.golang()}, {"typescript", "TypeScript", r.typescript()}, {"python", "Python", r.python()},
	}
}

// idPrefix is how a parameter says of what kind its id is.
var idPrefix = regexp.MustCompile(`with or without ([a-z]+_)`)

// exampleBody is the part of an id after its prefix in examples.
const exampleBody = "06Hn2VfM1kXqT4yPzS8bRd"

func (d *document) request(o *operation) request {
	r := request{method: o.method, target: o.path, keyed: !o.open()}
	query := url.Values{}
	for _, p := range o.Parameters {
		p = d.parameter(p)
		switch {
		case p.Name == "Idempotency-Key":
			r.idempotent = true
		case p.In == "path":
			r.target = strings.ReplaceAll(r.target, "{"+p.Name+"}", exampleParameter(p))
		case p.In == "query" && p.Required:
			query.Set(p.Name, exampleParameter(p))
		}
	}
	if len(query) > 0 {
		r.target += "?" + query.Encode()
	}
	if m := o.json(); m != nil {
		r.body = pretty(m.Example)
	}
	return r
}

func exampleParameter(p parameter) string {
	if m := idPrefix.FindStringSubmatch(p.Description); m != nil {
		return m[1] + exampleBody
	}
	switch values := p.Schema.values(); {
	case len(values) > 0:
		return values[0]
	case p.Name == "key":
		return "wpk_yourWidgetsPublicKey"
	case strings.Contains(p.Description, "template"):
		return "museum_guide"
	case strings.Contains(p.Description, "setting"):
		return "memory.enabled"
	}
	return "value"
}

func (r request) curl() string {
	lines := []string{fmt.Sprintf(`curl -X %s "$VISAVIS_API%s"`, r.method, r.target)}
	if r.keyed {
		lines = append(lines, `-H "Authorization: Bearer $VISAVIS_KEY"`)
	}
	if r.body != "" {
		lines = append(lines, `-H 'Content-Type: application/json'`)
	}
	if r.idempotent {
		lines = append(lines, `-H 'Idempotency-Key: a-name-for-this-request'`)
	}
	if r.body != "" {
		lines = append(lines, "-d '"+strings.ReplaceAll(r.body, "'", `'\''`)+"'")
	}
	return strings.Join(lines, " \\\n  ")
}

func (r request) golang() string {
	imports, body := []string{"io", "log", "net/http", "os"}, "nil"
	if r.body != "" {
		imports, body = append(imports, "strings"), "strings.NewReader(body)"
	}
	var b strings.Builder
	b.WriteString("package main\n\nimport (\n")
	for _, name := range imports {
		fmt.Fprintf(&b, "\t%q\n", name)
	}
	b.WriteString(")\n\nfunc main() {\n")
	if r.body != "" {
		fmt.Fprintf(&b, "\tbody := %s\n", goString(r.body))
	}
	fmt.Fprintf(&b, "\treq, err := http.NewRequest(%q, os.Getenv(\"VISAVIS_API\")+%q, %s)\n", r.method, r.target, body)
	b.WriteString("\tif err != nil {\n\t\tlog.Fatal(err)\n\t}\n")
	if r.keyed {
		b.WriteString("\treq.Header.Set(\"Authorization\", \"Bearer \"+os.Getenv(\"VISAVIS_KEY\"))\n")
	}
	if r.body != "" {
		b.WriteString("\treq.Header.Set(\"Content-Type\", \"application/json\")\n")
	}
	if r.idempotent {
		b.WriteString("\treq.Header.Set(\"Idempotency-Key\", \"a-name-for-this-request\")\n")
	}
	b.WriteString("\tres, err := http.DefaultClient.Do(req)\n\tif err != nil {\n\t\tlog.Fatal(err)\n\t}\n\tdefer res.Body.Close()\n")
	b.WriteString("\tif _, err := io.Copy(os.Stdout, res.Body); err != nil {\n\t\tlog.Fatal(err)\n\t}\n}")
	return b.String()
}

func goString(text string) string {
	if strings.Contains(text, "`") {
		return strconv.Quote(text)
	}
	return "`" + text + "`"
}

func (r request) typescript() string {
	var b strings.Builder
	fmt.Fprintf(&b, "const response = await fetch(`${process.env.VISAVIS_API}%s`, {\n  method: %q,\n  headers: {\n", r.target, r.method)
	for _, h := range r.headers("`Bearer ${process.env.VISAVIS_KEY}`") {
		fmt.Fprintf(&b, "    %s,\n", h)
	}
	b.WriteString("  },\n")
	if r.body != "" {
		fmt.Fprintf(&b, "  body: JSON.stringify(%s),\n", indented(r.body, "  "))
	}
	b.WriteString("})\nif (!response.ok) throw new Error(await response.text())\nconsole.log(await response.text())")
	return b.String()
}

func (r request) python() string {
	var b strings.Builder
	fmt.Fprintf(&b, "import os\n\nimport requests\n\nresponse = requests.%s(\n    os.environ[\"VISAVIS_API\"] + %q,\n", strings.ToLower(r.method), r.target)
	if headers := r.headers(`"Bearer " + os.environ["VISAVIS_KEY"]`); len(headers) > 0 {
		b.WriteString("    headers={\n")
		for _, h := range headers {
			if !strings.HasPrefix(h, `"Content-Type"`) { // which json sets
				fmt.Fprintf(&b, "        %s,\n", h)
			}
		}
		b.WriteString("    },\n")
	}
	if r.body != "" {
		fmt.Fprintf(&b, "    json=%s,\n", indented(pythonLiteral(r.body), "    "))
	}
	b.WriteString(")\nresponse.raise_for_status()\nprint(response.text)")
	return b.String()
}

// headers are those of the request, as members of an object; bearer is the
// expression of the key.
func (r request) headers(bearer string) []string {
	var headers []string
	if r.keyed {
		headers = append(headers, `"Authorization": `+bearer)
	}
	if r.body != "" {
		headers = append(headers, `"Content-Type": "application/json"`)
	}
	if r.idempotent {
		headers = append(headers, `"Idempotency-Key": "a-name-for-this-request"`)
	}
	return headers
}

// indented moves all lines but the first to the right.
func indented(text, by string) string { return strings.ReplaceAll(text, "\n", "\n"+by) }

// word is a string of JSON, or one of its bare words.
var word = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|\btrue\b|\bfalse\b|\bnull\b`)

// pythonLiteral writes JSON text as Python has it.
func pythonLiteral(text string) string {
	return word.ReplaceAllStringFunc(text, func(w string) string {
		switch {
		case w == "true":
			return "True"
		case w == "false":
			return "False"
		case w == "null":
			return "None"
		case !json.Valid([]byte(w)):
			panic("a string of JSON that is none: " + w)
		}
		return w
	})
}

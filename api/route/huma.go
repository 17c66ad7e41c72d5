package route

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humachi"
	"github.com/danielgtaylor/huma/v2/validation"

	"visavis.dev/pkg/base/problem"
)

// huma reports a missing property at its parent; we have it put the property's
// name between these two.
const requiredBefore, requiredAfter = "property ", " is required"

// huma has these as variables of the package, so they are set once for the program.
func init() {
	validation.MsgExpectedRequiredProperty = requiredBefore + "%s" + requiredAfter
	// A list is never null; an empty one is [].
	huma.DefaultArrayNullable = false
	// The decoder takes "NAME" for name, and it would be checked as neither.
	huma.ValidateStrictCasing = true
	huma.NewErrorWithContext = func(ctx huma.Context, status int, msg string, errs ...error) huma.StatusError {
		c := callOf(ctx.Context())
		return c.failure(inputProblem(c.Op, status, msg, errs))
	}
}

func humaConfig() huma.Config {
	format := huma.Format{Marshal: writeRendered, Unmarshal: decode}
	return huma.Config{
		OpenAPI: &huma.OpenAPI{
			OpenAPI:    "3.1.0",
			Info:       &huma.Info{},
			Components: &huma.Components{Schemas: &schemas{Registry: huma.NewMapRegistry("#/components/schemas/", schemaName), seen: map[*huma.Schema]bool{}}},
		},
		Formats:       map[string]huma.Format{"application/json": format, "json": format},
		DefaultFormat: "application/json",
		Transformers: []huma.Transformer{func(ctx huma.Context, _ string, v any) (any, error) {
			return rendered(callOf(ctx.Context()).render(v)), nil
		}},
	}
}

// Of a number that its field cannot hold, such as 2.0 where a whole one is wanted, huma keeps
// no more than the text of the error: decode puts the field between these two.
const wrongNumberBefore, wrongNumberAfter = "json: the number at ", " has the wrong form"

func decode(body []byte, into any) error {
	err := json.Unmarshal(body, into)
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && strings.HasPrefix(wrong.Value, "number") && wrong.Field != "" {
		return errors.New(wrongNumberBefore + wrong.Field + wrongNumberAfter)
	}
	if err == nil {
		asKept(reflect.ValueOf(into))
	}
	return err
}

// rendered is an answer's bytes.
type rendered []byte

func writeRendered(w io.Writer, v any) error {
	b, ok := v.(rendered)
	if !ok {
		return fmt.Errorf("an answer of type %T was not rendered", v)
	}
	_, err := w.Write(b)
	return err
}

// adapter routes huma's operations through the chain.
type adapter struct{ service *Service }

// Handle implements huma.Adapter.
func (a *adapter) Handle(op *huma.Operation, handler func(huma.Context)) {
	a.service.route(op.Path, a.service.operation(op.OperationID), http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		handler(humachi.NewContext(op, r, w))
	}))
}

// ServeHTTP implements huma.Adapter.
func (a *adapter) ServeHTTP(w http.ResponseWriter, r *http.Request) { a.service.ServeHTTP(w, r) }

// inputProblem turns what huma found in the input into one problem that names
// the field. Values are never echoed: they may be secrets.
func inputProblem(o *Operation, status int, msg string, errs []error) error {
	if status == http.StatusInternalServerError {
		return fmt.Errorf("%s: %w", msg, errors.Join(errs...))
	}
	faults := make([]fault, 0, len(errs))
	for _, err := range errs {
		f := readFault(err)
		// A text that is empty is blank as well, which says nothing more.
		if f.message == blank && slices.ContainsFunc(faults, func(had fault) bool { return had.param == f.param }) {
			continue
		}
		faults = append(faults, f)
	}
	if len(faults) == 0 {
		return problem.Invalid("body", "The %s.", msg)
	}
	for _, code := range o.InputCodes {
		for _, f := range faults {
			if f.missing && f.param == code.Param {
				return withOthers(problem.New(code.Missing, "%s is required.", f.param).WithParam(f.param), faults)
			}
		}
	}
	first := faults[0]
	p := problem.Invalid(first.param, "%s", first.sentence())
	for _, code := range o.InputCodes {
		if first.param == code.Param || strings.HasPrefix(first.param, code.Param+".") {
			p.Code = code.Invalid
		}
	}
	return withOthers(p, faults)
}

// withOthers tells of all faults where there are several.
func withOthers(p *problem.Problem, faults []fault) *problem.Problem {
	if len(faults) < 2 {
		return p
	}
	p.Message = strings.TrimSuffix(p.Message, ".") + fmt.Sprintf(", and %d more: see details.problems.", len(faults)-1)
	return p.WithDetail("problems", others(faults))
}

// fault is one thing that is wrong with the input.
type fault struct {
	param, message string
	missing        bool
}

// sentence says what is wrong with the field.
func (f fault) sentence() string {
	if strings.HasPrefix(f.message, "is ") || strings.HasPrefix(f.message, "must ") || strings.HasPrefix(f.message, "does ") {
		return f.param + " " + f.message + "."
	}
	return f.param + ": " + f.message + "."
}

// Of a value that is none of those that there are, huma tells them between these two.
const choicesBefore, choicesAfter = `expected value to be one of "`, `"`

// plainly is what is said in place of what huma says of values of another type.
var plainly = map[string]string{
	"expected boolean": "must be true or false", "invalid boolean": "must be true or false",
	"expected integer": "must be a whole number", "invalid integer": "must be a whole number",
	"expected string": "must be text", "expected array": "must be a list", "expected object": "must be an object", "expected number": "must be a number",
}

// blank is what is said of a text of spaces alone.
const blank = "must be text that is more than spaces"

// Of a text that is no time, huma tells the layout after this, as Go writes it.
const wrongTime = "invalid date/time"

// Of a text that is not of its pattern, huma tells the pattern after this.
const notMatched = "expected string to match pattern "

func readFault(err error) fault {
	var detailer huma.ErrorDetailer
	if !errors.As(err, &detailer) {
		return fault{param: "body", message: "is not valid"}
	}
	d := detailer.ErrorDetail()
	f := fault{param: d.Location, message: d.Message, missing: d.Value == nil} // null
	if rest, ok := strings.CutPrefix(d.Message, requiredBefore); ok {
		if name, ok := strings.CutSuffix(rest, requiredAfter); ok {
			return fault{param: d.Location + "." + name, message: "is required", missing: true}
		}
	}
	if rest, ok := strings.CutPrefix(d.Message, choicesBefore); ok {
		f.message = "must be " + problem.Or(strings.Split(strings.TrimSuffix(rest, choicesAfter), ", "))
	}
	if rest, ok := strings.CutPrefix(d.Message, wrongValue); ok {
		f.message = rest
	}
	if plain, ok := plainly[d.Message]; ok {
		f.message = plain
	}
	if strings.HasPrefix(d.Message, wrongTime) {
		f.message = "must be a date-time in ISO 8601, such as 2026-10-01T09:30:00Z"
	}
	if d.Message == notMatched+notBlank {
		f.message = blank
	}
	if rest, ok := strings.CutPrefix(d.Message, wrongNumberBefore); ok {
		return fault{param: d.Location + "." + strings.TrimSuffix(rest, wrongNumberAfter), message: "must be a whole number, written without a fraction or an exponent"}
	}
	if f.param == "body" && strings.HasPrefix(f.message, "json: ") {
		// The decoder's text speaks of our own types.
		f.message = "does not have the form of this operation's input"
	}
	return f
}

// others lists every fault for details.problems.
func others(faults []fault) []map[string]string {
	list := make([]map[string]string, len(faults))
	for i, f := range faults {
		list[i] = map[string]string{"field": f.param, "message": f.message}
	}
	return list
}

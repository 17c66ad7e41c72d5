package route

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/base/rate"
	"visavis.dev/pkg/base/scope"
)

// Auth says who may call an operation.
type Auth int

// The kinds of authentication.
const (
	// WithKey: a valid key is needed. The zero value, so nothing is open by oversight.
	WithKey Auth = iota
	// Open: no key is looked at.
	Open
	// MayHaveKey: without a valid key the call is anonymous.
	MayHaveKey
)

// Operation declares one operation of the API. Router, authorisation, limits,
// idempotency, documents and the tests over every operation derive from it.
type Operation struct {
	// ID names the operation in the documents: getAvatar.
	ID string
	// Method and Path, the latter below /v1 with parameters in braces.
	Method, Path string
	// Group is the resource group of the spec.
	Group string
	// Summary is one line; Description may be longer, in Markdown.
	Summary, Description string
	Auth                 Auth
	// Probe operations answer whatever headers and query they are sent (spec, GET /health: server_error alone).
	Probe bool
	// Scope is what the key must hold; empty for any valid key.
	Scope scope.Scope
	// AndScope is another scope that the key must hold as well; empty for none.
	AndScope scope.Scope
	// Feature, when set, is one that the plan must include; else the answer is 403
	// upgrade_required (Errors).
	Feature string
	// Class is the rate class; empty for the address limit alone. Of an open
	// operation the handler counts, and says so with Limited.
	Class rate.Class
	// Identifies says, of an open operation with a key of its own at a path with an id, whether its
	// caller proved before who they are: then the limit of their address, which many can share, does
	// not hold them up. The handler says so with Identified.
	Identifies func(r *http.Request, id string) bool
	// FromPages operations are called by pages of other origins: browsers that
	// ask beforehand whether they may (CORS) are told yes, and may read what is
	// refused before the handler. What of it they may read the handler says with
	// AllowOrigin.
	FromPages bool
	// Since is the contract the operation appeared in. It is information: keys
	// of an older contract may call it too.
	Since contract.Version
	// Status is the success status; zero means 200.
	Status int
	// Also are other success statuses that a handler can choose with AnswerWith.
	Also []int
	// Idempotent operations honour the Idempotency-Key header; their handlers
	// take effect through Commit.
	Idempotent bool
	// ShowsSecret says that the answer holds a secret that is stored nowhere
	// in the clear.
	ShowsSecret bool
	// FailsClosed operations are refused while the limits cannot be counted
	// across all pods.
	FailsClosed bool
	// MaxBody is the largest body in bytes; zero means 1 MiB.
	MaxBody int64
	// Before, when set, refuses what could have no effect whatever the body says, such
	// as what the plan does not include, before the body is read.
	Before func(context.Context, *Call) error
	// Detach are the paths of texts that stay in the body when they are long, such as
	// "consent.evidence" or "samples[]"; the handler finds them with Detached. What is
	// left of the body is 1 MiB at most.
	Detach []string
	// Upload, when set, lets the operation take a form with a file in place of JSON.
	Upload *Upload
	// Takes are content types of requests besides JSON's own, whose bodies are
	// JSON all the same.
	Takes []string
	// Raw, of a Protocol alone, are content types of bodies that are taken as they are, whatever they hold.
	Raw []string
	// Items is what the answer's data is, or is a list of, where contracts
	// write that differently. Handlers write it in the newest one.
	Items contract.Item
	// Produces is the content types of an answer that is not JSON.
	Produces []string
	// Revalidates says that the handler calls Unchanged, so a caller that has the
	// answer as it is gets 304.
	Revalidates bool
	// Errors are the codes beyond those that follow from the rest.
	Errors []problem.Code
	// InputCodes gives fields of the input codes of their own instead of
	// invalid_request.
	InputCodes []InputCode
}

// InputCode is the code for a fault in one field or in what lies below it.
type InputCode struct {
	// Param is the field, in the form of an error's param: body.consent.
	Param string
	// Missing is answered when the field is absent or null, Invalid for any
	// other fault.
	Missing, Invalid problem.Code
}

const defaultMaxBody = 1 << 20

func (o *Operation) maxBody() int64 {
	if o.MaxBody == 0 {
		return defaultMaxBody
	}
	return o.MaxBody
}

func (o *Operation) status() int {
	if o.Status == 0 {
		return http.StatusOK
	}
	return o.Status
}

// responses are those that do not follow from the answer's type.
func (o *Operation) responses() map[string]*huma.Response {
	if !o.Revalidates {
		return nil
	}
	return map[string]*huma.Response{"304": {Description: "The caller has the answer as it is."}}
}

// hasBody says whether requests carry a body.
func (o *Operation) hasBody() bool {
	return o.Method == http.MethodPost || o.Method == http.MethodPut || o.Method == http.MethodPatch
}

// Codes lists every error code the operation can answer.
func (o *Operation) Codes() []problem.Code {
	codes := []problem.Code{problem.InvalidRequest, problem.RateLimited, problem.ServerError, problem.Capacity}
	if o.Auth == WithKey {
		codes = append(codes, problem.Unauthorized, problem.Forbidden, problem.UpgradeRequired)
	}
	if strings.Contains(o.Path, "{") {
		codes = append(codes, problem.NotFound)
	}
	if o.hasBody() {
		codes = append(codes, problem.TooLarge, problem.UnsupportedMediaType)
	}
	if o.Idempotent {
		codes = append(codes, problem.Gone, problem.IdempotencyConflict, problem.IdempotencyInProgress)
	}
	for _, c := range o.InputCodes {
		codes = append(codes, c.Missing, c.Invalid)
	}
	codes = append(codes, o.Errors...)
	slices.Sort(codes)
	return slices.Compact(codes)
}

package route

import (
	"context"
	"net/http"
	"net/netip"
	"slices"
	"time"

	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/spool"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/apikey"
	"visavis.dev/pkg/store/idempotency"
	"visavis.dev/pkg/store/limits"
)

// Call is one request on its way through the chain.
type Call struct {
	RequestID id.Request
	// Op is the operation; nil while the path is not matched yet.
	Op *Operation
	// Principal is who calls; nil without a valid key.
	Principal *apikey.Principal
	// Contract is the one the answer is written in.
	Contract contract.Version
	// Address is the caller's, as far as trusted proxies report it.
	Address netip.Addr

	service *Service
	request *http.Request
	// connection ends when the caller is gone, and release what request holds on to.
	connection context.Context
	release    context.CancelFunc
	writer     http.ResponseWriter
	bearer     string
	// body stands for what was sent: its bytes, or a digest of a form.
	body   []byte
	claim  *idempotency.Claim
	upload *Uploaded
	// held is what the request holds of the budget of bodies, spooled the body as it
	// came, and detached the long texts that are read from there.
	held     *spool.Reservation // of memory
	stored   *spool.Reservation // of files
	spooled  *spool.Body
	detached map[string]*spool.Text
	// chosen is the success status that the handler chose; zero for the declared one.
	chosen int
	// unchanged says that the caller has the answer as it is.
	unchanged bool
	// ofAddress is how the address's limit stood.
	ofAddress limits.Reading
	// committed is the answer as it was recorded with its effect.
	committed []byte
	// replayed is an answer recorded by an earlier request.
	replayed *idempotency.Answer
}

type callKey struct{}

func callOf(ctx context.Context) *Call {
	c, _ := ctx.Value(callKey{}).(*Call)
	return c
}

// restart begins the request's time anew: what a caller took to send a large
// body is not the service's.
func (c *Call) restart() {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.request.Context()), requestTimeout)
	stop, before := context.AfterFunc(c.connection, cancel), c.release
	c.request = c.request.WithContext(ctx)
	c.release = func() {
		stop()
		cancel()
		before()
	}
}

// Org is the calling organization. It must not be asked of an anonymous call.
func (c *Call) Org() id.Org { return c.Principal.Org.ID }

// Now is the moment by the service's clock, in UTC and in the microseconds
// that a database keeps.
func (c *Call) Now() time.Time { return c.service.Clock.Now().UTC().Truncate(time.Microsecond) }

// URL makes an absolute address of a path below /v1.
func (c *Call) URL(path string) string { return c.service.PublicURL + BasePath + path }

// Body is the request's body as it came.
func (c *Call) Body() []byte { return c.body }

// SetHeader sets a header of the answer.
func (c *Call) SetHeader(name, value string) { c.writer.Header().Set(name, value) }

// Unchanged gives the answer an ETag and answers 304 when the caller has that
// already. The operation is declared with Revalidates.
func (c *Call) Unchanged(etag string) {
	c.SetHeader("ETag", etag)
	c.unchanged = matches(c.request.Header.Get("If-None-Match"), etag)
}

// Header is a header of the request.
func (c *Call) Header(name string) string { return c.request.Header.Get(name) }

// AnswerWith chooses another of the operation's success statuses. In Commit it
// is chosen by the function that has the effect.
func (c *Call) AnswerWith(status int) {
	if status != c.Op.status() && !slices.Contains(c.Op.Also, status) {
		panic("operation " + c.Op.ID + " does not declare the status it answers with")
	}
	c.chosen = status
}

func (c *Call) status() int {
	if c.chosen != 0 {
		return c.chosen
	}
	return c.Op.status()
}

// Uploaded is the file that came with the request; nil when none did.
func (c *Call) Uploaded() *Uploaded { return c.upload }

// Actor is the caller, for rules that change something.
func (c *Call) Actor() activity.Actor {
	return activity.Actor{By: c.Principal.Key.ID.String(), At: c.Now(), Address: c.Address.String()}
}

// Queried says whether the query names a parameter, were it with nothing.
func (c *Call) Queried(name string) bool { return c.request.URL.Query().Has(name) }

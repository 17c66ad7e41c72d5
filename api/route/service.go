package route

import (
	"encoding/json"
	"log/slog"
	"net/netip"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-chi/chi/v5"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/utils/clock"

	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/cursor"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/base/spool"
	"visavis.dev/pkg/store/apikey"
	"visavis.dev/pkg/store/idempotency"
	"visavis.dev/pkg/store/limits"
	"visavis.dev/pkg/store/tenant"
)

// BasePath is what every path of the API begins with.
const BasePath = "/v1"

// Deps is what the chain works with.
type Deps struct {
	Auth        *apikey.Authenticator
	Limiter     *limits.Limiter
	Tenants     *tenant.Tenants
	Idempotency *idempotency.Store
	Plans       *plan.Catalogue
	Cursors     *cursor.Codec
	Clock       clock.PassiveClock
	Log         *slog.Logger
	Metrics     prometheus.Registerer
	// PerAddress is the limit of one address a minute.
	PerAddress int64
	// TrustedProxies are the ranges whose X-Forwarded-For is believed.
	TrustedProxies []netip.Prefix
	// Bodies bounds what the bodies of requests under way take of memory together, and
	// Disk what those that are large take of Temporary, where they lie.
	Bodies, Disk *spool.Budget
	Temporary    spool.Folder
	// BodyPartWithin is how long the next part of a body may take to arrive; zero
	// means ten seconds.
	BodyPartWithin time.Duration
	// PublicURL is the address callers reach the service at, without a path.
	PublicURL string
}

// Service is the HTTP API: the declared operations and the chain before them.
type Service struct {
	Deps
	operations []*Operation
	// examples are bodies by operation.
	examples map[string]json.RawMessage
	router   *chi.Mux
	// routed are the operations by their method and path.
	routed  map[string]*Operation
	api     huma.API
	seconds *prometheus.HistogramVec
}

// New makes a service without operations. Add them with Handle, List and File.
func New(d Deps) *Service {
	if d.Bodies == nil {
		d.Bodies = spool.NewBudget(spool.DefaultTotal())
	}
	if d.Disk == nil {
		d.Disk = spool.NewBudget(spool.DefaultDisk)
	}
	s := &Service{Deps: d, router: chi.NewRouter(), examples: map[string]json.RawMessage{}, routed: map[string]*Operation{}}
	s.seconds = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "visavis_http_request_seconds",
		Help:    "Time to answer a request, by operation and status.",
		Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10},
	}, []string{"operation", "status"})
	if d.Metrics != nil {
		d.Metrics.MustRegister(s.seconds, prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "visavis_request_body_bytes",
			Help: "Bytes of memory and temporary files that the requests under way hold.",
		}, func() float64 { return float64(d.Bodies.Used()) }))
	}
	s.router.NotFound(s.notFound)
	s.router.MethodNotAllowed(s.methodNotAllowed)
	s.api = huma.NewAPI(humaConfig(), &adapter{s})
	return s
}

// Operations lists what was declared, in that order.
func (s *Service) Operations() []*Operation { return s.operations }

// declare registers an operation and answers its huma form.
func (s *Service) declare(o Operation) huma.Operation {
	if o.Since == "" {
		o.Since = contract.V20260708
	}
	if !isGroup(o.Group) {
		panic("operation " + o.ID + " is of no group that is described")
	}
	s.operations = append(s.operations, &o)
	if o.Upload != nil {
		o.Upload.check(o)
	}
	return huma.Operation{
		Responses:                    o.responses(),
		OperationID:                  o.ID,
		Method:                       o.Method,
		Path:                         BasePath + o.Path,
		Summary:                      o.Summary,
		Description:                  o.Description,
		Tags:                         []string{o.Group},
		DefaultStatus:                o.status(),
		RejectUnknownQueryParameters: true,
		// The chain has read the body and bounded it before.
		MaxBodyBytes:    -1,
		BodyReadTimeout: -1,
	}
}

// operation finds what was declared under an id.
func (s *Service) operation(id string) *Operation {
	for _, o := range s.operations {
		if o.ID == id {
			return o
		}
	}
	panic("operation " + id + " is not declared")
}

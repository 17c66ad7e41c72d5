package apitest

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"k8s.io/utils/clock"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/speech/espeak"
	"visavis.dev/pkg/speech/espeak/espeaktest"
	"visavis.dev/pkg/store/apikey"
)

// SettingPath names a setting by its key, which is the same for every organization.
const SettingPath = "/settings/{id}"

// World is the API with what it takes to call any operation.
type World struct {
	*API
	Documents map[contract.Version]*Document
	// OldNamed is Acme's key of the older contract with every scope by name:
	// full access of that age never reaches some of them.
	OldNamed apikey.Secret

	Made map[string]string
	n    int
	// tokens are the sessions' by their bare ids.
	Tokens map[string]session.Token
	// publicKeys are the widgets' by their bare ids.
	PublicKeys map[string]string
	// mediaOf is whose the media servers are, by their bare ids.
	mediaOf map[string]id.Org
}

// NewWorld runs the API without limits in the way, with something of every
// kind in both organizations.
func NewWorld(t testing.TB, options ...Option) *World {
	t.Helper()
	pool := espeaktest.Open(t, espeak.Options{Processes: 1})
	speaking := func(o *Options) { o.Speaker = pool }
	a := New(t, append([]Option{Unlimited, speaking}, options...)...)
	w := &World{API: a, Documents: map[contract.Version]*Document{}, Made: map[string]string{}, PublicKeys: map[string]string{}, Tokens: map[string]session.Token{}, mediaOf: map[string]id.Org{}}
	for _, v := range contract.Versions() {
		w.Documents[v] = ReadDocument(t, v)
	}
	w.OldNamed = a.Key(a.Acme, scope.Grant{Contract: contract.V20260708, Scopes: scope.All()})
	for _, org := range []*Org{a.Acme, a.Globex} {
		w.Unlimit(t, org)
		w.Connect(t, org)
		w.Use(t, org)
	}
	return w
}

// Apart is the same API with another organization for Acme, which has nothing yet.
func (w *World) Apart(t testing.TB) *World {
	t.Helper()
	a, other := *w.API, *w
	a.Acme = w.NewOrg("Acme "+uuid.NewString(), "shard-1", "business")
	other.API, other.Made = &a, map[string]string{}
	other.OldNamed = a.Key(a.Acme, scope.Grant{Contract: contract.V20260708, Scopes: scope.All()})
	other.Unlimit(t, a.Acme)
	other.Connect(t, a.Acme)
	return &other
}

// Unlimit lets an organization make as much as the tests like.
func (w *World) Unlimit(t testing.TB, org *Org) {
	t.Helper()
	o := plan.Overrides{Limits: plan.Limits{
		plan.ClonedVoices: nil, plan.CustomAvatars: nil, plan.DocumentsPerBase: nil, plan.MaxConcurrentSessions: nil, plan.KnowledgeBases: nil,
		plan.Members: nil, plan.Portals: nil, plan.Webhooks: nil,
	}}
	require.NoError(t, w.Directory.SetOverrides(context.Background(), org.ID, o))
}

// Operation finds an operation.
func (w *World) Operation(t testing.TB, id string) *route.Operation {
	t.Helper()
	for _, o := range w.Service.Operations() {
		if o.ID == id {
			return o
		}
	}
	require.Fail(t, "no such operation", id)
	return nil
}

// Each runs a subtest for every operation.
func (w *World) Each(t *testing.T, f func(t *testing.T, o *route.Operation)) {
	t.Helper()
	require.NotEmpty(t, w.Service.Operations())
	for _, o := range w.Service.Operations() {
		t.Run(o.ID, func(t *testing.T) { f(t, o) })
	}
}

// Make makes something by an operation that creates, as the organization's
// newest key, and answers its data.
func (w *World) Make(t testing.TB, org *Org, operation string) map[string]any {
	t.Helper()
	o := w.Operation(t, operation)
	answer := w.Call(t, o, Request{Path: o.Path, Key: org.New, Body: w.Body(t, o)})
	require.Equal(t, http.StatusCreated, answer.Status, "%s", answer.Raw)
	return answer.Data(t)
}

// runJobs makes every step of the kinds that is due.
func (w *World) runJobs(t testing.TB, works map[job.Kind]job.Work) {
	t.Helper()
	runner := &job.Runner{Tenants: w.Tenants, Works: works, Clock: clock.RealClock{}, Log: slog.New(slog.DiscardHandler)}
	for _, shard := range []string{"shard-1", "shard-2"} {
		for made := 1; made > 0; {
			var err error
			made, err = runner.Advance(context.Background(), shard)
			require.NoError(t, err)
		}
	}
}

// Body is a good body, another each time; nil where the operation takes none.
func (w *World) Body(t testing.TB, o *route.Operation) any {
	t.Helper()
	if !w.Documents[contract.Latest].HasBody(o) {
		return nil
	}
	w.n++
	switch o.ID {
	case "createWidget":
		return WidgetBody(w.n, w.Shown(t, w.Acme))
	case "askAgent":
		return w.question(t, o)
	case "createSessionToken":
		return w.SessionBody(t, w.Acme)
	}
	if body := w.PeopleBody(t, o, w.Acme); body != nil {
		return body
	}
	require.Contains(t, bodies, o.ID, "give the operation a good body")
	return bodies[o.ID](w.n)
}

// Kind is the path up to its id; empty where there is none.
func Kind(t testing.TB, o *route.Operation) string {
	t.Helper()
	if !strings.Contains(o.Path, "{") {
		return ""
	}
	if _, own := Kinds[o.Path]; own {
		return o.Path
	}
	before, after, _ := strings.Cut(o.Path, "}")
	require.NotContains(t, after, "{", "these tests know paths with one id")
	require.Contains(t, Kinds, before+"}", "give this kind of path a maker")
	return before + "}"
}

// Path is the operation's path with the id of something that is not used up;
// it is the same each time.
func (w *World) Path(t testing.TB, o *route.Operation, org *Org) string {
	t.Helper()
	k := Kind(t, o)
	if k == "" {
		return o.Path
	}
	if _, ok := w.Made[k+org.ID.String()]; !ok {
		w.Made[k+org.ID.String()] = Kinds[k](t, w, org)
	}
	return WithID(o, w.Made[k+org.ID.String()])
}

func WithID(o *route.Operation, id string) string {
	return strings.NewReplacer("{id}", id, "{key}", id).Replace(o.Path)
}

// Call makes a request of an operation and checks what holds for every answer.
func (w *World) Call(t testing.TB, o *route.Operation, r Request) Answer {
	t.Helper()
	r.Method = o.Method
	r = w.signed(t, o, w.rate(o, w.Visit(r)))
	answer := w.Do(r)
	w.Check(t, o, answer)
	return answer
}

// Check checks what holds for every answer of an operation.
func (w *World) Check(t testing.TB, o *route.Operation, answer Answer) {
	t.Helper()
	CheckHeaders(t, answer)
	CheckEnvelope(t, answer, w.Documents[contract.Latest].IsList(o))
	w.Documents[contract.Version(answer.Header.Get(contract.Header))].check(t, o, answer)
}

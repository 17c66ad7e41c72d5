package ats_test

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"net/netip"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/api/apitest"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/mail"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/provider/ashby/ashbytest"
	"visavis.dev/pkg/provider/greenhouse/greenhousetest"
	"visavis.dev/pkg/store/tenant"
)

const (
	ourKey   = "greenhouse-sends-this-key"
	ashbyKey = "ashby-takes-this-key"
	profile  = "https://people.example.com/candidates/{candidateId}"
)

// postbox keeps what is sent.
type postbox struct{ sent []mail.Message }

func (p *postbox) Send(_ context.Context, m mail.Message) error {
	p.sent = append(p.sent, m)
	return nil
}

// bench is a world with a role that an applicant tracking system sends to.
type bench struct {
	*apitest.World
	t    *testing.T
	log  interface{ String() string }
	role string
	box  postbox
	// connection is the one that was made last.
	connection string
}

func newBench(t *testing.T, options ...func(*apitest.Options)) *bench {
	t.Helper()
	t.Parallel()
	c := apitest.NewConnections(t, options...)
	b := &bench{World: c.World, t: t, log: c.Log}
	b.role = b.Role(t, b.Acme, map[string]any{"title": "Rigger"})
	return b
}

// connect makes a connection, and answers the address of its endpoints.
func (b *bench) connect(provider, secret string, config map[string]any) string {
	b.t.Helper()
	full := map[string]any{"roles": []any{b.role}, "profileUrl": profile}
	maps.Copy(full, config)
	made := b.CallAs(b.t, "createConnection", "", b.Acme.New, map[string]any{
		"kind": "ats", "provider": provider, "name": "ATS", "secret": secret, "config": full, "limits": map[string]any{"timeoutMs": 5000},
	})
	require.Equal(b.t, http.StatusCreated, made.Status, "%s", made.Raw)
	b.connection = made.Data(b.t)["id"].(string)
	at := made.Data(b.t)["servedUrl"].(string)
	require.Equal(b.t, b.URL+"/ats/"+b.connection+"."+b.Acme.ID.String(), at)
	return at
}

func (b *bench) greenhouse() *greenhousetest.Server {
	b.t.Helper()
	s := greenhousetest.Start("", ourKey)
	b.t.Cleanup(s.Close)
	s.Partner = b.connect("greenhouse", ourKey, map[string]any{"baseUrl": s.URL})
	return s
}

func (b *bench) ashby() *ashbytest.Server {
	b.t.Helper()
	s := ashbytest.Start("", ourKey, ashbyKey)
	b.t.Cleanup(s.Close)
	s.Partner = b.connect("ashby", ourKey+":"+ashbyKey, map[string]any{"baseUrl": s.URL})
	return s
}

// mails are those that went out since, all told.
func (b *bench) mails() int {
	b.t.Helper()
	b.Post(b.t, &b.box)
	return len(b.box.sent)
}

var tokenOf = regexp.MustCompile(`#invite=(vhi_[A-Z2-7]+)`)

// arrive has the candidate who was mailed last come and agree.
func (b *bench) arrive() id.Candidate {
	b.t.Helper()
	require.NotZero(b.t, b.mails())
	token := tokenOf.FindStringSubmatch(b.box.sent[len(b.box.sent)-1].Text)
	require.NotNil(b.t, token)
	return b.Arrive(b.t, b.Acme, map[string]any{"url": "https://portal.example.com/link#invite=" + token[1], "candidateId": b.candidates()[0]["id"]})
}

// candidates are those of the role, newest first.
func (b *bench) candidates() (all []map[string]any) {
	b.t.Helper()
	answer := b.CallAs(b.t, "listCandidates", b.role, b.Acme.New, nil)
	require.Equal(b.t, http.StatusOK, answer.Status, "%s", answer.Raw)
	for _, one := range answer.JSON(b.t)["data"].([]any) {
		all = append(all, one.(map[string]any))
	}
	return all
}

func (b *bench) review(who id.Candidate) {
	b.t.Helper()
	answer := b.CallAs(b.t, "reviewCandidate", who.String(), b.Acme.New, map[string]any{"reviewerId": b.HiringManager(b.t, b.Acme)})
	require.Equal(b.t, http.StatusOK, answer.Status, "%s", answer.Raw)
}

func (b *bench) decide(who id.Candidate, value string) {
	b.t.Helper()
	answer := b.CallAs(b.t, "decideCandidate", who.String(), b.Acme.New, map[string]any{
		"decision": value, "decidedBy": b.HiringManager(b.t, b.Acme), "reasonCode": "good",
	})
	require.Equal(b.t, http.StatusOK, answer.Status, "%s", answer.Raw)
}

// tell tells the systems what waits to be told. What makes other jobs in a test holds on to these for
// a while, and others wait for the system.
func (b *bench) tell() {
	b.t.Helper()
	b.exec(`UPDATE job SET due_at = now(), owner = NULL WHERE org_id = $1 AND kind = 'ats_tell'`)
	b.Tell(b.t)
}

// exec changes rows past the rules.
func (b *bench) exec(sql string, args ...any) {
	b.t.Helper()
	require.NoError(b.t, b.Tenants.InTx(b.t.Context(), b.Acme.ID, func(ctx context.Context, tx *tenant.Tx) error {
		_, err := tx.Exec(ctx, sql, append([]any{tx.Org}, args...)...)
		return err
	}))
}

// count counts rows.
func (b *bench) count(sql string, args ...any) (n int) {
	b.t.Helper()
	require.NoError(b.t, b.Tenants.InTx(b.t.Context(), b.Acme.ID, func(ctx context.Context, tx *tenant.Tx) error {
		return tx.QueryRow(ctx, sql, append([]any{tx.Org}, args...)...).Scan(&n)
	}))
	return n
}

func status(t *testing.T, err error) int {
	t.Helper()
	var failed *greenhousetest.StatusError
	require.ErrorAs(t, err, &failed)
	return failed.Status
}

var harry = greenhousetest.Candidate{First: "Harry", Last: "Kane", Email: "harry@example.com", Application: 26234709}

// Together: parallel requests of one application invite one candidate, once.
func TestARetryStorm(t *testing.T) {
	b := newBench(t)
	s := b.greenhouse()
	var (
		group sync.WaitGroup
		mu    sync.Mutex
		found = map[string]int{}
		wrong []error
	)
	for range 12 {
		body := s.Body(b.role, harry)
		group.Go(func() {
			one, err := s.SendTest(body)
			mu.Lock()
			defer mu.Unlock()
			found[one]++
			wrong = append(wrong, err)
		})
	}
	group.Wait()
	require.NoError(t, errors.Join(wrong...))
	require.Len(t, found, 1)
	require.Len(t, b.candidates(), 1)
	require.Equal(t, 1, b.mails())
}

// Whoever has no key learns nothing, not even which connections there are.
func TestStrangers(t *testing.T) {
	b := newBench(t)
	s := b.greenhouse()
	good := s.Partner
	body := s.Body(b.role, harry)
	first, err := s.SendTest(body)
	require.NoError(t, err)
	raw := func(change func()) string {
		t.Helper()
		s.Partner, s.Key = good, ourKey
		change()
		_, err := s.SendTest(body)
		require.Equal(t, http.StatusUnauthorized, status(t, err))
		var failed *greenhousetest.StatusError
		require.ErrorAs(t, err, &failed)
		require.Equal(t, `Basic realm="ats"`, failed.Header.Get("WWW-Authenticate"))
		return failed.Body
	}
	other := b.connect("ashby", ourKey+":"+ashbyKey, nil)
	answers := map[string]bool{}
	for _, change := range []func(){
		func() { s.Key = "another-key-of-the-same-size" },
		func() { s.Key = "" },
		func() { s.Partner = b.URL + "/ats/" + id.NewConnection().String() + "." + b.Acme.ID.String() },
		func() { s.Partner = strings.ReplaceAll(good, b.Acme.ID.String(), b.Globex.ID.String()) },
		func() { s.Partner = strings.ReplaceAll(good, b.Acme.ID.String(), id.NewOrg().String()) },
		func() { s.Partner = b.URL + "/ats/none" },
		func() { s.Partner = b.URL + "/ats/greenhouse" },
		func() { s.Partner = b.URL + "/ats/ashby" },
		func() { s.Partner = other },
	} {
		answers[raw(change)] = true
	}
	require.Len(t, answers, 1, "%v", answers)

	// One address for everybody: the key says whose it is.
	s.Partner, s.Key = b.URL+"/ats/greenhouse", strings.TrimPrefix(good, b.URL+"/ats/")+"."+ourKey
	require.Less(t, len(s.Key), 171)
	again, err := s.SendTest(body)
	require.NoError(t, err)
	require.Equal(t, first, again)
	require.NotContains(t, b.log.String(), ourKey)
	require.NotContains(t, b.log.String(), harry.Email)
}

// The limit of an address is for strangers: a partner asks for all its customers from one, and whoever is
// there without a key does not hold them up.
func TestTheLimitOfAnAddress(t *testing.T) {
	const perAddress = 400
	b := newBench(t, func(o *apitest.Options) {
		o.PerAddress, o.TrustedProxies = perAddress, []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	})
	at := b.connect("greenhouse", ourKey, nil)
	ask := func(key string) int {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, at+"/list_tests", http.NoBody)
		require.NoError(t, err)
		req.SetBasicAuth(key, "")
		req.Header.Set("X-Forwarded-For", "192.0.2.7") // which nothing else in the test has
		resp, err := http.DefaultTransport.RoundTrip(req)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		return resp.StatusCode
	}
	for range perAddress + perAddress/4 { // fewer than the connection may
		require.Equal(t, http.StatusOK, ask(ourKey))
	}
	for range 3 * perAddress { // a minute may begin meanwhile
		if ask("a-key-of-nobody-at-all") == http.StatusTooManyRequests {
			require.Equal(t, http.StatusOK, ask(ourKey))
			return
		}
	}
	require.Fail(t, "strangers have no limit")
}

// What one connection sent another does not find.
func TestTwoConnections(t *testing.T) {
	b := newBench(t)
	s := b.greenhouse()
	instance, err := s.SendTest(s.Body(b.role, harry))
	require.NoError(t, err)
	s.Partner = b.connect("greenhouse", ourKey, map[string]any{"baseUrl": s.URL})
	_, err = s.TestStatus(instance)
	require.Equal(t, http.StatusNotFound, status(t, err))
	_, err = s.SendTest(s.Body(b.role, harry))
	require.Equal(t, http.StatusConflict, status(t, err), "the same person is in the role already")
	require.Len(t, b.candidates(), 1)
}

// Both keys open while one is replaced.
func TestAKeyIsRotated(t *testing.T) {
	b := newBench(t)
	s := b.greenhouse()
	_, err := s.ListTests()
	require.NoError(t, err)
	const next = "the-next-key-of-this-connection"
	short := b.CallAs(t, "rotateConnectionSecret", b.connection, b.Acme.New, map[string]any{"secret": "too-short"})
	apitest.RequireError(t, short, http.StatusBadRequest, "invalid_request", "body.secret")
	rotated := b.CallAs(t, "rotateConnectionSecret", b.connection, b.Acme.New, map[string]any{"secret": next, "graceS": 600})
	require.Equal(t, http.StatusOK, rotated.Status, "%s", rotated.Raw)
	b.forget(func() error { _, err := s.ListTests(); return err })
	s.Key = next
	require.Eventually(t, func() bool { _, err := s.ListTests(); return err == nil }, patience, step)
	rotated = b.CallAs(t, "rotateConnectionSecret", b.connection, b.Acme.New, map[string]any{"secret": "a-third-key-of-this-connection"})
	require.Equal(t, http.StatusOK, rotated.Status, "%s", rotated.Raw)
	require.Eventually(t, func() bool { _, err := s.ListTests(); return err != nil }, patience, step)
}

// The config is checked: roles are the organization's own, and the key of who sets it up may invite.
func TestTheConfig(t *testing.T) {
	b := newBench(t)
	theirs := b.Role(t, b.Globex, nil)
	for _, wrong := range []struct {
		param  string
		config map[string]any
		secret string
	}{
		{"body.config.roles.1", map[string]any{"roles": []any{b.role, theirs}}, ourKey},
		{"body.config.roles.0", map[string]any{"roles": []any{"av_1"}}, ourKey},
		{"body.config.profileUrl", map[string]any{"profileUrl": "https://people.example.com/"}, ourKey},
		{"body.config.profileUrl", map[string]any{"profileUrl": "https://{candidateId}.example.com/"}, ourKey},
		{"body.config.baseUrl", map[string]any{"baseUrl": "https://10.0.0.1"}, ourKey},
		{"body.config.more", map[string]any{"more": true}, ourKey},
		{"body.secret", nil, "short"},
		{"body.secret", nil, ourKey + ":two"},
		{"body.secret", nil, strings.Repeat("k", 111)},
	} {
		config := map[string]any{"roles": []any{b.role}, "profileUrl": profile}
		maps.Copy(config, wrong.config)
		answer := b.CallAs(t, "createConnection", "", b.Acme.New, map[string]any{"kind": "ats", "provider": "greenhouse", "name": "ATS", "secret": wrong.secret, "config": config})
		status, code := http.StatusBadRequest, "invalid_request"
		if wrong.param == "body.config.roles.1" { // which is not there
			status, code = http.StatusNotFound, "not_found"
		}
		apitest.RequireError(t, answer, status, code, wrong.param)
	}
	b.connect("greenhouse", ourKey, nil)
	weak := b.Key(b.Acme, scope.Grant{Contract: contract.V20261001, Scopes: []scope.Scope{scope.ConnectionsWrite, scope.CandidatesRead}})
	for operation, body := range map[string]map[string]any{
		"updateConnection":       {"enabled": false},
		"rotateConnectionSecret": {"secret": "another-key-of-our-own"},
	} {
		refused := b.CallAs(t, operation, b.connection, weak, body)
		message := apitest.RequireError(t, refused, http.StatusForbidden, "forbidden", "")
		require.Contains(t, message["message"], "candidates:write")
	}
	answer := b.CallAs(t, "updateConnection", b.connection, b.Acme.New, map[string]any{"config": map[string]any{"roles": []any{theirs}, "profileUrl": profile}})
	apitest.RequireError(t, answer, http.StatusNotFound, "not_found", "body.config.roles.0")
}

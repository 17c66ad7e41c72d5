package ats

import (
	"context"
	"net/http"
	"regexp"

	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/hiring/ats"
	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/provider/greenhouse"
	"visavis.dev/pkg/provider/upstream"
)

// refuseGreenhouse answers with a status, of which the documents name 401 and 404, and says why to
// whoever looks: the documents show no body.
func refuseGreenhouse(w http.ResponseWriter, _ string, r refused) {
	write(w, r.status, map[string]any{"status": r.status, "errors": []string{r.message}})
}

// listTests answers the tests: the roles that can be sent to now.
func (a *API) listTests(ctx context.Context, c *call) (any, error) {
	offered, err := a.desk().Offered(ctx, c.by, c.Now())
	if err != nil {
		return nil, err
	}
	tests := []greenhouse.Test{}
	for _, r := range offered {
		tests = append(tests, greenhouse.Test{ID: r.ID.String(), Name: name(c.by, r.Title)})
	}
	return tests, nil
}

// name is what a role is called there.
func name(by connection.Opened, title string) string {
	if by.Config.On("sandbox") {
		title += " (sandbox)"
	}
	return title
}

// sendTest invites a candidate. The same application again is answered the same.
func (a *API) sendTest(ctx context.Context, c *call) (any, error) {
	var in greenhouse.SendTest
	if err := c.read(&in); err != nil {
		return nil, err
	}
	if in.URL != "" && !c.by.Calls(in.URL) {
		return nil, problem.Invalid("body.url", "url is not where the connection's baseUrl is.")
	}
	sent, err := a.desk().Send(ctx, c.by, ats.Sent{
		Test: in.Test, Reference: in.Reference(), Name: in.Candidate.Name(), Email: in.Candidate.Email, Phone: in.Candidate.Phone, Callback: in.URL,
		Metadata: map[string]string{"atsProfileUrl": in.Candidate.ProfileURL},
	}, c.who())
	if err != nil {
		return nil, err
	}
	return greenhouse.Sent{Interview: sent.ID.String()}, nil
}

// testStatus answers where somebody stands.
func (a *API) testStatus(ctx context.Context, c *call) (any, error) {
	return a.desk().GreenhouseStatus(ctx, c.by, c.r.URL.Query().Get("partner_interview_id"), c.Now())
}

// calls are the names of requests that a malformed answer can be of.
var calls = regexp.MustCompile(`^[a-z_]{1,40}$`)

// responseError notes that an answer was malformed: with the connection's calls, and what was wrong with it in
// the log. Whose test it was is not logged.
func (a *API) responseError(_ context.Context, c *call) (any, error) {
	var in greenhouse.ResponseError
	if err := c.read(&in); err != nil {
		return nil, err
	}
	of := "other"
	if calls.MatchString(in.Call) {
		of = in.Call
	}
	a.Reporter.Report(c.by.Org, c.by.ID, connection.Outcome{At: c.Now(), Name: "response_error " + of, Code: upstream.Malformed})
	return map[string]any{"status": http.StatusOK}, nil
}

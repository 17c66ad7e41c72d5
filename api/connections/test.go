package connections

import (
	"context"

	"visavis.dev/api/route"
	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/provider/upstream"
	"visavis.dev/pkg/store/tenant"
)

// ConnectionTest is how trying a connection went.
type ConnectionTest struct {
	OK         bool           `json:"ok" doc:"Whether every step worked."`
	Steps      []TestStep     `json:"steps" doc:"In the order they were made; the first that fails is the last."`
	Connection Connection     `json:"connection" doc:"As the test left it."`
	Calendars  []TestCalendar `json:"calendars" doc:"The calendars of the account, of kind calendar; none of others."`
}

// TestCalendar is a calendar that a test found.
type TestCalendar struct {
	Calendar string `json:"calendar" doc:"What the server calls it: the value of a schedule's calendar.calendar."`
	Name     string `json:"name" doc:"What people call it."`
	Writable bool   `json:"writable" doc:"Whether appointments can be written into it, as far as the server says."`
}

// TestStep is a part of a test.
type TestStep struct {
	Name      string         `json:"name" doc:"What was asked for: address, and then answer, keys, speech, voices, tools, contacts, statements, assessments, account, message, calendars, transcription or rooms."`
	OK        bool           `json:"ok" doc:"Whether the step worked."`
	Ms        int64          `json:"ms" doc:"How long the step took, in milliseconds."`
	Error     *string        `json:"error" doc:"What went wrong, in words."`
	ErrorCode *upstream.Code `json:"errorCode" nullable:"true" enum:"timeout,truncated,refused,rate_limited,unavailable,rejected,malformed,address_refused" doc:"What went wrong; null for a step that worked."`
}

// test tries a connection before its transaction: a service may take its time.
func (a *API) test(ctx context.Context, c *route.Call, p *Path) (ConnectionTest, error) {
	if err := a.checkPlan(c); err != nil {
		return ConnectionTest{}, err
	}
	which, err := p.connection()
	if err != nil {
		return ConnectionTest{}, err
	}
	opened, err := connection.Open(ctx, a.Tenants, a.Vault, c.Org(), which, c.Now())
	if err != nil {
		return ConnectionTest{}, err
	}
	trial, err := connection.Trier{Egress: a.Egress, Clock: a.Clock, Tokens: a.Tokens}.Try(ctx, opened)
	if err != nil {
		return ConnectionTest{}, err
	}
	return route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (ConnectionTest, error) {
		after, err := connection.RecordTrial(ctx, tx, opened, trial, c.Now())
		return showTest(c, trial, after), err
	})
}

func showTest(c *route.Call, trial connection.Trial, after connection.Connection) ConnectionTest {
	shown := ConnectionTest{OK: trial.OK(), Connection: show(c, after), Calendars: []TestCalendar{}}
	for _, one := range trial.Calendars {
		shown.Calendars = append(shown.Calendars, TestCalendar{one.ID, one.Name, one.Writable})
	}
	for _, s := range trial.Steps {
		step := TestStep{Name: s.Name, OK: s.OK, Ms: s.Took.Milliseconds()}
		if s.Err != nil {
			text, code := s.Err.Error(), upstream.CodeOf(s.Err)
			step.Error, step.ErrorCode = &text, &code
		}
		shown.Steps = append(shown.Steps, step)
	}
	return shown
}

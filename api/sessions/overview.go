package sessions

import (
	"context"
	"net/http"
	"time"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/store/tenant"
)

// registerOverview declares the operations on all sessions at once.
func (a *API) registerOverview(s *route.Service, read route.Operation) {
	places := read
	places.ID, places.Path, places.Scope, places.Since = "getConcurrency", "/sessions/concurrency", "", since2026
	places.Summary = "How many sessions are live, and whether another can start"
	route.Handle(s, places, a.concurrency)

	figures := read
	figures.ID, figures.Path, figures.Class, figures.Since = "analyzeSessions", "/sessions/analytics", "search", since2026
	figures.Summary = "The figures of all sessions of a period"
	route.Handle(s, figures, a.analyzeAll)

	idle := read
	idle.ID, idle.Method, idle.Path, idle.Class, idle.Scope = "endIdleSessions", http.MethodPost, "/sessions/end-idle", "write", scope.SessionsWrite
	idle.Errors = []problem.Code{problem.NotFound}
	idle.Summary = "Reclaim the organization's dead or idle sessions"
	idle.Description = "Ends sessions in which nothing has happened for olderThanS seconds, never one in which somebody speaks: one that is connected counts as idle after 30 seconds at the soonest. At most 200 at a time."
	route.Handle(s, idle, a.endIdle)
}

// Concurrency is how many sessions are live and may be.
type Concurrency struct {
	Limit    *int64 `json:"limit" doc:"null for no limit"`
	Active   int64  `json:"active" doc:"Places that are taken: sessions that are live, and those a client may still come to."`
	Reserved int64  `json:"reserved" doc:"Of these, those whose client has not come."`
	CanStart bool   `json:"canStart" doc:"Whether another session could start now."`
}

func (a *API) concurrency(ctx context.Context, c *route.Call, _ *struct{}) (Concurrency, error) {
	active, reserved, err := session.Places(ctx, a.Tenants, c.Org())
	limit, limited := c.Principal.Terms.Limit(plan.MaxConcurrentSessions)
	return Concurrency{
		Limit: c.Principal.Terms.Limits[plan.MaxConcurrentSessions], Active: active, Reserved: reserved, CanStart: !limited || active < limit,
	}, err
}

// IdleInput is the request to reclaim sessions.
type IdleInput struct{ Body *IdleSessions }

// IdleSessions says which sessions to reclaim. A key that several people share
// should name theirs.
type IdleSessions struct {
	OlderThanS *int64 `json:"olderThanS,omitempty" minimum:"0" maximum:"86400" doc:"120 unless given."`
	PersonaID  string `json:"personaId,omitempty" maxLength:"80" nullable:"true" doc:"Only sessions with this persona; null for any."`
	ExternalID string `json:"externalId,omitempty" maxLength:"200" doc:"Only sessions with this id of your own system."`
	DryRun     bool   `json:"dryRun,omitempty" doc:"true ends nothing and answers what would end."`
}

// IdleEnded is what was reclaimed.
type IdleEnded struct {
	Ended []IdleSession `json:"ended" doc:"The sessions, longest idle first."`
	Count int           `json:"count" doc:"How many sessions were ended, or would be."`
}

// IdleSession is a session that was reclaimed.
type IdleSession struct {
	ID        id.Session     `json:"id" doc:"Id of the session, with the prefix sess_."`
	EndReason session.Reason `json:"endReason" enum:"concurrency_reclaimed" doc:"Why it ended: its place was reclaimed."`
	IdleS     int64          `json:"idleS" doc:"For how long nobody had said anything, in seconds."`
}

// defaultIdle is how long a session was idle to be reclaimed.
const defaultIdle = 120 * time.Second

func (a *API) endIdle(ctx context.Context, c *route.Call, in *IdleInput) (IdleEnded, error) {
	f := session.IdleFilter{Before: c.Now().Add(-defaultIdle), Now: c.Now()}
	dry := false
	if b := in.Body; b != nil {
		if b.OlderThanS != nil {
			f.Before = c.Now().Add(-time.Duration(*b.OlderThanS) * time.Second)
		}
		persona, err := parse(id.ParsePersona, "personaId", "persona", b.PersonaID)
		if err != nil {
			return IdleEnded{}, err
		}
		f.Persona, dry = persona, b.DryRun
		if b.ExternalID != "" {
			f.ExternalID = &b.ExternalID
		}
	}
	idle, err := session.IdleSince(ctx, a.Tenants, c.Org(), f)
	if err != nil {
		return IdleEnded{}, err
	}
	answer := IdleEnded{Ended: []IdleSession{}}
	for _, s := range idle {
		ended := dry
		if !dry {
			if ended, err = a.reclaim(ctx, c, s.ID, f); err != nil {
				return IdleEnded{}, err
			}
		}
		if ended {
			answer.Ended = append(answer.Ended, IdleSession{s.ID, session.ConcurrencyReclaimed, int64(c.Now().Sub(s.UsedAt()) / time.Second)})
		}
	}
	answer.Count = len(answer.Ended)
	return answer, nil
}

// reclaim ends a session unless somebody used it meanwhile.
func (a *API) reclaim(ctx context.Context, c *route.Call, which id.Session, f session.IdleFilter) (bool, error) {
	return route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (bool, error) {
		s, err := session.Lock(ctx, tx, which)
		if err != nil || !f.Idle(s) {
			return false, err
		}
		err = session.Reclaim(ctx, tx, which, c.Actor())
		return err == nil, err
	})
}

// PeriodQuery is a period.
type PeriodQuery struct {
	From      route.Moment `query:"from" doc:"Sessions created at or after this moment; thirty days ago unless given: an ISO date, midnight in UTC, or a date-time."`
	To        route.Moment `query:"to" doc:"Sessions created before this moment; now unless given: an ISO date, midnight in UTC, or a date-time."`
	PersonaID string       `query:"personaId" maxLength:"80" doc:"Only sessions with this persona."`
}

// PeriodFigures are the figures of a period's sessions.
type PeriodFigures struct {
	From          time.Time        `json:"from" doc:"Where the period begins, in UTC."`
	To            time.Time        `json:"to" doc:"Where the period ends, in UTC; the moment itself is not in it."`
	Sessions      int64            `json:"sessions" doc:"How many sessions there were."`
	Turns         int64            `json:"turns" doc:"How many turns were taken in all."`
	AverageS      *int64           `json:"averageS" doc:"How long a session lasted on average, in seconds; null where there were none."`
	Interruptions int64            `json:"interruptions" doc:"How many times the avatar was interrupted."`
	ResponseMs    Percentiles      `json:"responseMs" doc:"From the end of a question to the first words of its answer."`
	Answers       Answers          `json:"answers" doc:"How questions were met."`
	EndReasons    map[string]int64 `json:"endReasons" doc:"How many sessions ended for each reason."`
	Languages     map[string]int64 `json:"languages" doc:"How many sessions there were in each language, by code."`
}

// Answers counts how questions were met.
type Answers struct {
	Grounded int64 `json:"grounded" doc:"From the packs."`
	Gaps     int64 `json:"gaps" doc:"Not known."`
}

// longestPeriod bounds what is added up at once.
const longestPeriod = 92 * 24 * time.Hour

func (a *API) analyzeAll(ctx context.Context, c *route.Call, q *PeriodQuery) (PeriodFigures, error) {
	from, to := q.From.Time, q.To.Time
	if to.IsZero() {
		to = c.Now()
	}
	if from.IsZero() {
		from = to.AddDate(0, 0, -30)
	}
	if from.UTC().Year() < 1 || to.UTC().Year() > 9999 { // which no answer could show
		return PeriodFigures{}, problem.Invalid("query.to", "The period is outside the years 1 to 9999.")
	}
	if !from.Before(to) || to.Sub(from) > longestPeriod {
		return PeriodFigures{}, problem.Invalid("query.to", "to must be later than from, by at most 92 days.")
	}
	persona, err := route.QueryID(id.ParsePersona, "personaId", q.PersonaID)
	if err != nil {
		return PeriodFigures{}, err
	}
	o, err := session.Survey(ctx, a.Tenants, c.Org(), persona, from, to)
	return PeriodFigures{
		From: from.UTC(), To: to.UTC(), Sessions: o.Sessions, Turns: o.Turns, AverageS: o.AverageS, Interruptions: o.Interruptions,
		ResponseMs: Percentiles(o.Response), Answers: Answers{o.Grounded, o.Gaps}, EndReasons: o.EndReasons, Languages: o.Languages,
	}, err
}

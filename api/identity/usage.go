package identity

import (
	"context"
	"time"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/eventing/usage"
	"visavis.dev/pkg/sessions/recording"
	"visavis.dev/pkg/store/setting"
	"visavis.dev/pkg/store/tenant"
)

// Usage is an organization's session time in a period (spec, GET /usage).
type Usage struct {
	From          time.Time    `json:"from" doc:"Where the period begins, in UTC."`
	To            time.Time    `json:"to" doc:"Where the period ends, in UTC; the moment itself is not in it."`
	Plan          UsagePlan    `json:"plan" doc:"The organization's plan."`
	Unlimited     bool         `json:"unlimited" doc:"Whether the account has no count of minutes."`
	Minutes       Minutes      `json:"minutes" doc:"Minutes that were used, and that are left."`
	Sessions      Sessions     `json:"sessions" doc:"The period's sessions in sum."`
	ByDay         []DayUse     `json:"byDay" doc:"The same by day, oldest first."`
	ByKind        []KindUse    `json:"byKind" doc:"The same by kind of session."`
	ByPersona     []PersonaUse `json:"byPersona" doc:"The twenty personas used most."`
	HeldExpiresAt *time.Time   `json:"heldExpiresAt" doc:"When the minutes that are held are lost, in UTC; null where they are not."`
	Recordings    Kept         `json:"recordings" doc:"Recordings of sessions that are kept now, whatever the period."`
	Thresholds    []Threshold  `json:"thresholds" doc:"The warnings of the current calendar month (UTC), given and to come."`
}

// Threshold is a share of the minutes held, or of the monthly cap, at which what
// is left is warned of.
type Threshold struct {
	Percent   int64      `json:"percent" doc:"The share that is left when it is reached, in percent."`
	Kind      string     `json:"kind" enum:"held,cap" doc:"held for a share of the minutes that were bought, cap for one of the monthly cap."`
	ReachedAt *time.Time `json:"reachedAt" doc:"When usage.threshold was sent; null while it was not."`
}

// Kept is how many there are, and how large they are.
type Kept struct {
	Count int64 `json:"count" doc:"How many there are."`
	Bytes int64 `json:"bytes" doc:"How large they are together, in bytes."`
}

// UsagePlan names the plan.
type UsagePlan struct {
	Key  string `json:"key" doc:"The plan's name in requests and refusals."`
	Name string `json:"name" doc:"The plan's name for people."`
}

// Minutes are counts of minutes; all but used and sandbox are null for an
// unlimited account.
type Minutes struct {
	Used           float64  `json:"used" doc:"Minutes that sessions of the period were paid for with."`
	Held           *float64 `json:"held" doc:"Minutes that were bought and are not used yet; null for an unlimited account."`
	Left           *float64 `json:"left" doc:"Minutes that can still be used in the period, by what is held and by the monthly cap; null for an unlimited account."`
	Purchased      *float64 `json:"purchased" doc:"Minutes that were bought in the period; null for an unlimited account."`
	MonthlyCap     *float64 `json:"monthlyCap" doc:"How many minutes may be used in a month; null for no cap."`
	MonthlyCapLeft *float64 `json:"monthlyCapLeft" doc:"What of the monthly cap is left; null for no cap."`
	Sandbox        float64  `json:"sandbox" doc:"Minutes of sandbox sessions, which cost nothing."`
}

// Sessions sums up the sessions of the period.
type Sessions struct {
	Count          int64   `json:"count" doc:"How many sessions there were."`
	Minutes        float64 `json:"minutes" doc:"Minutes that they were paid for with."`
	AverageS       int64   `json:"averageS" doc:"How long a session lasted on average, in seconds."`
	PeakConcurrent int64   `json:"peakConcurrent" doc:"How many were live at once at most."`
}

// DayUse is one day's use, in UTC.
type DayUse struct {
	Date     string  `json:"date" format:"date" doc:"The day in UTC: 2026-10-01."`
	Sessions int64   `json:"sessions" doc:"How many sessions began on the day."`
	Minutes  float64 `json:"minutes" doc:"Minutes that were paid for on the day."`
}

// KindUse is the use by one kind of session.
type KindUse struct {
	Kind     string  `json:"kind" doc:"The kind of session: conversation, practice, assessment and so on."`
	Sessions int64   `json:"sessions" doc:"How many sessions of the kind there were."`
	Minutes  float64 `json:"minutes" doc:"Minutes that sessions of the kind were paid for with."`
}

// PersonaUse is the use by one persona.
type PersonaUse struct {
	PersonaID id.Persona `json:"personaId" doc:"The persona that was talked with."`
	Sessions  int64      `json:"sessions" doc:"How many sessions there were with it."`
	Minutes   float64    `json:"minutes" doc:"Minutes that sessions with the persona were paid for with."`
}

// UsageQuery is the period asked for.
type UsageQuery struct {
	From route.Moment `query:"from" doc:"ISO date or date-time; the start of this month (UTC) unless given."`
	To   route.Moment `query:"to" doc:"ISO date or date-time, exclusive; the start of next month (UTC) unless given."`
}

func (a *API) usage(ctx context.Context, c *route.Call, q *UsageQuery) (Usage, error) {
	from, to := usage.Month(c.Now())
	if !q.From.IsZero() {
		from = q.From.UTC()
	}
	if !q.To.IsZero() {
		to = q.To.UTC()
	}
	if !from.Before(to) {
		return Usage{}, problem.Invalid("query.to", "to must be later than from.")
	}
	r, err := usage.Of(ctx, a.Tenants, c.Org(), from, to, c.Now())
	if err != nil {
		return Usage{}, err
	}
	var (
		set  setting.Values
		kept recording.Kept
	)
	if err := a.Tenants.Read(ctx, c.Org(), func(r *tenant.Reads) {
		setting.QueueValues(r, c.Org(), setting.Place{}, &set)
		recording.QueueKept(r, c.Org(), &kept)
	}); err != nil {
		return Usage{}, err
	}
	shown := showUsage(r, set.Bound(c.Principal.Terms))
	shown.Recordings = Kept(kept)
	return shown, nil
}

func showUsage(r usage.Report, t plan.Terms) Usage {
	u := Usage{
		From: r.From, To: r.To, Plan: UsagePlan{t.Plan.Key, t.Plan.Name}, Unlimited: t.Plan.UnlimitedMinutes,
		Minutes:  Minutes{Used: minutes(r.UsedS), Sandbox: minutes(r.SandboxS)},
		Sessions: Sessions{Count: r.Sessions, Minutes: minutes(r.UsedS + r.SandboxS), PeakConcurrent: r.PeakConcurrent},
		ByDay:    []DayUse{}, ByKind: []KindUse{}, ByPersona: []PersonaUse{},
		Thresholds: showThresholds(r.Reached),
	}
	if r.Sessions > 0 {
		u.Sessions.AverageS = (r.UsedS + r.SandboxS) / r.Sessions
	}
	if !u.Unlimited {
		u.Minutes.limit(r.Minutes, t)
		u.HeldExpiresAt = r.Minutes.ExpiresAt
	}
	for _, d := range r.ByDay {
		u.ByDay = append(u.ByDay, DayUse{d.Date.Format(time.DateOnly), d.Sessions, minutes(d.Seconds)})
	}
	for _, k := range r.ByKind {
		u.ByKind = append(u.ByKind, KindUse{k.Key, k.Sessions, minutes(k.Seconds)})
	}
	for _, p := range r.ByPersona {
		u.ByPersona = append(u.ByPersona, PersonaUse{p.Key, p.Sessions, minutes(p.Seconds)})
	}
	return u
}

// showThresholds are all the thresholds there are, those that were reached and
// the others.
func showThresholds(reached []usage.Threshold) []Threshold {
	var shown []Threshold
	for _, kind := range []string{usage.Held, usage.Cap} {
		for _, percent := range usage.Percents {
			t := Threshold{Percent: percent, Kind: kind}
			for _, r := range reached {
				if r.Kind == kind && r.Percent == percent {
					t.ReachedAt = new(r.ReachedAt.UTC())
				}
			}
			shown = append(shown, t)
		}
	}
	return shown
}

// limit fills in what an account with prepaid minutes has.
func (m *Minutes) limit(have usage.Minutes, t plan.Terms) {
	held, left, purchased := minutes(have.HeldS), minutes(have.LeftS), minutes(have.PurchasedS)
	m.Held, m.Left, m.Purchased = &held, &left, &purchased
	if limit, limited := t.Limit(plan.MonthlyCapMinutes); limited {
		monthly, capLeft := float64(limit), max(float64(limit)-minutes(have.MonthS), 0)
		m.MonthlyCap, m.MonthlyCapLeft = &monthly, &capLeft
	}
}

// minutes of seconds, to a hundredth.
func minutes(s int64) float64 { return float64((s*100+30)/60) / 100 }

package report

import (
	"context"
	"encoding/json"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/learning/result"
	"visavis.dev/pkg/sessions/printed"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/store/tenant"
)

// Sources read what the reports of events say, from their rows as they are now: nothing of a
// result that is not released, and no words that may not be told.
func Sources(t *tenant.Tenants) map[event.Type]event.Source {
	return map[event.Type]event.Source{event.ReportProduced: source(t)}
}

func source(t *tenant.Tenants) event.Source {
	return func(ctx context.Context, e event.Event, words bool) (event.Detail, error) {
		var named struct {
			Report id.Report `json:"reportId"`
			Result id.Result `json:"resultId"`
		}
		if err := json.Unmarshal(e.Structure, &named); err != nil {
			return event.Detail{}, err
		}
		r, err := printed.Get(ctx, t, e.Org, named.Report)
		if errdefs.IsNotFound(err, printed.Noun) {
			return event.Detail{Standing: event.Gone}, nil
		}
		if err != nil {
			return event.Detail{}, err
		}
		if r.Kind != printed.OfResult {
			return event.Detail{ByAvatar: true}, nil
		}
		of, err := result.Get(ctx, t, e.Org, named.Result)
		if errdefs.IsNotFound(err, result.Noun) {
			return event.Detail{Standing: event.Gone}, nil
		}
		if err != nil || !of.Shown() {
			return event.Detail{}, err
		}
		d := event.Detail{Fields: of.Worth()}
		if words && r.Words {
			err = quote(ctx, t, e.Org, of, &d)
		}
		return d, err
	}
}

// quote adds what the scores rest on, where it may be told: the rationale of each, which the
// avatar wrote, and the learner's own words.
func quote(ctx context.Context, t *tenant.Tenants, org id.Org, of result.Result, to *event.Detail) error {
	s, err := session.Get(ctx, t, org, of.Session)
	if errdefs.IsNotFound(err, session.Noun) || err == nil && !s.WordsTold() {
		return nil
	}
	if err != nil {
		return err
	}
	looks, err := result.LooksAt(ctx, t, org, []result.Result{of})
	if err != nil {
		return err
	}
	quotes, feedback := []any{}, []any{}
	for _, k := range of.Criteria {
		line := map[string]any{"line": k.Rationale, "quote": nil}
		for i, q := range looks[of.ID].Words(k) {
			if i == 0 {
				line["quote"] = q
			}
			quotes = append(quotes, q)
		}
		if k.DecidedBy == result.ByAvatar {
			feedback = append(feedback, line)
		}
	}
	to.Fields["quotes"], to.Fields["feedback"], to.ByAvatar = quotes, feedback, len(feedback) > 0
	if s.Summary != nil {
		to.Fields["summary"], to.ByAvatar = *s.Summary, true
	}
	return nil
}

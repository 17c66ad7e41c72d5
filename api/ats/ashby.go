package ats

import (
	"context"
	"net/http"

	"visavis.dev/pkg/hiring/ats"
	"visavis.dev/pkg/hiring/candidate"
	"visavis.dev/pkg/provider/ashby"
)

// refuseAshby answers as the documents have it: assessment.start with 409 for who is assessed already, and
// with 422 and a message that people there read; the others with errors and without success.
func refuseAshby(w http.ResponseWriter, call string, r refused) {
	switch {
	case call == "assessment.start" && r.rule && r.duplicate:
		write(w, http.StatusConflict, ashby.Message{Message: r.message})
	case call == "assessment.start" && r.rule:
		write(w, http.StatusUnprocessableEntity, ashby.Message{Message: r.message})
	default:
		failure := ashby.Failure{Errors: []string{r.message}}
		failure.Info.Code, failure.Info.RequestID = r.code, r.request
		status := r.status
		if r.rule { // the request was understood
			status = http.StatusOK
		}
		write(w, status, failure)
	}
}

// list answers the assessments: the roles that candidates can be sent to now.
func (a *API) list(ctx context.Context, c *call) (any, error) {
	offered, err := a.desk().Offered(ctx, c.by, c.Now())
	if err != nil {
		return nil, err
	}
	all := []ashby.Assessment{}
	for _, r := range offered {
		all = append(all, ashby.Assessment{
			ID: ats.UUID(r.ID), Name: name(c.by, r.Title), Description: "An interview with an avatar, an AI. A person reads it, and releases what comes of it.",
		})
	}
	return ashby.Success{Success: true, Results: all}, nil
}

// start invites a candidate. The same application again is answered the same.
func (a *API) start(ctx context.Context, c *call) (any, error) {
	var in ashby.Start
	if err := c.read(&in); err != nil {
		return nil, err
	}
	sent, err := a.desk().Send(ctx, c.by, ats.Sent{
		Test: in.Assessment, Reference: in.Application.ID, Name: in.Name(), Email: in.Candidate.Email,
		Metadata: map[string]string{"atsProfileUrl": in.Candidate.ProfileURL, "atsCandidateId": in.Candidate.ID},
	}, c.who())
	if err != nil {
		return nil, err
	}
	return started(sent), nil
}

// cancel takes an invite back.
func (a *API) cancel(ctx context.Context, c *call) (any, error) {
	var in ashby.Cancel
	if err := c.read(&in); err != nil {
		return nil, err
	}
	cancelled, err := a.desk().Cancel(ctx, c.by, in.Assessment, c.who())
	if err != nil {
		return nil, err
	}
	return started(cancelled), nil
}

// started tells at once where a candidate stands.
func started(of candidate.Application) ashby.Success {
	update := ats.AshbyUpdate(of)
	return ashby.Success{Success: true, Results: ashby.Started{Assessment: ats.UUID(of.ID), Update: &update}}
}

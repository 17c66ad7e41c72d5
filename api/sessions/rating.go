package sessions

import (
	"context"
	"errors"
	"net/http"
	"slices"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/store/tenant"
)

func (a *API) registerRating(s *route.Service) {
	route.Handle(s, route.Operation{
		ID: "rateSession", Method: http.MethodPost, Path: "/sessions/{id}/rating", Group: group, Auth: route.Open, Since: contract.V20261001, FromPages: true,
		Errors:  []problem.Code{problem.NotFound, problem.Conflict, problem.CandidateInterview},
		Summary: "Rate a conversation, as the client that held it",
		Description: "Needs no key but the client's own token, in X-Session-Token: the resumeToken of the last session-ready message. " +
			"It serves for 24 hours after the end. A later rating replaces an earlier one. " +
			"Pages may ask, of the origins that the session is for.",
	}, a.rate)
}

// RatingInput is the request to rate.
type RatingInput struct {
	Path
	Token  string `header:"X-Session-Token" maxLength:"200" doc:"The session's token, as the client got it."`
	Origin string `header:"Origin" doc:"The page's origin, which browsers send."`
	Body   SessionRating
}

// SessionRating is what somebody thought of a conversation.
type SessionRating struct {
	Score   int64   `json:"score" minimum:"1" maximum:"5" doc:"The score; 5 is best."`
	Scale   int64   `json:"scale" enum:"2,5" doc:"The best score there is."`
	Comment *string `json:"comment,omitempty" maxLength:"2000" doc:"What there is to add, in the user's words."`
}

// rate tells nobody without the token that the session exists.
func (a *API) rate(ctx context.Context, c *route.Call, in *RatingInput) (Rating, error) {
	wanted, err := in.session()
	if err != nil {
		return Rating{}, err
	}
	b := in.Body
	org, admission, err := session.Admit(ctx, a.Tenants, wanted, session.Token(in.Token))
	if err == nil && (!admission.Staff.IsZero() || admission.Expired(c.Now())) {
		err = session.Noun.NotFound(wanted)
	}
	if err != nil {
		return Rating{}, asProblem(err)
	}
	if origins := admission.Session.AllowedOrigins; in.Origin != "" && (len(origins) == 0 || slices.Contains(origins, in.Origin)) {
		c.AllowOrigin(in.Origin)
	}
	if err := readable(admission.Session, "path.id"); err != nil {
		return Rating{}, err
	}
	if b.Score > b.Scale {
		return Rating{}, problem.Invalid("body.score", "score is at most scale.")
	}
	err = a.Tenants.InTx(ctx, org, func(ctx context.Context, tx *tenant.Tx) error {
		_, err := session.Rate(ctx, tx, wanted, session.Rating{Score: b.Score, Scale: b.Scale, Comment: b.Comment}, c.Now())
		return err
	})
	if errors.Is(err, session.ErrTooEarly) {
		err = problem.Conflicting("not_begun", "The session has not begun.").WithParam("path.id")
	}
	return Rating{b.Score, b.Scale}, asProblem(err)
}

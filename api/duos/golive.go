package duos

import (
	"context"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/personas/duo"
	"visavis.dev/pkg/store/tenant"
)

// GoLiveCheck is whether a duo can go live.
type GoLiveCheck struct {
	Ready    bool          `json:"ready" doc:"Whether the duo could go live as it is."`
	Problems []duo.Problem `json:"problems" doc:"What to change first."`
}

func (a *API) check(ctx context.Context, c *route.Call, p *Path) (GoLiveCheck, error) {
	wanted, err := p.duo()
	if err != nil {
		return GoLiveCheck{}, err
	}
	return route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (GoLiveCheck, error) {
		d, err := duo.Find(ctx, tx, wanted)
		if err != nil {
			return GoLiveCheck{}, err
		}
		state, err := duo.Check(ctx, tx, a.Library, d)
		problems := state.Problems()
		return GoLiveCheck{Ready: len(problems) == 0, Problems: problems}, err
	})
}

func (a *API) live(ctx context.Context, c *route.Call, p *Path) (Duo, error) {
	wanted, err := p.duo()
	if err != nil {
		return Duo{}, err
	}
	return route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (Duo, error) {
		before, err := duo.Lock(ctx, tx, wanted)
		if err != nil {
			return Duo{}, err
		}
		d, problems, err := duo.GoLive(ctx, tx, a.Library, before, c.Actor())
		switch {
		case err != nil:
			return Duo{}, err
		case len(problems) > 0:
			return Duo{}, problem.New(problem.GoLiveRefused, "The duo cannot go live yet; details.problems says why.").WithDetail("problems", problems)
		}
		return show(d), nil
	})
}

func (a *API) pause(ctx context.Context, c *route.Call, p *Path) (Duo, error) {
	wanted, err := p.duo()
	if err != nil {
		return Duo{}, err
	}
	return route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (Duo, error) {
		before, err := duo.Lock(ctx, tx, wanted)
		if err != nil {
			return Duo{}, err
		}
		d, err := duo.Pause(ctx, tx, before, c.Actor())
		return show(d), err
	})
}

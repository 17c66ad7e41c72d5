package class

import (
	"context"
	"slices"
	"time"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/learning/result"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/tenant"
)

// Did says whether the last change of a result is what somebody decides of it, and theirs: whoever
// sends a form twice did what they wished by the first. What is release, void, upheld or rejected;
// of other decisions it is false.
func Did(ctx context.Context, t *tenant.Tenants, org id.Org, by Visitor, which id.Result, what string) (bool, error) {
	r, err := result.Get(ctx, t, org, which)
	if errdefs.IsNotFound(err, result.Noun) || err == nil && r.Portal != by.Portal {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	action, target := "", which.String()
	switch {
	case what == "release" && r.State == result.Released:
		action = "result.released"
	case what == "void" && r.State == result.Voided:
		action = "result.voided"
	case what == result.Upheld || what == "rejected":
		looks, err := result.LooksAt(ctx, t, org, []result.Result{r})
		if err != nil {
			return false, err
		}
		if k := looks[which].Contest; k != nil && k.State == what {
			action, target = "contest.decided", k.ID.String()
		}
	}
	if action == "" {
		return false, nil
	}
	// A rule changes the result and enters what was done at one time.
	found, err := activity.List(ctx, t, org, activity.Filter{
		Action: action, TargetID: target, From: r.UpdatedAt, To: r.UpdatedAt.Add(time.Microsecond),
	}, nil, 10)
	return slices.ContainsFunc(found, func(e activity.Entry) bool { return e.Actor == by.Person.String() }), err
}

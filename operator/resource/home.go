package resource

import (
	"context"
	"errors"
	"time"

	"visavis.dev/pkg/directory"
	"visavis.dev/pkg/id"
)

// Rehomed says whether a resource of an organisation begins anew, since that one is gone
// and another has its name by now. noted is the id of the organisation that it has
// something in; empty for none. The error is a Refusal while that organisation lives:
// what is there would be left behind.
func Rehomed(ctx context.Context, d *directory.Directory, noted string, now id.Org, name string) (bool, error) {
	was, err := id.ParseOrg(noted)
	if err != nil || was == now {
		return false, nil //nolint:nilerr // nothing is noted
	}
	_, err = d.Organization(ctx, was)
	if errors.Is(err, directory.ErrUnknown) {
		return true, nil
	}
	if err == nil {
		refusal := Invalid("It has something in %s, and the Organisation %s is %s by now. Delete it and make it again.", was, name, now)
		refusal.After = time.Minute
		err = refusal
	}
	return false, err
}

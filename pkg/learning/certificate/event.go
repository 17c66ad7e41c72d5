package certificate

import (
	"context"
	"encoding/json"
	"strings"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/store/tenant"
)

// Links are where certificates can be seen.
type Links struct {
	// Pages is where the portals' pages are, without a path, and API the API's, without one.
	Pages, API string
}

// Verify is the page that says of a number whether it counts, which anybody may open.
func (l Links) Verify(n Number) string {
	return strings.TrimSuffix(l.Pages, "/") + VerifyPath + n.String()
}

// VerifyPath is what the paths of these pages begin with.
const VerifyPath = "/verify/"

// Sources read what events of certificates tell beside what was noted: where they can be
// seen now, and of those that are issued what the result is worth, if it is shown.
func Sources(t *tenant.Tenants, l Links) map[event.Type]event.Source {
	found := map[event.Type]event.Source{}
	for _, kind := range []event.Type{event.CertificateIssued, event.CertificateExpiring, event.CertificateExpired, event.CertificateRevoked} {
		found[kind] = func(ctx context.Context, e event.Event, _ bool) (event.Detail, error) { return l.detail(ctx, t, e) }
	}
	return found
}

func (l Links) detail(ctx context.Context, t *tenant.Tenants, e event.Event) (event.Detail, error) {
	var named struct {
		Certificate id.Certificate `json:"certificateId"`
	}
	if err := json.Unmarshal(e.Structure, &named); err != nil {
		return event.Detail{}, err
	}
	c, err := Get(ctx, t, e.Org, named.Certificate)
	switch {
	case errdefs.IsNotFound(err, Noun), err == nil && c.Person.IsZero() && e.Type != event.CertificateRevoked:
		return event.Detail{Standing: event.Gone}, nil
	case err != nil:
		return event.Detail{}, err
	}
	fields := map[string]any{"verifyUrl": l.Verify(c.Number)}
	if e.Type == event.CertificateIssued && c.Percent != nil {
		fields["percent"] = *c.Percent
		if c.Band != nil {
			fields["band"] = *c.Band
		}
	}
	return event.Detail{Fields: fields}, nil
}

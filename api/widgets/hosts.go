package widgets

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/personas/duo"
	"visavis.dev/pkg/personas/persona"
	"visavis.dev/pkg/portals/widget"
)

// hosts are the two of a duo that a widget shows, the left one first; none where one alone speaks. The edition differs between
// any two states of them.
func (a *API) hosts(ctx context.Context, c *route.Call, org id.Org, w widget.Widget, p persona.Persona) (hosts []ConfigHost, edition string, err error) {
	hosts = []ConfigHost{}
	if p.Kind != persona.OfDuo {
		return hosts, "", nil
	}
	d, err := duo.Get(ctx, a.Tenants, org, p.DuoID)
	if err != nil {
		return nil, "", err
	}
	sum := sha256.New()
	for _, seat := range []string{duo.Left, duo.Right} {
		for _, h := range d.Hosts {
			if h.Seat != seat {
				continue
			}
			layers, moves, err := a.layers(ctx, c, org, w, h.Avatar)
			if err != nil {
				return nil, "", err
			}
			_, _ = fmt.Fprintf(sum, "%q %q %s %s\n", h.Name, h.Role, h.Avatar, moves)
			hosts = append(hosts, ConfigHost{Seat: h.Seat, Role: h.Role, Name: h.Name, PictureURL: a.picture(c, w, h.Avatar), LayersURL: layers})
		}
	}
	return hosts, hex.EncodeToString(sum.Sum(nil)[:8]), nil
}

package memberships

import (
	"time"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/portals/person"
)

// PlaceInput is a place to be given to somebody.
type PlaceInput struct {
	PortalID   string            `json:"portalId" maxLength:"80" doc:"The portal to give a place in."`
	UnitID     *string           `json:"unitId,omitempty" maxLength:"80" nullable:"true" doc:"A unit of the portal; outside any unless given."`
	Role       person.Role       `json:"role" enum:"learner,manager,reviewer,teacher,staff,admin" doc:"What the person is to be there."`
	StartsAt   *time.Time        `json:"startsAt,omitempty" nullable:"true" doc:"From when it counts; null for at once."`
	EndsAt     *time.Time        `json:"endsAt,omitempty" nullable:"true" doc:"From when it no longer counts; null for never."`
	ExternalID *string           `json:"externalId,omitempty" maxLength:"200" nullable:"true" doc:"The place's id in your own system, which finds it again; null for none."`
	Metadata   map[string]string `json:"metadata,omitempty" doc:"20 keys of 40 characters at most, with values of 500."`
}

// Place reads the input; at is where it stands in the body.
func (in PlaceInput) Place(at string) (person.Place, error) {
	p := person.Place{Role: in.Role, StartsAt: in.StartsAt, EndsAt: in.EndsAt, ExternalID: in.ExternalID, Metadata: in.Metadata}
	var err error
	if p.Portal, err = id.ParsePortal(in.PortalID); err != nil {
		return p, problem.Missing("portal").WithParam(at + "portalId")
	}
	if in.UnitID != nil {
		if p.Unit, err = id.ParseUnit(*in.UnitID); err != nil {
			return p, problem.Missing("unit of the portal").WithParam(at + "unitId")
		}
	}
	if err := checkTimes(at, p.StartsAt, p.EndsAt); err != nil {
		return p, err
	}
	return p, route.CheckMetadata(in.Metadata)
}

func checkTimes(at string, starts, ends *time.Time) error {
	for name, moment := range map[string]*time.Time{"startsAt": starts, "endsAt": ends} {
		if moment == nil {
			continue
		}
		if err := route.CheckTime(at+name, *moment); err != nil {
			return err
		}
	}
	return nil
}

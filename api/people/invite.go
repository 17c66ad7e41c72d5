package people

import (
	"errors"

	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/visits/signin"
)

// inviteProblem says why nobody is invited.
func inviteProblem(err error) error {
	r, ok := errors.AsType[*signin.Refusal](err)
	if !ok {
		return err
	}
	conflict := func(why string) error {
		return problem.Conflicting(string(r.Code), "%s", why).WithParam("body.sendInvite")
	}
	switch r.Code {
	case signin.NoMail:
		return conflict("This deployment sends no mail. Whoever operates it sets mail-url.")
	case signin.NotPublished:
		return conflict("The portal is not published.")
	case signin.DoorClosed:
		return conflict("An invitation goes by the door members_link, which is closed. PUT /portals/{id}/doors/members-link opens it.")
	case signin.EmailRequired:
		return problem.Invalid("body.email", "An invitation is sent to an e-mail address.")
	}
	return r.Problem()
}

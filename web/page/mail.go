package page

import (
	"net/http"
	"net/url"
)

// askForLink mails a link to the member who has an address, and says that it is on
// its way if there is one.
func (v *view) askForLink(given url.Values) error {
	e := v.entry(DoorMembersLink, given)
	err := v.check(e)
	if err == nil {
		err = v.h.Doors.Ask(v.r.Context(), v.site, e)
	}
	if err != nil {
		return v.notIn(refusalOf(err, "link"), err, v.about, DoorMembersLink, given)
	}
	s := v.sheet("signin")
	s.Message = s.Say("mail.sent")
	return v.show(http.StatusOK, "message", s)
}

// linkPage is where mailed links lead. It shows a button and does nothing by itself:
// programs that look through mail open every link in it, and this one opens once. The
// token stands behind the "#", so that no server's log has it.
func (v *view) linkPage() error {
	return v.page("/link", "link", func() *sheet { return v.sheet("signin") })
}

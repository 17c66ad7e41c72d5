package page

import (
	"net/http"
	"strings"

	"visavis.dev/pkg/portals/portal/published"
)

// Who understands what is said in a conversation, as Conversations.Hears answers it.
const (
	HearsServer = "server" // a service that the organization has connected
	HearsClient = "client" // the browser, if it can
)

// inputCheck asks for the check of microphone and sound before a conversation.
const inputCheck = "check"

// checkPath is where scripts are told what the check needs.
const checkPath = "/check"

// check is what the script of the check of microphone and sound is told once somebody opens it.
type check struct {
	Hears string            `json:"hears"`
	Words map[string]string `json:"words"`
}

// soundCheck tells a script what the check of microphone and sound needs.
func (v *view) soundCheck(site *published.Site) {
	hears, err := v.h.Conversations.Hears(v.r.Context(), site)
	if err != nil {
		v.refuseScript(err)
		return
	}
	v.answer(http.StatusOK, check{hears, v.speech.under("check.", "mic.title", "mic.replaced", "sound.volume")})
}

// checks says whether a request wishes for the check before the conversation.
func (v *view) checks() bool {
	return v.r.URL.Query().Get(inputCheck) != "" || v.r.PostForm.Get(inputCheck) != ""
}

// checked is a path within the portal with the wish for the check, if there is one.
func checked(path string, wished bool) string {
	if !wished {
		return path
	}
	before := "?"
	if strings.Contains(path, before) {
		before = "&"
	}
	return path + before + inputCheck + "=1"
}

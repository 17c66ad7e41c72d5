package page

import (
	"encoding/json"
	"slices"
	"strings"

	"visavis.dev/pkg/personas/persona"
	"visavis.dev/pkg/portals/portal/published"
)

// hostBody is a host of a duo as a page's script shows them.
type hostBody struct {
	Seat string `json:"seat"`
	Role string `json:"role"`
	Name string `json:"name"`
	// Portrait is where the picture is, and Face where the living face is; empty where there is only the picture.
	Portrait string `json:"portrait"`
	Face     string `json:"face"`
}

// hostsAt are the hosts who speak at a site, whose pictures and faces are under a path; none where one alone speaks.
func (v *view) hostsAt(site *published.Site, page string) []hostBody {
	var told []hostBody
	for _, h := range site.Speaker.Hosts {
		alone := as(site, h)
		told = append(told, hostBody{
			Seat: h.Seat, Role: h.Role, Name: h.Name, Portrait: page + "/portrait/" + h.Seat + "?" + h.Avatar.Bare(),
			Face: v.livingAt(alone, page+livingPrefix+h.Seat+"/"),
		})
	}
	return told
}

// hostsPath is hostsAt of the page's site, as JSON; empty where one alone speaks.
func (v *view) hostsPath() (string, error) {
	hosts := v.hostsAt(v.site, v.base)
	if hosts == nil {
		return "", nil
	}
	text, err := json.Marshal(hosts)
	return string(text), err
}

// as is a site where a host of a duo speaks alone: for their picture and their face.
func as(site *published.Site, h persona.Host) *published.Site {
	alone := *site
	alone.Speaker.Avatar, alone.Speaker.Hosts = h.Avatar, nil
	return &alone
}

// take has the page be about the host alone whose seat a path begins with, if it does, and returns the rest of the path:
// 512.png of left/512.png.
func (v *view) take(path string) (string, error) {
	seat, rest, deeper := strings.Cut(path, "/")
	if !deeper {
		return path, nil
	}
	return rest, v.sit(seat)
}

// sit has the page be about the host in a seat alone.
func (v *view) sit(seat string) error {
	i := slices.IndexFunc(v.site.Speaker.Hosts, func(h persona.Host) bool { return h.Seat == seat })
	if i < 0 {
		return errNoPage
	}
	v.site = as(v.site, v.site.Speaker.Hosts[i])
	return nil
}

package ltitest

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/golang-jwt/jwt/v5"
)

const (
	membersScope = "https://purl.imsglobal.org/spec/lti-nrps/scope/contextmembership.readonly"
	membersType  = "application/vnd.ims.lti-nrps.v2.membershipcontainer+json"
	membersClaim = "https://purl.imsglobal.org/spec/lti-nrps/claim/namesroleservice"
	role         = "http://purl.imsglobal.org/vocab/lis/v2/membership#"
)

// Member is somebody in a course (NRPS 2.0, section 2.3).
type Member struct {
	User   string   `json:"user_id"`
	Name   string   `json:"name,omitempty"`
	Email  string   `json:"email,omitempty"`
	Status string   `json:"status,omitempty"`
	Roles  []string `json:"roles"`
}

// Learns is a learner of a course.
func Learns(user, name string) Member {
	return Member{User: user, Name: name, Email: user + "@example.com", Status: "Active", Roles: []string{role + "Learner"}}
}

// Teaches is somebody who teaches a course.
func Teaches(user, name string) Member {
	return Member{User: user, Name: name, Email: user + "@example.com", Status: "Active", Roles: []string{role + "Instructor"}}
}

// course is one whose members are listed.
type course struct {
	members []Member
	// perPage is how many are on a page, whatever is asked for; 0 for what is asked for.
	perPage int
	reads   int
	fault   http.HandlerFunc
}

// Enroll makes members those of a course.
func (p *Platform) Enroll(name string, members ...Member) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.at(name).members = members
}

func (p *Platform) at(name string) *course {
	if p.courses[name] == nil {
		p.courses[name] = &course{}
	}
	return p.courses[name]
}

// PerPage has lists of a course be on pages of so many.
func (p *Platform) PerPage(name string, n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.at(name).perPage = n
}

// Answers has the list of a course be answered otherwise; nil as it should be.
func (p *Platform) Answers(name string, by http.HandlerFunc) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.at(name).fault = by
}

// Listed counts how many pages of the list of a course were read.
func (p *Platform) Listed(name string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.at(name).reads
}

// From makes a launch one from a course whose members may be read.
func (p *Platform) From(c jwt.MapClaims, name string) {
	Set(c, "context", map[string]any{"id": name, "label": "C", "title": "Course " + name})
	c[membersClaim] = map[string]any{"context_memberships_url": p.MembersOf(name), "service_versions": []string{"2.0"}}
}

// MembersOf is where the list of a course is.
func (p *Platform) MembersOf(name string) string {
	return p.URL + "/courses/" + name + "/members?tenant=1"
}

// members lists who is in a course, page by page (NRPS 2.0, section 2.4).
func (p *Platform) members(w http.ResponseWriter, r *http.Request) {
	token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	p.mu.Lock()
	c := p.at(r.PathValue("course"))
	c.reads++
	allowed, all, perPage, fault := p.tokens[token] == membersScope, c.members, c.perPage, c.fault
	p.mu.Unlock()
	q := r.URL.Query()
	from, _ := strconv.Atoi(q.Get("from"))
	switch limit, err := strconv.Atoi(q.Get("limit")); {
	case !allowed:
		w.WriteHeader(http.StatusUnauthorized)
		return
	case r.Header.Get("Accept") != membersType, q.Get("tenant") != "1", from < 0, from > len(all), err != nil:
		w.WriteHeader(http.StatusBadRequest)
		return
	case fault != nil:
		fault(w, r)
		return
	case perPage == 0:
		perPage = limit
	}
	page := all[from:min(from+perPage, len(all))]
	if from+perPage < len(all) {
		q.Set("from", strconv.Itoa(from+perPage))
		w.Header().Add("Link", fmt.Sprintf(`<%s/courses/%s/members?since=1>; rel="differences", <%s%s?%s>; rel="next"`, p.URL, r.PathValue("course"), p.URL, r.URL.Path, q.Encode()))
	}
	w.Header().Set("Content-Type", membersType)
	answer(w, http.StatusOK, map[string]any{
		"id": p.MembersOf(r.PathValue("course")), "context": map[string]any{"id": r.PathValue("course"), "title": "Course"}, "members": page,
	})
}

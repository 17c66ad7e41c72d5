package inbox

import (
	"context"
	"net/http"
	"time"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/portals/person"
	"visavis.dev/pkg/sessions/inbox"
	"visavis.dev/pkg/store/tenant"
)

func (a *API) registerTeam(s *route.Service) {
	list := route.Operation{
		ID: "listInboxTeam", Group: group, Method: http.MethodGet, Path: "/inbox/team", Class: "read", Scope: scope.InboxRead, Since: contract.V20261001,
		Summary: "Who of your people deals with items, and when they are there",
		Description: "Rules that assign items in turn pass over who is away, outside their hours, or gone. Somebody whom a rule names and who is not listed is " +
			"there at any time.",
	}
	route.List(s, list, a.listTeam)

	set := list
	set.ID, set.Method, set.Path, set.Class, set.Scope = "setInboxTeamMember", http.MethodPut, "/inbox/team/{id}", "write", scope.InboxWrite
	set.Errors = []problem.Code{problem.Gone, problem.Conflict}
	set.Summary, set.Description = "Say when somebody is there, and of which departments they are", "What is left out is as if it had never been given. The reason of 409 conflict: too_many_members past 200. "+
		"Who joins needs a mail address: where a visitor of a live conversation asks for a person, those who are there, of the hand-off's department if any is, are mailed a link each, by "+
		"which they take over in a browser. Where nobody who joins is there, the visitor is told so at once."
	route.Handle(s, set, a.setMember)

	remove := set
	remove.ID, remove.Method, remove.Errors = "removeInboxTeamMember", http.MethodDelete, nil
	remove.Summary, remove.Description = "Take somebody out of the list", "Items that they deal with stay theirs."
	route.Handle(s, remove, a.removeMember)
}

// MemberPath names somebody of the team.
type MemberPath struct {
	ID string `path:"id" doc:"The person's id, with or without per_."`
}

func (p *MemberPath) person() (id.Person, error) {
	return route.Lookup(id.ParsePerson, p.ID, "person")
}

// InboxTeamMember is somebody who deals with items.
type InboxTeamMember struct {
	PersonID    id.Person                    `json:"personId" doc:"The person, one of GET /people."`
	There       bool                         `json:"there" doc:"Whether they get items in turn now."`
	Away        bool                         `json:"away" doc:"Whether they said that they are away."`
	AwayUntil   *time.Time                   `json:"awayUntil" doc:"When they are back, in UTC; null for until they say so."`
	Departments []string                     `json:"departments" doc:"The departments that they are of."`
	Hours       route.OrNull[InboxTeamHours] `json:"hours" doc:"When they work; null for at any time."`
	Joins       bool                         `json:"joins" doc:"Whether they are mailed a link into conversations whose visitors wait for a person, while they are there."`
	UpdatedAt   time.Time                    `json:"updatedAt" doc:"When that was last said, in UTC."`
}

// InboxTeamHours are when somebody works.
type InboxTeamHours struct {
	Timezone string          `json:"timezone" minLength:"1" maxLength:"60" doc:"The time zone of the hours, such as Europe/Berlin."`
	Hours    []ScheduleHours `json:"hours" maxItems:"70" doc:"Hours of every week, which do not overlap."`
}

func showMember(c *route.Call, m inbox.Member) InboxTeamMember {
	shown := InboxTeamMember{
		PersonID: m.Person, There: m.There(c.Now()), Away: m.Away, AwayUntil: route.UTC(m.AwayUntil), Departments: append([]string{}, m.Departments...),
		Joins: m.Joins, UpdatedAt: m.UpdatedAt.UTC(),
	}
	if m.Week != nil {
		shown.Hours.Value = &InboxTeamHours{m.Week.Timezone, showHours(m.Week.Hours)}
	}
	return shown
}

func (a *API) listTeam(ctx context.Context, c *route.Call, q *route.Paging) (route.Page[InboxTeamMember], error) {
	return route.Listed(c, *q, func(after id.Person, limit int) ([]inbox.Member, error) {
		return inbox.Members(ctx, a.Tenants, c.Org(), after, limit)
	}, func(m inbox.Member) id.Person { return m.Person }, func(m inbox.Member) InboxTeamMember { return showMember(c, m) })
}

// MemberInput is the request to say when somebody is there.
type MemberInput struct {
	MemberPath
	Body InboxTeamMemberInput
}

// InboxTeamMemberInput is when somebody is there.
type InboxTeamMemberInput struct {
	Away        bool            `json:"away,omitempty" doc:"Whether they are away; false unless given."`
	AwayUntil   *time.Time      `json:"awayUntil,omitempty" nullable:"true" doc:"When they are back, within a year; until they say so unless given."`
	Departments []string        `json:"departments,omitempty" maxItems:"20" doc:"The departments that they are of, of at most 200 characters each."`
	Hours       *InboxTeamHours `json:"hours,omitempty" doc:"When they work; at any time unless given."`
	Joins       bool            `json:"joins,omitempty" doc:"Whether they are mailed a link into conversations whose visitors wait for a person, while they are there; false unless given. The key needs sessions:write."`
}

func (a *API) setMember(ctx context.Context, c *route.Call, in *MemberInput) (InboxTeamMember, error) {
	which, err := in.person()
	if err != nil {
		return InboxTeamMember{}, err
	}
	if in.Body.Joins && !c.Principal.Key.Grant().Holds(scope.SessionsWrite) {
		// As who makes the way in by hand: what was said is read in the conversation.
		return InboxTeamMember{}, problem.New(problem.Forbidden, "This key lacks the scope %s, which joins needs.", scope.SessionsWrite).WithParam("body.joins")
	}
	m := inbox.Member{Person: which, Away: in.Body.Away, Departments: []string{}, Joins: in.Body.Joins}
	if in.Body.AwayUntil != nil {
		m.AwayUntil = new(in.Body.AwayUntil.UTC().Truncate(time.Microsecond))
	}
	departments, err := names("departments", in.Body.Departments, longestDepartment)
	if err != nil {
		return InboxTeamMember{}, err
	}
	m.Departments = append(m.Departments, departments...)
	if h := in.Body.Hours; h != nil {
		m.Week = weekOf(h.Timezone, h.Hours)
	}
	return route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (InboxTeamMember, error) {
		// Held, so that nobody who is erased meanwhile is entered after it.
		if _, err := person.Lock(ctx, tx, which); err != nil {
			return InboxTeamMember{}, err
		}
		err := m.Save(ctx, tx, c.Actor())
		return showMember(c, m), err
	})
}

func (a *API) removeMember(ctx context.Context, c *route.Call, p *MemberPath) (route.Deleted, error) {
	which, err := p.person()
	if err != nil {
		return route.Deleted{}, err
	}
	return route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (route.Deleted, error) {
		found, err := inbox.RemoveMember(ctx, tx, which)
		if err == nil && !found {
			err = inbox.MemberNoun.NotFound(which)
		}
		c.Actor().Log(tx, "inbox_member.removed", "person", which, nil)
		return route.Deleted{Deleted: true, ID: which.String()}, err
	})
}

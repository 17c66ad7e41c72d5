package connections

import (
	"context"
	"net/http"
	"time"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/learning/course"
	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/store/tenant"
)

func (a *API) registerCourses(s *route.Service) {
	route.List(s, route.Operation{
		ID: "listConnectionCourses", Group: "Connections", Scope: scope.ConnectionsRead, Class: "read", Since: contract.V20261001,
		Method: http.MethodGet, Path: "/connections/{id}/courses", Errors: []problem.Code{problem.Gone},
		Summary: "The courses of a learning platform whose members are read",
		Description: "A course is here once somebody who teaches it came by a launch that says where its members are listed; none of connections that are no " +
			"learning platform's. Its members are in unitId, a class of the portal.",
	}, a.courses)
	route.Handle(s, route.Operation{
		ID: "readCourse", Group: "Connections", Scope: scope.ConnectionsWrite, AndScope: scope.PeopleWrite, Class: "write", Since: contract.V20261001,
		Method: http.MethodPost, Path: "/courses/{id}/read", Status: http.StatusAccepted, Idempotent: true,
		Summary: "Read the members of a course now",
		Description: "Where errorCode is list_shrank, the list left out so many of the class that they stay in it. confirmDepartures says that this is right: " +
			"whom the next list leaves out leaves the class.",
	}, a.readCourse)
}

// ConnectionCourse is a course of a learning platform.
type ConnectionCourse struct {
	ID         id.Course  `json:"id" doc:"Id of the course, with the prefix crs_."`
	PlatformID string     `json:"platformId" doc:"What the platform calls the course (the id of its context)."`
	Title      string     `json:"title" doc:"What people call the course there."`
	PortalID   id.Portal  `json:"portalId" doc:"The portal that is opened from it."`
	UnitID     *id.Unit   `json:"unitId" nullable:"true" doc:"The class with its members; null until they were read."`
	Members    int64      `json:"members" doc:"How many are in the class by the list."`
	Kept       int64      `json:"kept" doc:"How many the last list left out who stay in the class until that is confirmed."`
	ErrorCode  *string    `json:"errorCode" doc:"Why the last reading did not come to its end: disabled (the connection is switched off), platform_changed (the connection is another platform's or portal's by now), portal_closed, too_large, or the code of the call, such as unavailable; or what was left out: list_shrank, age_required or people_limit. null for nothing."`
	Failures   int64      `json:"consecutiveFailures" doc:"How many readings in a row did not come to their end."`
	ReadAt     *time.Time `json:"readAt" doc:"When a reading last came to its end, in UTC; null for never."`
	NextAt     *time.Time `json:"nextAt" doc:"When it is read next, in UTC; null while it is not read any more: until somebody who teaches it comes, or the connection changes."`
	CreatedAt  time.Time  `json:"createdAt" doc:"When somebody who teaches it first came, in UTC."`
}

func showCourse(c course.Shown) ConnectionCourse {
	shown := ConnectionCourse{
		ID: c.ID, PlatformID: c.Context, Title: c.Title, PortalID: c.Portal, Members: c.Members, Kept: c.Kept, ErrorCode: orNull(c.Trouble), Failures: c.Failures,
		ReadAt: route.UTC(c.ReadAt), CreatedAt: c.CreatedAt.UTC(),
	}
	if !c.Unit.IsZero() {
		shown.UnitID = &c.Unit
	}
	if !c.Job.IsZero() {
		shown.NextAt = route.UTC(&c.DueAt)
	}
	return shown
}

// CoursesQuery pages the courses of a connection.
type CoursesQuery struct {
	Path
	route.Paging
}

func (a *API) courses(ctx context.Context, c *route.Call, q *CoursesQuery) (route.Page[ConnectionCourse], error) {
	return route.Listed(c, q.Paging, func(after id.Course, limit int) ([]course.Shown, error) {
		which, err := q.connection()
		if err != nil {
			return nil, err
		}
		if _, err := connection.Get(ctx, a.Tenants, c.Org(), which); err != nil {
			return nil, err
		}
		return course.List(ctx, a.Tenants, c.Org(), which, after, limit)
	}, func(s course.Shown) id.Course { return s.ID }, showCourse)
}

// CourseReadInput is the request for a reading.
type CourseReadInput struct {
	ID   string `path:"id" doc:"The course's id, with or without crs_."`
	Body CourseRead
}

// CourseRead says how the list of a course is to be read.
type CourseRead struct {
	ConfirmDepartures bool `json:"confirmDepartures,omitempty" doc:"Whether whom the list leaves out leaves the class however many they are; false unless given."`
}

func (a *API) readCourse(ctx context.Context, c *route.Call, in *CourseReadInput) (ConnectionCourse, error) {
	if err := a.checkPlan(c); err != nil {
		return ConnectionCourse{}, err
	}
	which, err := route.Lookup(id.ParseCourse, in.ID, "course")
	if err != nil {
		return ConnectionCourse{}, err
	}
	return route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (ConnectionCourse, error) {
		found, err := course.Ask(ctx, tx, which, in.Body.ConfirmDepartures, c.Actor())
		return showCourse(found), err
	})
}

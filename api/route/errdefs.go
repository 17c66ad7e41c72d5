package route

import (
	"errors"
	"strings"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/managed"
	"visavis.dev/pkg/base/patch"
	"visavis.dev/pkg/base/problem"
)

// ofRules answers what the rules return (package errdefs): nil for another error, and for
// what is not there although the caller did not ask for it, which is no caller's fault. An
// id that stands in the path is named as the input at fault; where it stands elsewhere a
// handler says so with [At].
func (c *Call) ofRules(err error) *problem.Problem {
	p, id := problemOf(err)
	if p == nil || p.Param != "" {
		return p
	}
	p.Param = c.pathParam(id)
	if p.Param == "" && (p.Code == problem.NotFound || p.Code == problem.Gone) {
		return nil
	}
	return p
}

// At answers that what an input names is not there or cannot be used so. Another error it
// answers as it is.
func At(err error, param string) error {
	p, _ := problemOf(err)
	if p == nil || p.Param != "" {
		return err
	}
	return p.WithParam(param)
}

// problemOf is the problem that an error of a rule is to a caller, and the id it is about.
func problemOf(err error) (p *problem.Problem, id string) {
	if e, ok := errors.AsType[errdefs.NotFound](err); ok {
		return problem.Missing(string(e.Noun)), e.ID
	}
	if e, ok := errors.AsType[errdefs.Gone](err); ok {
		return problem.New(problem.Gone, "The %s was %s.", e.Noun, e.Participle()), e.ID
	}
	if e, ok := errors.AsType[errdefs.Archived](err); ok {
		return problem.Conflicting("archived", "The %s is archived, so it cannot be changed any more.", e.Noun), e.ID
	}
	if e, ok := errors.AsType[*errdefs.Conflict](err); ok {
		p := problem.Conflicting(e.Reason, "%s", e.Message)
		for name, value := range e.Details {
			p = p.WithDetail(name, value)
		}
		return p, e.ID
	}
	if e, ok := errors.AsType[*managed.Error](err); ok {
		return problem.Managed(string(e.Noun), e.By.String()), e.ID
	}
	if e, ok := errors.AsType[*errdefs.Invalid](err); ok {
		if e.Absent != "" {
			return problem.Missing(string(e.Absent)).WithParam("body." + e.Field), ""
		}
		return problem.Invalid("body."+e.Field, "%s %s.", e.Field, e.Message), ""
	}
	if e, ok := errors.AsType[*patch.Error](err); ok {
		return problem.Invalid("body."+e.Path, "%v.", e), ""
	}
	return nil, ""
}

// pathParam is the form of param that names an id of the path, with its prefix or without;
// empty where the id does not stand there.
func (c *Call) pathParam(id string) string {
	if id == "" || c.Op == nil {
		return ""
	}
	_, bare, _ := strings.Cut(id, "_")
	names, values := strings.Split(c.Op.Path, "/"), strings.Split(strings.TrimPrefix(c.request.URL.Path, BasePath), "/")
	if len(names) != len(values) {
		return ""
	}
	for i, name := range names {
		if strings.HasPrefix(name, "{") && (values[i] == id || values[i] == bare) {
			return "path." + strings.Trim(name, "{}")
		}
	}
	return ""
}

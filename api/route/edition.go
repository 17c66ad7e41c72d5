package route

import (
	"strconv"
	"strings"

	"visavis.dev/pkg/base/problem"
)

// Edition is how the caller of a PATCH says which version it changes (Errors,
// version_conflict). Beside the header, bodies have baseVersion.
type Edition struct {
	IfMatch string `header:"If-Match" maxLength:"200" doc:"The ETag of the version to change: \"3\". Another version is 409 version_conflict."`
}

// Check refuses a change of another version than the one there is. base is the
// body's baseVersion, nil when it was not sent.
func (e Edition) Check(current int64, base *int64) error {
	if base != nil && *base != current {
		return versionConflict("body.baseVersion", current)
	}
	if e.IfMatch == "" {
		return nil
	}
	for tag := range strings.SplitSeq(e.IfMatch, ",") {
		switch tag = strings.TrimSpace(tag); {
		case tag == "*" || tag == etag(current):
			return nil
		case !strings.HasPrefix(tag, `"`) || !strings.HasSuffix(tag, `"`) || len(tag) < 2:
			return problem.Invalid("header.If-Match", `If-Match takes an ETag with its quotes, such as "3".`)
		}
	}
	return versionConflict("header.If-Match", current)
}

func versionConflict(param string, current int64) error {
	return problem.New(problem.VersionConflict, "The version there is now is %d. Read it and make the change again.", current).
		WithParam(param).WithDetail("currentVersion", current)
}

// SetVersion gives the answer the ETag of a version.
func (c *Call) SetVersion(v int64) { c.SetHeader("ETag", etag(v)) }

func etag(v int64) string { return strconv.Quote(strconv.FormatInt(v, 10)) }

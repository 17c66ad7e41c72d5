package job

// Share is which of the jobs somebody makes. Those that read documents and pages take the
// memory and time that strangers' documents take, and can be left to processes of their
// own.
type Share string

// The shares.
const (
	Whole   Share = ""
	Reading Share = "reading"
	Rest    Share = "rest"
)

// reading are the kinds that read documents or pages.
var reading = []Kind{KnowledgeSync, PortalFill, PortalPlan}

// takes are two parameters of a query: whether the share has the reading kinds, and
// whether it has the others.
func (s Share) takes() (readingToo, othersToo bool) { return s != Rest, s != Reading }

package job

import (
	"slices"
)

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

// of are those of some kinds that are in the share.
func (s Share) of(kinds []Kind) []Kind {
	return slices.DeleteFunc(slices.Clone(kinds), func(k Kind) bool {
		return s == Reading && !slices.Contains(reading, k) || s == Rest && slices.Contains(reading, k)
	})
}

// Every kind waits in one line. The quick ones are steps of a moment. The heavy ones are
// prepared outside their transaction: those that compute take processor time and memory
// for themselves, those that ask wait for other servers most of the time, those that tell
// wait for customers' systems, which can be away for days, those that list what such systems have
// wait beside these, so that no list keeps what is to be told waiting, and those that read a document
// whose file is here wait for processors, which are bounded where it is read. What joins a
// recording reads and writes files, and waits with them. Of the reading
// kinds, jobs that get pages of a site wait in a line of their own (see Fetching): a site can
// take minutes to answer.
var (
	quick     = []Kind{AssignmentProgress, CalendarSend, CandidateErase, ConnectionResume, Erase, HiringMail, InboxForget, InboxMail, MailSend, UnitSwitch, WebhookRecover}
	computing = []Kind{AvatarPrepare, CandidateScore, Export, PeopleImport, ReportBuild, SubjectSync}
	documents = []Kind{KnowledgeSync, RecordingJoin}
	asking    = []Kind{KnowledgeEmbed, MemoryWrite, PortalFill, PortalPlan, ResultScore, Simulate, Translate, VoiceClone, VoiceRemove}
	listing   = []Kind{ConnectionRead, CourseRead}
	telling   = []Kind{ATSTell, CalendarRead, CalendarWrite, ConnectionSync, CRMSend, GradeSend, InboxTell, StatementSend}
)

// Heavy says whether the kind's steps are prepared outside their transaction.
// Such jobs wait in lines of their own, so that those that are quick pass them. A
// mail is prepared too, but in a moment, and somebody waits for it.
func (k Kind) Heavy() bool { return slices.Contains(heavy(), k) }

func heavy() []Kind { return slices.Concat(computing, documents, asking, listing, telling) }

// Fetching is embedded in the inputs of the reading kinds.
type Fetching struct {
	// Fetches says that the job gets pages of a site: it waits in line with such jobs only.
	Fetches bool `json:"fetches,omitempty"`
}

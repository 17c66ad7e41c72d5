package results

import (
	"context"
	"net/http"
	"time"

	"github.com/google/uuid"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/learning/mastery"
	"visavis.dev/pkg/learning/transcript"
	"visavis.dev/pkg/portals/person"
)

func (a *API) registerPeople(s *route.Service) {
	list := route.Operation{
		ID: "listPersonMastery", Group: "Results", Method: http.MethodGet, Path: "/people/{id}/mastery", Class: "read", Scope: scope.ResultsRead,
		Items: contract.MasteryItem, Since: contract.V20261001, Summary: "How well a person masters the objectives of subjects, the newest subject first",
		Description: "It follows from what their practices and their assessments that are released show: an objective that is practiced is learned, and " +
			"one that is not is forgotten with the time. A question or a criterion whose key is an objective's, or begins with that and an underscore, " +
			"shows something of it; others show something of all of the subject's.",
	}
	route.List(s, list, a.listMastery)

	record := list
	record.ID, record.Path, record.Items = "listPersonTranscript", "/people/{id}/transcript-of-record", contract.TranscriptEntryItem
	record.Summary = "What a person has to show: completions, released assessments and certificates, newest first"
	record.Description = "What was withdrawn, has expired or was revoked is there too, and says so. Results that are not released are not, nor are practices."
	route.List(s, record, a.listTranscript)
}

// PersonPageQuery names a person, and pages something of them.
type PersonPageQuery struct {
	ID string `path:"id" doc:"The person's id, with or without per_."`
	route.Paging
}

// known finds the person of a path.
func (a *API) known(ctx context.Context, c *route.Call, text string) (id.Person, error) {
	who, err := route.Lookup(id.ParsePerson, text, "person")
	if err != nil {
		return who, err
	}
	_, _, err = person.Get(ctx, a.Tenants, c.Org(), who, c.Now())
	return who, err
}

// Mastery is how well a person masters the objectives of a subject.
type Mastery struct {
	PersonID   id.Person          `json:"personId" doc:"Who."`
	SubjectID  id.Subject         `json:"subjectId" doc:"Of what."`
	Objectives []MasteryObjective `json:"objectives" doc:"Its objectives of which something was shown, by their keys."`
}

// MasteryObjective is how well an objective is mastered.
type MasteryObjective struct {
	Key           string        `json:"key" doc:"The objective's key."`
	Level         mastery.Level `json:"level" enum:"none,emerging,secure,strong" doc:"mastery in a word: emerging from 0.3, secure from 0.7, strong from 0.85."`
	Mastery       float64       `json:"mastery" doc:"How likely it is mastered now, from 0 to 1."`
	UpdatedAt     time.Time     `json:"updatedAt" doc:"When something was shown of it last, in UTC."`
	DueAt         *time.Time    `json:"dueAt" doc:"When it is to be practiced again, in UTC; null where nothing is known of it."`
	EvidenceCount int64         `json:"evidenceCount" doc:"How many results show something of it."`
}

// MasteryQuery names a person, and filters and pages what they master.
type MasteryQuery struct {
	PersonPageQuery
	SubjectID string `query:"subjectId" maxLength:"80" doc:"Of this subject alone."`
}

func (a *API) listMastery(ctx context.Context, c *route.Call, q *MasteryQuery) (route.Page[Mastery], error) {
	who, err := a.known(ctx, c, q.ID)
	if err != nil {
		return route.Page[Mastery]{}, err
	}
	return route.Listed(c, q.Paging, func(after id.Subject, limit int) ([]Mastery, error) {
		of, err := route.QueryID(id.ParseSubject, "subjectId", q.SubjectID)
		if err != nil {
			return nil, err
		}
		rows, err := mastery.OfPerson(ctx, a.Tenants, c.Org(), who, of, after, limit)
		return bySubject(rows, c.Now()), err
	}, func(m Mastery) id.Subject { return m.SubjectID }, func(m Mastery) Mastery { return m })
}

// bySubject puts the objectives of each subject together, which stand beside each other.
func bySubject(rows []mastery.Objective, now time.Time) (all []Mastery) {
	for _, o := range rows {
		if len(all) == 0 || all[len(all)-1].SubjectID != o.Subject {
			all = append(all, Mastery{PersonID: o.Person, SubjectID: o.Subject})
		}
		of := &all[len(all)-1]
		of.Objectives = append(of.Objectives, MasteryObjective{
			Key: o.Key, Level: o.LevelAt(now), Mastery: o.At(now), UpdatedAt: o.EvidenceAt.UTC(), DueAt: route.UTC(o.DueAt), EvidenceCount: o.Evidence,
		})
	}
	return all
}

// TranscriptEntry is something that a person has to show.
type TranscriptEntry struct {
	Kind      string     `json:"kind" enum:"completion,result,certificate" doc:"What it is."`
	ID        string     `json:"id" doc:"Its id: of a completion, a result or a certificate."`
	SubjectID id.Subject `json:"subjectId" doc:"What it is of."`
	PortalID  id.Portal  `json:"portalId" doc:"The subject's portal."`
	Title     string     `json:"title" doc:"What the subject is called; of a certificate, what stands on it."`
	At        time.Time  `json:"at" doc:"When it was completed, sat or issued, in UTC."`
	State     string     `json:"state" enum:"valid,expiring,expired,withdrawn,revoked,released,contested" doc:"valid, expired or withdrawn of a completion; released or contested of a result; valid, expiring, expired or revoked of a certificate."`
	Until     *time.Time `json:"until" doc:"Until when it counts, in UTC; null for ever, and of a result."`
	Percent   *float64   `json:"percent" doc:"What a result is worth, in percent; null of others."`
	Band      *string    `json:"band" enum:"fail,pass,merit,distinction" nullable:"true" doc:"That in a word; null where nobody can fail."`
	Passed    *bool      `json:"passed" doc:"Whether it passed; null as band is."`
	Number    *string    `json:"number" doc:"The number of a certificate; null of others."`
}

func (a *API) listTranscript(ctx context.Context, c *route.Call, q *PersonPageQuery) (route.Page[TranscriptEntry], error) {
	who, err := a.known(ctx, c, q.ID)
	if err != nil {
		return route.Page[TranscriptEntry]{}, err
	}
	return route.Listed(c, q.Paging, func(after uuid.UUID, limit int) ([]transcript.Entry, error) {
		return transcript.List(ctx, a.Tenants, c.Org(), who, c.Now(), after, limit)
	}, func(e transcript.Entry) uuid.UUID { return e.ID }, func(e transcript.Entry) TranscriptEntry {
		return TranscriptEntry{
			Kind: e.Kind, ID: e.Shown(), SubjectID: e.Subject, PortalID: e.Portal, Title: e.Title, At: e.At.UTC(), State: e.State, Until: route.UTC(e.Until),
			Percent: e.Percent, Band: e.Band, Passed: e.Passed, Number: e.PrintedNumber(),
		}
	})
}

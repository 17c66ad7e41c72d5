package ats

import (
	"math"
	"time"

	"visavis.dev/pkg/hiring/candidate"
	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/provider/ashby"
	"visavis.dev/pkg/provider/greenhouse"
)

// labels are what people read of standings.
var labels = map[candidate.Standing]string{
	candidate.StandsInvited: "Invited", candidate.StandsOpened: "Opened", candidate.StandsStarted: "Started", candidate.StandsInReview: "In review",
	candidate.StandsExpired: "Expired", candidate.StandsReopened: "Reopened", candidate.StandsComplete: "Complete", candidate.StandsCancelled: "Cancelled",
}

// advice is what a score is told with.
const advice = "Percent of the points. A program's advice, released by a person who has read the interview."

// score is what a system is told of an interview that a person has released; nil for nothing.
func score(a *candidate.Application) *float64 {
	if a.Percent == nil {
		return nil
	}
	return new(math.Round(*a.Percent*10) / 10)
}

// greenhouseStatus is where somebody stands, as test_status answers it. Once it is complete it
// never changes; where nobody could say then what is told, there is a page and no score.
func greenhouseStatus(by connection.Opened, a candidate.Application) greenhouse.Status {
	s := greenhouse.Status{Status: string(a.Standing), Metadata: map[string]any{
		"Status": labels[a.Standing], "Invited at": moment(a.CreatedAt), "Since": moment(a.StandingAt),
	}}
	if a.Standing != candidate.StandsComplete {
		return s
	}
	s.Status, s.ProfileURL, s.Score = greenhouse.Complete, a.ProfileURL, score(&a)
	if s.ProfileURL == nil {
		s.ProfileURL = new(by.Config.ProfileURL(a.Candidate))
	}
	s.Metadata["Released by a person"] = true
	if s.Score != nil {
		s.Metadata["Score"] = advice
		if a.Band != nil {
			s.Metadata["Band"] = *a.Band
		}
	}
	return s
}

func moment(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// AshbyUpdate is where somebody stands, as assessment.update is told it: the same whenever it is told of
// the same standing. Where nobody could say what is told of who is complete, there is no result.
func AshbyUpdate(a candidate.Application) ashby.Update {
	u := ashby.Update{Assessment: UUID(a.ID), Timestamp: a.StandingAt.UnixMilli()}
	if a.Standing == candidate.StandsCancelled {
		u.Cancelled = &ashby.Value{Identifier: "cancelled", Label: "Cancelled", Type: "string", Value: "The invite was cancelled, or the candidate withdrew."}
		return u
	}
	u.Status = &ashby.Value{Identifier: "status", Label: "Status", Type: "string", Value: labels[a.Standing]}
	if a.Standing != candidate.StandsComplete || a.ProfileURL == nil {
		return u
	}
	u.ProfileURL = &ashby.Value{Identifier: "profile", Label: "Interview", Type: "url", Value: *a.ProfileURL}
	u.Result = &ashby.Value{Identifier: "result", Label: "Result", Description: "There is no score.", Type: "string", Value: "Released by a person"}
	if percent := score(&a); percent != nil {
		u.Result = &ashby.Value{Identifier: "score", Label: "Score", Description: advice, Type: "numeric_score", Value: *percent}
		if a.Band != nil {
			u.Metadata = append(u.Metadata, ashby.Value{Identifier: "band", Label: "Band", Type: "string", Value: *a.Band})
		}
	}
	return u
}

package page

import (
	"net/http"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/learning/transcript"
)

// recordBody is the page's own of what somebody masters and has to show.
type recordBody struct {
	Mastery []mastered
	Entries []entryBody
	Next    string
}

// mastered is what somebody masters of a subject.
type mastered struct {
	Subject    string
	Objectives []objectiveBody
}

// objectiveBody is an objective with how well it is mastered, in a word.
type objectiveBody struct {
	Text  phrase
	Level string
	Due   *moment
}

// entryBody is something to show.
type entryBody struct {
	Kind, Title, State, Outcome, Number string
	At, Until                           *moment
	// PDF, Badge and Verify are of a certificate that counts.
	PDF, Badge, Verify string
}

func (v *view) record() error {
	found, err := v.h.Learning.Record(v.r.Context(), v.site, v.secret, v.after())
	if err != nil {
		return err
	}
	s := v.sheet("record.title")
	body := recordBody{Next: v.more("/record", found.Next), Mastery: v.mastered(&found)}
	for _, e := range found.Entries {
		body.Entries = append(body.Entries, v.shownEntry(&found, e))
	}
	s.Body = body
	return v.show(http.StatusOK, "record", s)
}

func (v *view) mastered(found *Record) (all []mastered) {
	var last id.Subject
	for _, o := range found.Mastery {
		of, there := v.site.Subject(o.Subject)
		if !there {
			continue
		}
		if len(all) == 0 || last != o.Subject {
			all, last = append(all, mastered{Subject: v.titled(of)}), o.Subject
		}
		named := objectiveBody{Level: v.Say("mastery." + string(o.LevelAt(found.Now))), Due: found.day(o.DueAt), Text: v.objective(o.Subject, o.Key)}
		all[len(all)-1].Objectives = append(all[len(all)-1].Objectives, named)
	}
	return all
}

// objective is what an objective of a subject is called.
func (v *view) objective(about id.Subject, key string) phrase {
	if of, there := v.site.Subject(about); there {
		for _, k := range of.Definition.Objectives {
			if text := v.text(k.Text); k.Key == key && text.Text != "" {
				return text
			}
		}
	}
	return phrase{Text: key, Direction: "auto"}
}

func (v *view) shownEntry(found *Record, e transcript.Entry) entryBody {
	made := entryBody{Kind: v.Say("entry." + e.Kind), Title: e.Title, State: v.Say("entry." + e.State), At: found.day(&e.At), Until: found.day(e.Until)}
	if e.Passed != nil {
		made.Outcome = v.Say("result.failed")
		if *e.Passed {
			made.Outcome = v.Say("result.passed")
		}
	}
	if number := e.PrintedNumber(); number != nil {
		made.Number = *number
		if verify := found.Verify[e.Shown()]; verify != "" {
			made.PDF, made.Badge, made.Verify = v.at("/certificates/"+e.Shown()+"/pdf"), v.at("/certificates/"+e.Shown()+"/badge"), verify
		}
	}
	return made
}

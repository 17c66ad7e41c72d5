package page

import (
	"math"
	"slices"
	"strconv"

	"visavis.dev/pkg/portals/portal/published"
	"visavis.dev/pkg/portals/subject"
)

// welcomeBody is the first page's own.
type welcomeBody struct {
	Welcome  phrase
	Subjects []card
	Begin    begin
}

// card is a subject to choose.
type card struct {
	ID, Title, Kind, Minutes string
	Intro                    phrase
}

// begin is how a conversation is begun from a page: signed in, at once, after
// coming in, or not from here.
type begin struct {
	// Subject is what it is about; empty for anything.
	Subject, Label string
	Way            string
}

// The ways of begin.
const (
	beginNow    = "now"     // who is signed in goes to the conversation
	beginPress  = "press"   // the visitors' door asks nothing: one press comes in
	beginSignIn = "sign-in" // there is a form first
	beginLink   = "link"    // a personal link opens the portal
	beginClosed = "closed"
)

// begin says how a conversation is begun here.
func (v *view) begin(about *published.Subject) begin {
	b := begin{Label: v.Say("talk"), Way: v.way()}
	if about != nil {
		b.Subject, b.Label = about.ID.String(), v.Say("talk_about")
	}
	return b
}

func (v *view) way() string {
	doors := v.site.Doors
	visitors, open := doors[DoorVisitors]
	_, byCode := doors[DoorJoinCode]
	_, byMail := doors[DoorMembersLink]
	_, bySSO := doors[DoorSSO]
	switch {
	case v.visit != nil:
		return beginNow
	case open && len(visitors.Requires) == 0 && v.ageAsked(DoorVisitors) == 0 && !byCode && !byMail && !bySSO:
		return beginPress
	case open, byCode, byMail, bySSO:
		return beginSignIn
	case len(doors) > 0:
		return beginLink
	}
	return beginClosed
}

func (v *view) welcome() *sheet {
	s := v.sheet("home")
	s.Title = s.Brand.Text
	body := welcomeBody{Welcome: v.text(v.site.Definition.Pages.Welcome), Begin: v.begin(nil)}
	s.Preview = v.preview("/", body.Welcome)
	for _, each := range v.site.Subjects {
		body.Subjects = append(body.Subjects, v.card(each))
	}
	s.Body = body
	return s
}

func (v *view) card(s published.Subject) card {
	return card{
		ID: s.ID.String(), Title: v.titled(&s), Kind: v.Say("kind." + string(s.Kind)), Minutes: v.minutes(s.Definition.DurationS),
		Intro: v.text(s.Content.Intro),
	}
}

// minutes is how long a subject takes; empty where nobody said.
func (v *view) minutes(seconds *int64) string {
	if seconds == nil {
		return ""
	}
	return v.Say("minutes", strconv.Itoa(int(math.Ceil(float64(*seconds)/60))))
}

// subjectBody is a subject's page's own.
type subjectBody struct {
	Card       card
	Objectives []phrase
	Sections   []section
	Begin      begin
}

// section is a part of what is taught.
type section struct {
	Title, Body phrase
	KeyPoints   []phrase
	Media       []medium
}

// medium is something to look at: a picture that the portal has a copy of, or what is
// elsewhere, since pages load nothing that is not their own.
type medium struct {
	Kind, URL string
	// Picture is the address of the portal's own copy; empty for none.
	Picture string
	Alt     phrase
}

// subject shows a subject. What is asked or played stays the avatar's secret.
func (v *view) subject(name string) error {
	found, err := v.named(name)
	if err != nil || found == nil {
		return errNoPage
	}
	return v.page("/s/"+found.ID.String(), "subject", func() *sheet {
		s := v.sheet("home")
		body := subjectBody{Card: v.card(*found), Begin: v.begin(found)}
		s.Title = v.titled(found)
		s.Preview = v.preview("/s/"+found.ID.String(), body.Card.Intro, v.text(v.site.Definition.Pages.Welcome))
		for _, o := range found.Definition.Objectives {
			body.Objectives = append(body.Objectives, v.text(o.Text))
		}
		for _, part := range found.Content.Sections {
			body.Sections = append(body.Sections, v.section(part))
		}
		s.Body = body
		return s
	})
}

func (v *view) section(part subject.Section) section {
	made := section{Title: v.text(part.Title), Body: v.text(part.Body)}
	for _, point := range part.KeyPoints {
		made.KeyPoints = append(made.KeyPoints, v.text(point))
	}
	for _, m := range part.Media {
		if !webAddress(m.URL) || !slices.Contains([]string{"image", "video", "link"}, m.Kind) {
			continue
		}
		shown := medium{Kind: v.Say("media." + m.Kind), URL: m.URL, Alt: v.text(m.Alt)}
		if m.Kind == "image" {
			shown.Picture = v.pictureAt(m.URL)
		}
		if shown.Alt.Text == "" && shown.Picture == "" {
			shown.Alt = phrase{Text: m.URL, Direction: "ltr"}
		}
		made.Media = append(made.Media, shown)
	}
	return made
}

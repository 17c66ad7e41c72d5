package pagetest

import (
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/language"
	"visavis.dev/pkg/personas/avatar"
	"visavis.dev/pkg/portals/portal"
	"visavis.dev/pkg/portals/portal/published"
	"visavis.dev/pkg/portals/subject"
	"visavis.dev/web/page"
)

// Sample is a site with something of everything, at /p/harbour and harbour.example.com.
func Sample(library *avatar.Library) *published.Site {
	return &published.Site{
		Org: id.NewOrg(), Portal: id.NewPortal(), Kind: portal.Learning, Slug: "harbour", Host: "harbour.example.com",
		Stamp: published.Stamp{Page: 1, Persona: 1}, Name: "Harbour school",
		Speaker: published.Speaker{Name: "Amara", Avatar: library.Faces()[0].ID, Disclosure: language.Words{
			"en": "I am an AI, not a person. What I say can be wrong.", "de": "Ich bin eine KI, kein Mensch. Was ich sage, kann falsch sein.",
			"ar": "أنا ذكاء اصطناعي ولست إنسانًا. قد أخطئ فيما أقول.",
		}},
		Definition: portal.Definition{
			Languages: []string{"en", "de", "fr", "ar"}, DefaultLanguage: "en",
			Brand: portal.Brand{Accent: "#0b7a6f", Dark: "auto"},
			Pages: portal.Pages{
				Title: language.Words{"en": "Harbour school", "de": "Hafenschule", "fr": "École du port", "ar": "مدرسة الميناء"},
				Welcome: language.Words{
					"en": "Learn the ropes before you cast off. **Amara** explains, asks and lets you practise, at your own pace.",
					"de": "Lernen Sie die Leinen kennen, bevor Sie ablegen. **Amara** erklärt, fragt und übt mit Ihnen, in Ihrem Tempo.",
					"fr": "Apprenez les nœuds avant de larguer les amarres. **Amara** explique, interroge et vous fait pratiquer, à votre rythme.",
					"ar": "تعلّم الأساسيات قبل أن تبحر. **أمارا** تشرح وتسأل وتتدرّب معك، على مهلك.",
				},
				Footer: language.Words{"en": "Harbour school, Pier 4 · [Contact](https://example.com/contact)"},
			},
			Privacy: portal.Privacy{AINotice: true, PrivacyURL: new("https://example.com/privacy"), TermsURL: new("https://example.com/terms")},
		},
		Doors:    map[string]published.Door{page.DoorVisitors: Open(page.DoorVisitors)},
		Subjects: []published.Subject{knots(), weather(), radio()},
	}
}

func knots() published.Subject {
	return published.Subject{
		ID: id.NewSubject(), Title: "Knots that hold", Kind: subject.Course,
		Definition: subject.Definition{DurationS: new(int64(900)), Objectives: []subject.Objective{
			{Key: "loop", Text: language.Words{"en": "Tie a loop that does not slip", "de": "Eine Schlaufe knüpfen, die nicht rutscht"}},
			{Key: "cleat", Text: language.Words{"en": "Make a line fast on a cleat", "de": "Eine Leine auf einer Klampe belegen"}},
		}},
		Content: subject.Content{
			Title: language.Words{"de": "Knoten, die halten"},
			Intro: language.Words{
				"en": "Three knots are enough for most of what happens between a boat and a pier.",
				"de": "Drei Knoten reichen für das meiste, was zwischen Boot und Steg geschieht.",
				"ar": "ثلاث عقد تكفي لمعظم ما يحدث بين القارب والرصيف.",
			},
			Sections: []subject.Section{
				{
					Key: "bowline", Title: language.Words{"en": "The bowline", "de": "Der Palstek"},
					Body: language.Words{
						"en": "A bowline makes a **loop that does not slip** and can always be untied.\n\n1. Lay a small loop.\n2. Bring the end up through it.\n3. Go around behind the standing part, and down again.\n\n> The rabbit comes out of the hole, round the tree, and back down the hole.\n\n| Line | Strength left |\n| --- | --- |\n| Polyester | 60 % |\n| Nylon | 65 % |",
						"de": "Ein Palstek macht eine **Schlaufe, die nicht rutscht** und sich immer lösen lässt.",
					},
					KeyPoints: []language.Words{
						{"en": "It holds under load.", "de": "Er hält unter Last."},
						{"en": "It cannot be untied under load.", "de": "Unter Last lässt er sich nicht lösen."},
					},
					Media: []subject.Media{{Kind: "video", URL: "https://example.com/bowline", Alt: language.Words{"en": "How a bowline is tied", "de": "Wie man einen Palstek knüpft"}}},
				},
				{
					Key: "cleat", Title: language.Words{"en": "The cleat hitch", "de": "Belegen auf der Klampe"},
					Body: language.Words{"en": "Once around, then a figure of eight, then one turned hitch. More does not hold better.", "de": "Einmal herum, dann eine Acht, dann ein Kopfschlag."},
				},
			},
			Ending: subject.Ending{Message: language.Words{"en": "Well done. Take a piece of line with you and keep tying.", "de": "Gut gemacht. Nehmen Sie ein Stück Leine mit."}},
		},
	}
}

func weather() published.Subject {
	return published.Subject{
		ID: id.NewSubject(), Title: "Reading the weather", Kind: subject.Topic,
		Content: subject.Content{Intro: language.Words{"en": "What clouds, wind and the barometer tell of the next six hours, and when to stay in the harbour."}},
	}
}

func radio() published.Subject {
	return published.Subject{
		ID: id.NewSubject(), Title: "A call for help on the radio", Kind: subject.Practice,
		Definition: subject.Definition{DurationS: new(int64(300))},
		Content:    subject.Content{Intro: language.Words{"en": "You are on watch and something goes wrong. Say what must be said, in the right order."}},
	}
}

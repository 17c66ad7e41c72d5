package mailer

import (
	"embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io/fs"
	"path"
	"strings"
	"time"

	"golang.org/x/text/language"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/mail"
)

//go:embed strings/*.json mail.html reply.html
var files embed.FS

// fallback is the language of who reads none of those that mails are written in.
const fallback = "en"

// phrases are what mails say, by language and by the name of what is said.
var phrases = func() map[string]map[string]string {
	all := map[string]map[string]string{}
	names, err := fs.Glob(files, "strings/*.json")
	if err != nil {
		panic(err) // a fault of the program, which every test finds
	}
	for _, name := range names {
		text, err := files.ReadFile(name)
		var s map[string]string
		if err == nil {
			err = json.Unmarshal(text, &s)
		}
		if err != nil {
			panic(fmt.Errorf("mailer: %s: %w", name, err)) // likewise
		}
		all[strings.TrimSuffix(path.Base(name), ".json")] = s
	}
	return all
}()

var page = template.Must(template.ParseFS(files, "mail.html", "reply.html"))

// htmlMail is a mail as its HTML shows it.
type htmlMail struct {
	Language, Direction              string
	Greeting, Text, Until            string
	Paragraphs                       []string
	Button, URL, Plain, Ignore, From string
}

// languageFor is the language that mails have for a code.
func languageFor(codes ...string) string {
	for _, code := range codes {
		base, _ := language.Make(code).Base()
		if code != "" && phrases[base.String()] != nil {
			return base.String()
		}
	}
	return fallback
}

// message is the mail as it is sent.
func (a *addressed) message(j id.Job, portalURL string) (mail.Message, error) {
	code := languageFor(a.language, a.version.Definition.DefaultLanguage)
	say := func(key string, with ...any) string { return fmt.Sprintf(phrases[code][key], with...) }
	portal := line(a.called(code))
	s := htmlMail{
		Language: code, Direction: "ltr", Greeting: say("greeting"), Button: say(string(a.kind) + ".button"), Ignore: say(string(a.kind) + ".ignore"),
		URL: a.page(portalURL), Plain: say("plain"), From: portal, Paragraphs: a.paragraphs,
	}
	if a.opens != "" {
		s.URL += "/link#" + a.opens + "=" + a.token
	}
	if a.opens != "" && !a.expires.IsZero() {
		s.Until = say("until", a.expires.UTC().Format(time.DateTime)+" UTC")
	}
	if code == "ar" {
		s.Direction = "rtl"
	}
	if a.name != "" {
		s.Greeting = say("greeting.name", line(a.name))
	}
	subject := say(string(a.kind)+".subject", portal)
	s.Text = say(string(a.kind)+".text", portal)
	switch a.kind {
	case ofCase, screening, decided, pageLink, answered, reminded:
		subject, s.Text = say(string(a.kind)+".subject", portal, line(a.title)), say(string(a.kind)+".text", portal, line(a.title))
	case signIn, invitation, assigned, booking, reply, team:
	}
	if a.kind == assigned {
		subject, s.Text = say("assigned.subject", portal, line(a.title)), say("assigned.text", portal, line(a.title))
		if a.due != "" {
			s.Until = say("assigned.due", a.due)
		}
	}
	var html strings.Builder
	if err := page.ExecuteTemplate(&html, "mail.html", s); err != nil {
		return mail.Message{}, err
	}
	return mail.Message{ID: j.String(), To: a.to, Subject: subject, Text: s.plain(), HTML: html.String(), Language: code}, nil
}

// plain is the mail for who reads no HTML.
func (s htmlMail) plain() string {
	parts := append(append([]string{s.Greeting, s.Text}, s.Paragraphs...), s.URL, s.Until+" "+s.Ignore, s.From)
	return strings.Join(parts, "\n\n") + "\n"
}

// line makes one line of somebody's words: in the head of a mail a second one would
// be another field.
func line(text string) string { return strings.Join(strings.Fields(text), " ") }

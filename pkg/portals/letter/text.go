package letter

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

//go:embed strings/*.json letter.html
var files embed.FS

// fallback is the language of who reads none of those that letters are written in.
const fallback = "en"

// speeches are what letters say, by language and by the name of what is said.
var speeches = func() map[string]map[string]string {
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
			panic(fmt.Errorf("letter: %s: %w", name, err)) // likewise
		}
		all[strings.TrimSuffix(path.Base(name), ".json")] = s
	}
	return all
}()

var page = template.Must(template.ParseFS(files, "letter.html"))

// sheet is a letter as its HTML shows it.
type sheet struct {
	Language, Direction              string
	Greeting, Text, Until            string
	Button, URL, Plain, Ignore, From string
}

// spoken is the language that letters have for a code.
func spoken(codes ...string) string {
	for _, code := range codes {
		base, _ := language.Make(code).Base()
		if code != "" && speeches[base.String()] != nil {
			return base.String()
		}
	}
	return fallback
}

// message is the letter as it is sent.
func (a *addressed) message(j id.Job, portalURL string) (mail.Message, error) {
	code := spoken(a.language, a.version.Definition.DefaultLanguage)
	say := func(key string, with ...any) string { return fmt.Sprintf(speeches[code][key], with...) }
	portal := line(a.called(code))
	s := sheet{
		Language: code, Direction: "ltr", Greeting: say("greeting"), Button: say(string(a.kind) + ".button"), Ignore: say(string(a.kind) + ".ignore"),
		URL: a.page(portalURL) + "/link#" + a.opens + "=" + a.token, Plain: say("plain"), From: portal,
		Until: say("until", a.expires.UTC().Format(time.DateTime)+" UTC"),
	}
	if code == "ar" {
		s.Direction = "rtl"
	}
	if a.name != "" {
		s.Greeting = say("greeting.name", line(a.name))
	}
	subject := say(string(a.kind)+".subject", portal)
	s.Text = say(string(a.kind)+".text", portal)
	if a.kind == ofCase {
		subject, s.Text = say("case.subject", portal, line(a.title)), say("case.text", portal, line(a.title))
	}
	var html strings.Builder
	if err := page.ExecuteTemplate(&html, "letter.html", s); err != nil {
		return mail.Message{}, err
	}
	return mail.Message{ID: j.String(), To: a.to, Subject: subject, Text: s.plain(), HTML: html.String(), Language: code}, nil
}

// plain is the letter for who reads no HTML.
func (s sheet) plain() string {
	return strings.Join([]string{s.Greeting, s.Text, s.URL, s.Until + " " + s.Ignore, s.From}, "\n\n") + "\n"
}

// line makes one line of somebody's words: in the head of a mail a second one would
// be another field.
func line(text string) string { return strings.Join(strings.Fields(text), " ") }

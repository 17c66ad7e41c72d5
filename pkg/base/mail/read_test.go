package mail_test

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/mail"
)

// raw is a mail with lines ended as they are sent.
func raw(lines ...string) []byte { return []byte(strings.Join(lines, "\r\n")) }

func multipart(kind, boundary string, parts ...string) []string {
	all := []string{`Content-Type: multipart/` + kind + `; boundary="` + boundary + `"`, ""}
	for _, p := range parts {
		all = append(all, "--"+boundary, p)
	}
	return append(all, "--"+boundary+"--", "")
}

func TestRead(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		mail []byte
		want string
	}{
		"plain":             {raw("From: kim@example.com", "", "Yes, at ten.", ""), "Yes, at ten."},
		"quoted-printable":  {raw("From: kim@example.com", "Content-Type: text/plain; charset=utf-8", "Content-Transfer-Encoding: quoted-printable", "", "Gr=C3=BC=C3=9Fe"), "Grüße"},
		"ISO-8859-15":       {raw("From: kim@example.com", "Content-Type: text/plain; charset=ISO-8859-15", "Content-Transfer-Encoding: quoted-printable", "", "20 =A4"), "20 €"},
		"an unknown set":    {raw("From: kim@example.com", "Content-Type: text/plain; charset=klingon", "", "Yes\xff."), "Yes\uFFFD."},
		"no UTF-8":          {raw("From: kim@example.com", "Content-Type: text/plain; charset=utf-8", "", "Yes\xff\x00\x07."), "Yes\uFFFD."},
		"base64":            {raw("From: kim@example.com", "Content-Transfer-Encoding: base64", "", base64.StdEncoding.EncodeToString([]byte("Yes."))), "Yes."},
		"broken base64":     {raw("From: kim@example.com", "Content-Transfer-Encoding: base64", "", "WWVzLg==!!!"), "Yes."},
		"an unknown code":   {raw("From: kim@example.com", "Content-Transfer-Encoding: rot13", "", "Yes."), "Yes."},
		"alternatives":      {raw(append([]string{"From: kim@example.com"}, multipart("alternative", "b", "Content-Type: text/plain\r\n\r\nYes.", "Content-Type: text/html\r\n\r\n<p>No.</p>")...)...), "Yes."},
		"what is attached":  {raw(append([]string{"From: kim@example.com"}, multipart("mixed", "b", "Content-Type: text/plain\r\nContent-Disposition: attachment; filename=x.txt\r\n\r\nNo.", "Content-Type: text/plain\r\n\r\nYes.")...)...), "Yes."},
		"HTML alone":        {raw("From: kim@example.com", "Content-Type: text/html; charset=utf-8", "", `<html><head><style>p{}</style></head><body><p>Yes,<br>at&nbsp;ten &amp; not later.</p><script>no</script><div class="gmail_quote"><div>On Monday</div><blockquote>Old</blockquote></div></body></html>`), "Yes,\nat ten & not later."},
		"HTML never closed": {raw("From: kim@example.com", "Content-Type: text/html", "", strings.Repeat("<div>", 100_000)+"Yes."), ""},
		"no text":           {raw("From: kim@example.com", "Content-Type: image/png", "", "x"), ""},
		"no boundary":       {raw("From: kim@example.com", "Content-Type: multipart/mixed", "", "Yes."), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := mail.Read(tt.mail)
			require.NoError(t, err)
			require.Equal(t, tt.want, got.Text)
			require.Equal(t, "kim@example.com", got.From)
			require.True(t, strings.HasPrefix(got.ID, "sha256:"), "it has no Message-ID")
		})
	}
}

func TestWhatIsAMachines(t *testing.T) {
	t.Parallel()
	for head, want := range map[string]bool{
		"Auto-Submitted: auto-replied": true, "Auto-Submitted: No": false, "auto-submitted: auto-generated; x=y": true, "Precedence: bulk": true, "Precedence: first-class": false,
		"Return-Path: <>": true, "Return-Path: <kim@example.com>": false, "List-Id: <x.example.com>": true, "X-Autoreply: yes": true,
		"Content-Type: multipart/report; report-type=delivery-status; boundary=b": true, "Subject: Out of office": false,
	} {
		got, err := mail.Read(raw("From: kim@example.com", head, "", "Yes."))
		require.NoError(t, err, head)
		require.Equal(t, want, got.Automatic, head)
	}
	got, err := mail.Read(raw("From: Mail Delivery <MAILER-DAEMON@mx.example.com>", "", "Failed."))
	require.NoError(t, err)
	require.True(t, got.Automatic)
}

func TestHeads(t *testing.T) {
	t.Parallel()
	got, err := mail.Read(raw("From: =?UTF-8?q?Kim?= <Kim@Example.com>", "Message-ID: <1@mx.example.com>", "To: A <a@example.com>, b@example.com", "Cc: broken@", "Delivered-To: abc@answers.example.com", "", "Yes."))
	require.NoError(t, err)
	require.Equal(t, []any{"1@mx.example.com", "kim@example.com"}, []any{got.ID, got.From})
	require.Equal(t, []string{"abc@answers.example.com", "a@example.com", "b@example.com"}, got.To[:3])
	for _, id := range []string{"<" + strings.Repeat("x", 300) + "@e>", "<a b@e>", "<>", "x", "<\"\r\n a@b>", "<<a@b>>"} {
		got, err := mail.Read(raw("From: kim@example.com", "Message-ID: "+id, "", "Yes."))
		require.NoError(t, err, id)
		require.Regexp(t, `^sha256:[0-9a-f]{64}$`, got.ID, id)
	}
}

// What nobody wrote in good faith is refused, or read as far as it goes, in no time.
func TestHostileMails(t *testing.T) {
	t.Parallel()
	nested := "Yes."
	kind := "text/plain"
	for n := range 2000 {
		b := fmt.Sprint("b", n)
		nested = "--" + b + "\r\nContent-Type: " + kind + "\r\n\r\n" + nested + "\r\n--" + b + "--\r\n"
		kind = "multipart/mixed; boundary=" + b
	}
	for name, text := range map[string][]byte{
		"nothing":            nil,
		"no head":            []byte("\r\n\r\nYes."),
		"JSON":               []byte(`{"from": "kim@example.com"}`),
		"NULs":               make([]byte, 1<<20),
		"a huge head":        raw("From: kim@example.com", "X: "+strings.Repeat("x", 1<<20), "", "Yes."),
		"a million fields":   []byte(strings.Repeat("X: y\r\n", 1<<18) + "\r\nYes."),
		"nested parts":       raw("From: kim@example.com", "Content-Type: "+kind, "", nested),
		"many parts":         raw(append([]string{"From: kim@example.com"}, multipart("mixed", "b", make([]string, 100_000)...)...)...),
		"a long line":        raw("From: kim@example.com", "", strings.Repeat("On x ", 1<<20)),
		"many attributions":  raw("From: kim@example.com", "", strings.Repeat("On Monday\r\nsomebody\r\n", 1<<17)),
		"many froms":         raw("From: kim@example.com", "", strings.Repeat("From: x\r\n", 1<<17)),
		"unclosed tags":      raw("From: kim@example.com", "Content-Type: text/html", "", strings.Repeat("<blockquote><", 1<<18)),
		"a huge tag":         raw("From: kim@example.com", "Content-Type: text/html", "", "<p x=\""+strings.Repeat("y", 1<<20)),
		"many addresses":     raw("From: kim@example.com", "To: "+strings.Repeat("a@example.com,", 4000)+"b@example.com", "", "Yes."),
		"quotes in the from": raw(`From: "`+strings.Repeat(`\"`, 20_000)+`" <kim@example.com>`, "", "Yes."),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			began := time.Now()
			got, err := mail.Read(text)
			if err != nil {
				require.ErrorIs(t, err, mail.ErrNoMail)
			}
			require.LessOrEqual(t, utf8.RuneCountInString(got.Text), mail.LongestText)
			require.True(t, utf8.ValidString(got.Text) && utf8.ValidString(got.From))
			require.Less(t, time.Since(began), 20*time.Second)
		})
	}
}

func TestUnquote(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ text, want string }{
		"above":         {"Yes, at ten.\n\nOn Mon, 1 Jun 2026 at 10:00, Sales <s@example.com> wrote:\n> May we call?\n> Kind regards", "Yes, at ten."},
		"broken":        {"Ja.\n\nAm Mo., 1. Juni 2026 um 10:00 Uhr schrieb Vertrieb\n<s@example.com>:\n\n> Dürfen wir?", "Ja."},
		"between":       {"On Monday, Sales wrote:\n> May we call?\n\nYes.\n\n> At ten?\n\nNo, at eleven.", "Yes.\n\nNo, at eleven."},
		"French":        {"Oui.\n\nLe lun. 1 juin 2026 à 10:00, Ventes a écrit :\n> Bonjour", "Oui."},
		"Outlook":       {"Yes.\n\nFrom: Sales <s@example.com>\nSent: Monday\nTo: Kim\nSubject: Hello\n\nMay we call?", "Yes."},
		"original":      {"Yes.\n\n-----Original Message-----\nMay we call?", "Yes."},
		"without marks": {"Sí.\n\nEl lun, 1 jun 2026, Ventas escribió:\n¿Podemos llamar?", "Sí."},
		"nothing else":  {"> May we call?", "> May we call?"},
		"words like it": {"On Monday I wrote: nothing.\nFrom: here on it is fine.", "On Monday I wrote: nothing.\nFrom: here on it is fine."},
		"empty":         {"", ""},
		"lines between": {"One.\n\n\n\nTwo.  \n", "One.\n\nTwo."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tt.want, mail.Unquote(tt.text))
		})
	}
}

// What strangers send costs little, however it is made. The limit is against work that grows
// with the square of the mail, and leaves room for a busy machine.
func TestHostileMailsCostLittle(t *testing.T) {
	t.Parallel()
	lines := func(line string, size int) string { return strings.Repeat(line, size/len(line)) }
	for name, text := range map[string]string{
		"attributions without end": lines("on x wrote ", 256<<10),
		"lines of attributions":    lines("on "+strings.Repeat("x wrote ", 100)+":\r\n", 256<<10),
		"short attributions":       lines("on wrote:\r\n", 256<<10),
	} {
		began := time.Now()
		_, err := mail.Read(raw("From: kim@example.com", "", text))
		require.NoError(t, err, name)
		require.Less(t, time.Since(began), 5*time.Second, name)
	}
	began := time.Now()
	_, err := mail.Read(raw(append([]string{"From: kim@example.com"}, multipart("mixed", "b", lines("a:b\r\n", 9<<20)+"\r\n\r\nYes.")...)...))
	require.ErrorIs(t, err, mail.ErrNoMail, "a part's head is not endless")
	require.Less(t, time.Since(began), 5*time.Second)

	long := lines("WWVzLCBhdCB0ZW4u\r\n", 9<<20)
	got, err := mail.Read(raw(append([]string{"From: kim@example.com"}, multipart("mixed", "b", "Content-Type: image/png\r\n\r\n"+long, "\r\nYes.")...)...))
	require.NoError(t, err)
	require.Equal(t, "Yes.", got.Text, "what is attached can be large")
}

package mail

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"net/mail"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/emersion/go-message"
	_ "github.com/emersion/go-message/charset" // reads what mails are written in
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Received is a mail that came in.
type Received struct {
	// ID is its Message-ID without brackets, or a digest of the mail ("sha256:…") where it has none that is good.
	ID string
	// From is a bare address; empty where the mail has none. Nothing proves it.
	From string
	// To are the bare addresses that it went to, those of the delivery before those of the head, in lower case.
	To []string
	// Automatic says that no person wrote it: a bounce, an answering machine or a list (RFC 3834).
	Automatic bool
	// Text is what the sender wrote, without what they quote. Of HTML alone it is the text.
	Text string
}

// What is read of a mail at most.
const (
	mostHead    = 64 << 10
	mostParts   = 100
	deepest     = 8
	mostWritten = 256 << 10
	longestID   = 250
	// mostUnquoted is in how much of a text is looked for what it quotes: more than is kept of it.
	mostUnquoted   = 64 << 10
	longestAddress = 320
)

// LongestText bounds what is kept of a mail, in characters.
const LongestText = 10_000

// ErrNoMail says that something is no mail.
var ErrNoMail = errors.New("it is no mail (RFC 5322)")

// Read reads a mail in the form of RFC 5322. The error is ErrNoMail.
func Read(raw []byte) (Received, error) {
	r, text, err := ReadHead(raw)
	if err != nil {
		return Received{}, err
	}
	r.Text, err = text()
	return r, err
}

// ReadHead reads the head of a mail, which costs little, and answers how its Text is read, which costs more. The error is
// ErrNoMail.
func ReadHead(raw []byte) (r Received, text func() (string, error), err error) {
	e, err := message.ReadWithOptions(bytes.NewReader(raw), &message.ReadOptions{MaxHeaderBytes: mostHead})
	if e == nil || err != nil && !readable(err) || e.Header.Len() == 0 {
		return Received{}, nil, ErrNoMail
	}
	h := &e.Header
	r = Received{ID: messageID(h.Get("Message-Id"), raw), Automatic: automatic(h)}
	if all := addresses(h, "From"); len(all) > 0 {
		r.From = all[0]
	}
	for _, name := range []string{"Delivered-To", "X-Original-To", "Envelope-To", "To", "Cc"} {
		r.To = append(r.To, addresses(h, name)...)
	}
	return r, func() (string, error) {
		if !headsBounded(raw) {
			return "", ErrNoMail
		}
		b := &bodies{}
		b.read(e, 0)
		text := b.plain
		if strings.TrimSpace(text) == "" {
			text = plainOf(b.html)
		}
		return cut(Unquote(clean(text[:min(len(text), mostUnquoted)])), LongestText), nil
	}, nil
}

// headsBounded says whether no part has a head that is larger than a mail's can be: what reads parts reads all of it.
func headsBounded(raw []byte) bool {
	head, in := 0, false
	for len(raw) > 0 {
		line, rest, _ := bytes.Cut(raw, []byte{'\n'})
		raw = rest
		switch {
		case bytes.HasPrefix(line, []byte("--")):
			head, in = 0, true
		case !in:
		case len(line) > 0 && (line[0] == ' ' || line[0] == '\t') || bytes.IndexByte(line, ':') >= 0:
			if head += len(line); head > mostHead {
				return false
			}
		default:
			in = false
		}
	}
	return true
}

// readable says that a part can be read although its charset or encoding is not known.
func readable(err error) bool { return message.IsUnknownCharset(err) || message.IsUnknownEncoding(err) }

func messageID(id string, raw []byte) string {
	id = strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(id), "<"), ">")
	at := strings.LastIndexByte(id, '@')
	if at < 1 || len(id) > longestID || strings.ContainsFunc(id, func(r rune) bool { return r <= ' ' || r > '~' || r == '<' || r == '>' }) {
		sum := sha256.Sum256(raw)
		return "sha256:" + hex.EncodeToString(sum[:])
	}
	return id
}

// addresses are the bare ones of a field of the head.
func addresses(h *message.Header, name string) (all []string) {
	for fields := h.FieldsByKey(name); fields.Next() && len(all) < mostParts; {
		list, err := mail.ParseAddressList(fields.Value())
		if err != nil {
			if one := strings.Trim(strings.TrimSpace(fields.Value()), "<>"); strings.Count(one, "@") == 1 && !strings.ContainsAny(one, " ,;") {
				all = append(all, address(one))
			}
			continue
		}
		for _, a := range list {
			all = append(all, address(a.Address))
		}
	}
	return all
}

// address is one in lower case; empty for what no database keeps, or what is too long to be one.
func address(one string) string {
	if !utf8.ValidString(one) || utf8.RuneCountInString(one) > longestAddress || strings.ContainsFunc(one, unicode.IsControl) {
		return ""
	}
	return strings.ToLower(one)
}

// automatic says whether a machine wrote a mail.
func automatic(h *message.Header) bool {
	word := func(name string) string {
		text, _, _ := strings.Cut(h.Get(name), ";")
		return strings.ToLower(strings.TrimSpace(text))
	}
	switch {
	case word("Auto-Submitted") != "" && word("Auto-Submitted") != "no",
		slices.Contains([]string{"bulk", "junk", "list", "auto_reply"}, word("Precedence")),
		h.Has("Return-Path") && strings.Trim(word("Return-Path"), "<> ") == "",
		word("Content-Type") == "multipart/report",
		h.Has("X-Autoreply"), h.Has("X-Autorespond"), h.Has("List-Id"):
		return true
	}
	for _, from := range addresses(h, "From") {
		if name, _, _ := strings.Cut(from, "@"); name == "mailer-daemon" || name == "postmaster" {
			return true
		}
	}
	return false
}

// bodies are the first texts of a mail.
type bodies struct {
	plain, html string
	parts       int
}

// read looks for the texts of a part, but not in what is attached.
func (b *bodies) read(e *message.Entity, depth int) {
	if b.parts++; b.parts > mostParts || depth > deepest || b.plain != "" {
		return
	}
	if parts := e.MultipartReader(); parts != nil {
		for b.parts <= mostParts {
			part, err := parts.NextPart()
			if part == nil || err != nil && !readable(err) {
				return
			}
			b.read(part, depth+1)
		}
		return
	}
	kind, _, err := e.Header.ContentType()
	if disposition, _, _ := e.Header.ContentDisposition(); disposition == "attachment" {
		return
	}
	if err != nil || kind == "" {
		kind = "text/plain"
	}
	var into *string
	switch kind {
	case "text/plain":
		into = &b.plain
	case "text/html":
		into = &b.html
	}
	if into == nil || *into != "" {
		return
	}
	// What cannot be decoded to its end counts as far as it can.
	text, _ := io.ReadAll(io.LimitReader(e.Body, mostWritten))
	*into = string(text)
}

// clean leaves of a text what a database keeps and a person reads.
func clean(text string) string {
	text = strings.ToValidUTF8(strings.ReplaceAll(text, "\r\n", "\n"), "\uFFFD")
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case r == '\u00a0':
			return ' '
		case unicode.IsControl(r):
			return -1
		}
		return r
	}, text)
}

// cut shortens a text to so many characters.
func cut(text string, most int) string {
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return string([]rune(text)[:most-1]) + "…"
}

// blocks are elements that begin a line, and hidden ones whose text nobody wrote or reads.
var (
	blocks = []atom.Atom{atom.P, atom.Div, atom.Br, atom.Li, atom.Tr, atom.H1, atom.H2, atom.H3, atom.H4, atom.Ul, atom.Ol, atom.Table}
	hidden = []atom.Atom{atom.Script, atom.Style, atom.Title, atom.Head, atom.Template, atom.Noscript}
)

// plainOf is the text of HTML without what is quoted in it.
func plainOf(text string) string {
	var out strings.Builder
	z := html.NewTokenizer(strings.NewReader(text))
	z.SetMaxBuf(mostWritten)
	skipped, depth := atom.Atom(0), 0
	for {
		switch z.Next() {
		case html.ErrorToken:
			return out.String()
		case html.TextToken:
			if depth == 0 {
				out.WriteString(strings.Join(strings.FieldsFunc(string(z.Text()), func(r rune) bool { return r == '\n' || r == '\r' }), " "))
			}
		case html.StartTagToken:
			t := z.Token()
			switch {
			case depth > 0 && t.DataAtom == skipped:
				depth++
			case depth == 0 && (slices.Contains(hidden, t.DataAtom) || quotes(t)):
				skipped, depth = t.DataAtom, 1
			case depth == 0 && slices.Contains(blocks, t.DataAtom):
				out.WriteByte('\n')
			}
		case html.SelfClosingTagToken:
			if t := z.Token(); depth == 0 && slices.Contains(blocks, t.DataAtom) {
				out.WriteByte('\n')
			}
		case html.EndTagToken:
			t := z.Token()
			switch {
			case depth > 0 && t.DataAtom == skipped:
				depth--
			case depth == 0 && slices.Contains(blocks, t.DataAtom):
				out.WriteByte('\n')
			}
		}
	}
}

// quotes says whether an element holds what a mail answers.
func quotes(t html.Token) bool {
	if t.DataAtom == atom.Blockquote {
		return true
	}
	return slices.ContainsFunc(t.Attr, func(a html.Attribute) bool {
		return a.Key == "class" && (strings.Contains(a.Val, "gmail_quote") || strings.Contains(a.Val, "yahoo_quoted") || strings.Contains(a.Val, "moz-cite-prefix")) ||
			a.Key == "id" && (a.Val == "divRplyFwdMsg" || a.Val == "appendonsend")
	})
}

package page

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"time"

	"visavis.dev/pkg/base/errdefs"
	words "visavis.dev/pkg/base/language"
	"visavis.dev/pkg/learning/certificate"
)

// verifyBody is what the page says of a certificate; it is empty before a number is given.
type verifyBody struct {
	Number string
	// State is valid, expired, revoked or unknown.
	State   string
	Facts   []fact
	Checked string
}

// fact is something that is known of a certificate. A time is empty where it is none.
type fact struct{ Name, Text, Time string }

// inputNumber is the field of the form for a number.
const inputNumber = "number"

// verify serves the page that says whether a certificate counts. It is nobody's: whoever has
// the number may read it, on the deployment's own host alone.
func (h *Handler) verify(w http.ResponseWriter, r *http.Request, number string) {
	v := nobodys(h, w, r)
	v.path = certificate.VerifyPath + url.PathEscape(number)
	offered := slices.Sorted(maps.Keys(speeches()))
	v.site.Definition.Languages = offered
	if asked := words.Key(r.URL.Query().Get(languageQuery)); slices.Contains(offered, asked) {
		v.language, v.speech = asked, spoken(asked)
	}
	serve := func() error { return v.verifyPage(number) }
	if number == recordName {
		serve = v.recordPage
	}
	if err := v.taking(reading, serve); err != nil {
		h.refuse(v, err)
	}
}

// recordName is the page, beside those of certificates, that checks candidates' records.
const recordName = "record"

// recordPage is the page that checks a candidate's record by its script, which sends nothing.
func (v *view) recordPage() error {
	s := v.sheet("recordcheck.title")
	words, err := json.Marshal(v.speech.under("recordcheck."))
	if err != nil {
		return err
	}
	s.Body = string(words)
	return v.show(http.StatusOK, "recordcheck", s)
}

func (v *view) verifyPage(number string) error {
	if number == "" {
		if given := v.r.URL.Query().Get(inputNumber); given != "" {
			n, ok := certificate.ParseNumber(given)
			if !ok {
				return v.verified(http.StatusNotFound, verifyBody{State: "unknown"})
			}
			http.Redirect(v.w, v.r, certificate.VerifyPath+n.String()+"?"+url.Values{languageQuery: {v.language}}.Encode(), http.StatusSeeOther) //nolint:gosec // to a path of this page, by a number that was read
			return nil
		}
		return v.verified(http.StatusOK, verifyBody{})
	}
	n, ok := certificate.ParseNumber(number)
	if !ok {
		return v.verified(http.StatusNotFound, verifyBody{State: "unknown"})
	}
	found, err := v.h.Certificates.Verify(v.r.Context(), n)
	if errdefs.IsNotFound(err, certificate.Noun) {
		return v.verified(http.StatusNotFound, verifyBody{Number: n.String(), State: "unknown"})
	}
	if err != nil {
		return err
	}
	return v.verified(http.StatusOK, v.verifyBody(found))
}

func (v *view) verified(status int, body verifyBody) error {
	s := v.sheet("verify.title")
	s.Body = body
	return v.show(status, "verify", s)
}

func (v *view) verifyBody(c certificate.Verified) verifyBody {
	body := verifyBody{Number: c.Number.String(), State: string(c.State), Checked: v.Say("verify.checked", c.CheckedAt.UTC().Format("2006-01-02 15:04"))}
	add := func(key, text string) {
		if text != "" {
			body.Facts = append(body.Facts, fact{Name: v.Say(key), Text: text})
		}
	}
	add("verify.recipient", c.Recipient)
	add("verify.for", c.Title)
	add("verify.by", c.Organization)
	add("verify.issuer", c.Issuer.String())
	body.Facts = append(body.Facts, v.date("verify.issued", c.IssuedAt))
	switch {
	case c.RevokedAt != nil:
		body.Facts = append(body.Facts, v.date("verify.revoked_on", *c.RevokedAt))
	case c.ExpiresAt != nil:
		body.Facts = append(body.Facts, v.date("verify.expires", *c.ExpiresAt))
	default:
		add("verify.expires", v.Say("verify.never"))
	}
	return body
}

func (v *view) date(key string, at time.Time) fact {
	return fact{Name: v.Say(key), Time: at.UTC().Format(time.DateOnly)}
}

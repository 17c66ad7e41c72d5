package page_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/learning/certificate"
)

// registry has one certificate.
type registry struct {
	certificate.Verified
	err error
}

// Verify is part of page.Certificates.
func (r *registry) Verify(_ context.Context, n certificate.Number) (certificate.Verified, error) {
	if n != r.Number && r.err == nil {
		return certificate.Verified{}, certificate.Noun.NotFound(n)
	}
	return r.Verified, r.err
}

func TestVerifyPage(t *testing.T) {
	b := setup(t)
	at := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	until := at.AddDate(1, 0, 0)
	org := id.NewOrg()
	known := &registry{Verified: certificate.Verified{
		Number: certificate.NewNumber(org), Issuer: org, State: certificate.Valid, Organization: "Harbour <Academy>", Recipient: "Zoë & Co", Title: "Knots",
		IssuedAt: at, ExpiresAt: &until, CheckedAt: at,
	}}
	b.handler.Certificates = known
	const pages = "https://portal.example.com/verify/"
	number := known.Number.String()
	w := b.get(pages + number)
	require.Equal(t, http.StatusOK, w.Code)
	for _, want := range []string{
		"This certificate is valid.", number, "Harbour &lt;Academy&gt;", org.String(), "Zoë &amp; Co", "Knots", `<time datetime="2027-11-23">`, "Checked on 2026-11-23 12:00 (UTC)",
		`<html lang="en" dir="ltr"`, `hreflang="de"`,
	} {
		require.Contains(t, w.Body.String(), want)
	}
	require.NotContains(t, w.Body.String(), "<script", "it works without")
	require.Equal(t, "private, no-store", w.Header().Get("Cache-Control"))
	require.Contains(t, b.get(pages+strings.ToLower(number), "Accept-Language: de").Body.String(), "Dieses Zertifikat ist gültig.")
	require.Contains(t, b.get(pages+number+"?lang=ar", "Accept-Language: de").Body.String(), `<html lang="ar" dir="rtl"`)
	require.True(t, b.handler.Serves(request(http.MethodGet, "https://api.example.com/verify/"+number)))

	for _, unknown := range []string{"0000-0000-0000-0000-0000", "nonsense", "%3Cscript%3E"} {
		w := b.get(pages + unknown)
		require.Equal(t, http.StatusNotFound, w.Code)
		require.Contains(t, w.Body.String(), "No certificate has this number.")
		require.NotContains(t, w.Body.String(), "<script")
	}
	known.State, known.RevokedAt, known.Recipient, known.Title = certificate.Revoked, &until, "", ""
	require.Contains(t, b.get(pages+number).Body.String(), "This certificate was revoked.")
	known.State, known.RevokedAt = certificate.Expired, nil
	require.Contains(t, b.get(pages+number).Body.String(), "This certificate has expired.")

	require.Contains(t, b.get(pages).Body.String(), `name="number"`, "there is a form")
	sent := b.get(pages + "?number=" + strings.ToLower(number) + "&lang=de")
	require.Equal(t, http.StatusSeeOther, sent.Code)
	require.Equal(t, "/verify/"+number+"?lang=de", sent.Header().Get("Location"))
	require.Equal(t, http.StatusNotFound, b.get(pages+"?number=x").Code)
	require.Equal(t, http.StatusMethodNotAllowed, b.post(pages+number, nil).Code)
	for _, other := range []string{"harbour.example.com", "api.example.com", "else.example.com"} {
		w := b.get("https://" + other + "/verify/" + number + "?lang=de")
		require.Equal(t, http.StatusTemporaryRedirect, w.Code)
		require.Equal(t, pages+number+"?lang=de", w.Header().Get("Location"), "no organization seems to issue what another does")
		require.NotContains(t, w.Body.String(), "Harbour")
	}
	require.Equal(t, pages+"/else.example.com", b.get("https://harbour.example.com/verify//else.example.com").Header().Get("Location"))
	known.err = errors.New("a fault")
	require.Equal(t, http.StatusInternalServerError, b.get(pages+number).Code)
}

package identity

import (
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"visavis.dev/pkg/personas/connection"
)

// Finish reads the answer with which a browser came back. The error is ErrDenied,
// ErrAnswer or ErrUnreachable.
func (a *Asker) Finish(ctx context.Context, c connection.Opened, at Attempt, given url.Values) (Who, error) {
	state := given.Get("state")
	switch {
	case c.ID != at.Connection, !a.clock.Now().Before(at.ExpiresAt),
		at.State == "", subtle.ConstantTimeCompare([]byte(state), []byte(at.State)) != 1:
		return Who{}, fmt.Errorf("%w: it belongs to no question", ErrAnswer)
	case given.Get("error") != "":
		return Who{}, ErrDenied
	}
	ctx, cancel := context.WithTimeout(ctx, c.Timeout())
	defer cancel()
	p, err := a.providers.Get(ctx, c.Config.Text("issuer"))
	if err != nil {
		return Who{}, fmt.Errorf("%w: %w", ErrUnreachable, err)
	}
	if err := checkIssuer(c, p, given); err != nil {
		return Who{}, err
	}
	ctx = oidc.ClientContext(ctx, a.http)
	raw, err := redeem(ctx, c, p, at, given.Get("code"))
	if err != nil {
		return Who{}, err
	}
	token, err := p.VerifierContext(ctx, &oidc.Config{ClientID: c.Config.Text("clientId"), Now: a.clock.Now}).Verify(ctx, raw)
	if err != nil {
		return Who{}, fmt.Errorf("%w: %w", ErrAnswer, err)
	}
	if at.Nonce == "" || subtle.ConstantTimeCompare([]byte(token.Nonce), []byte(at.Nonce)) != 1 {
		return Who{}, fmt.Errorf("%w: the token is of another question", ErrAnswer)
	}
	return read(c, token)
}

// checkIssuer refuses the answer of another provider than was asked (RFC 9207).
func checkIssuer(c connection.Opened, p *oidc.Provider, given url.Values) error {
	var says struct {
		Issuer bool `json:"authorization_response_iss_parameter_supported"`
	}
	if err := p.Claims(&says); err != nil {
		return fmt.Errorf("%w: %w", ErrUnreachable, err)
	}
	if (says.Issuer || given.Has("iss")) && given.Get("iss") != c.Config.Text("issuer") {
		return fmt.Errorf("%w: it comes from another provider", ErrAnswer)
	}
	return nil
}

// redeem gives the code for the token, with the secret, or the one before it.
func redeem(ctx context.Context, c connection.Opened, p *oidc.Provider, at Attempt, code string) (string, error) {
	if code == "" {
		return "", fmt.Errorf("%w: it has no code", ErrAnswer)
	}
	var err error
	for _, secret := range c.Secrets {
		var got *oauth2.Token
		got, err = client(c, p, string(secret), at.Redirect).Exchange(ctx, code, oauth2.VerifierOption(at.Verifier))
		if err == nil {
			if raw, ok := got.Extra("id_token").(string); ok {
				return raw, nil
			}
			return "", fmt.Errorf("%w: it has no id_token", ErrAnswer)
		}
		said, ok := errors.AsType[*oauth2.RetrieveError](err)
		switch {
		case !ok:
			return "", fmt.Errorf("%w: %w", ErrUnreachable, err)
		case said.ErrorCode != "invalid_client" && said.Response.StatusCode != http.StatusUnauthorized:
			return "", fmt.Errorf("%w: %s", ErrAnswer, said.ErrorCode)
		}
	}
	return "", fmt.Errorf("%w: the client's secret is refused", ErrUnreachable)
}

// read reads who a token is of.
func read(c connection.Opened, token *oidc.IDToken) (Who, error) {
	var said struct {
		Email         string          `json:"email"`
		EmailVerified json.RawMessage `json:"email_verified"`
		Party         string          `json:"azp"`
	}
	all := map[string]any{}
	if err := errors.Join(token.Claims(&said), token.Claims(&all)); err != nil {
		return Who{}, fmt.Errorf("%w: %w", ErrAnswer, err)
	}
	if token.Subject == "" || len(token.Audience) > 1 && said.Party == "" || said.Party != "" && said.Party != c.Config.Text("clientId") {
		return Who{}, fmt.Errorf("%w: the token is another party's", ErrAnswer)
	}
	who := Who{Issuer: token.Issuer, Subject: token.Subject}
	// Some providers write a truth as a text.
	if verified := strings.Trim(string(said.EmailVerified), `"`); verified == "true" {
		who.Email = said.Email
	}
	if name := c.Config.Text("externalIdClaim"); name != "" {
		who.ExternalID, _ = all[name].(string)
	}
	return who, nil
}

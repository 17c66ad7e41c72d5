// Package lti speaks LTI 1.3 Advantage as a tool: it begins a platform's launches, believes
// what platforms sign, answers deep linking, gives grades back, and reads who is in a course
// (1EdTech: Security Framework 1.0, LTI Core 1.3, Deep Linking 2.0, Assignment and Grade
// Services 2.0, Names and Role Provisioning Services 2.0). Who comes in by a launch is package
// signin's, and who is in a class package course's.
package lti

import (
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// The protocol's constants (LTI Core 1.3, section 5.3; Deep Linking 2.0, section 4.4).
const (
	Version      = "1.3.0"
	ResourceLink = "LtiResourceLinkRequest"
	DeepLink     = "LtiDeepLinkingRequest"
	response     = "LtiDeepLinkingResponse"
	// ScoreMaximum is what the best of all results counts.
	ScoreMaximum = 100
	// ScoreScope lets a tool write scores (AGS 2.0, section 3.1).
	ScoreScope = "https://purl.imsglobal.org/spec/lti-ags/scope/score"
)

// algorithm is the only one that is believed and signed with, whatever a token says of it.
var algorithm = jwt.SigningMethodRS256

// Platform is a learning platform, as a tool is registered there.
type Platform struct {
	Issuer, ClientID string
	// Deployments are those that may launch.
	Deployments []string
	// AuthorizationURL is where a launch is asked for, TokenURL where access tokens are, and
	// KeysURL where the platform's keys are.
	AuthorizationURL, TokenURL, KeysURL string
	// TokenAudience is whom assertions at TokenURL are for; empty for TokenURL itself.
	TokenAudience string
}

// Ready says whether the platform has registered the tool: before, nobody can launch.
func (p *Platform) Ready() bool { return p.ClientID != "" && len(p.Deployments) > 0 }

// Hint is a login initiation by a third party (Security Framework 1.0, section 5.1.1.1). It
// proves nothing.
type Hint struct {
	Issuer, Login, Message string
	// ClientID and Deployment are empty where the platform does not say.
	ClientID, Deployment string
}

// Meant says whether a login initiation names the platform.
func (p *Platform) Meant(h Hint) bool {
	return h.Issuer == p.Issuer && h.Login != "" && (h.ClientID == "" || h.ClientID == p.ClientID) &&
		(h.Deployment == "" || slices.Contains(p.Deployments, h.Deployment))
}

// Ask is where a browser goes to have the platform say who it is (Security Framework 1.0,
// section 5.1.1.2). The answer is posted to redirect, with the state.
func (p *Platform) Ask(h Hint, redirect, state, nonce string) (string, error) {
	to, err := url.Parse(p.AuthorizationURL)
	if err != nil {
		return "", err
	}
	q := to.Query()
	for name, value := range map[string]string{
		"scope": "openid", "response_type": "id_token", "response_mode": "form_post", "prompt": "none",
		"client_id": p.ClientID, "redirect_uri": redirect, "login_hint": h.Login, "state": state, "nonce": nonce,
	} {
		q.Set(name, value)
	}
	if h.Message != "" {
		q.Set("lti_message_hint", h.Message)
	}
	to.RawQuery = q.Encode()
	return to.String(), nil
}

// Launch is what a platform says of who comes, and what for.
type Launch struct {
	// Message is ResourceLink or DeepLink.
	Message    string
	Deployment string
	// User is the platform's own name of the person, which never changes; empty of somebody
	// who is not told.
	User string
	// Name is what the person is called, and Email where mail reaches them as the platform has
	// it, which proves nothing; both are empty where they are not told.
	Name, Email string
	Locale      string
	Roles       []string
	// Custom are the parameters that were set for the link.
	Custom map[string]string
	// ReturnURL is where the person goes afterwards; empty for nowhere.
	ReturnURL string
	// LineItem is where scores of the link go; empty where none may be sent.
	LineItem string
	// Course is where it comes from.
	Course Course
	// Linking is of a DeepLink.
	Linking Linking
}

// Linking is what a platform wants to have chosen (Deep Linking 2.0, section 4.4).
type Linking struct {
	ReturnURL string
	// Data goes back as it came; nil for none.
	Data *string
}

const (
	membership = "http://purl.imsglobal.org/vocab/lis/v2/membership#"
	longest    = 2048
)

// The roles that say whether somebody teaches or learns.
const (
	instructor = "Instructor"
	learner    = "Learner"
)

// has says whether roles have one in the course; what somebody is elsewhere in the institution
// counts for nothing.
func has(all []string, roles ...string) bool {
	return slices.ContainsFunc(roles, func(role string) bool {
		return slices.Contains(all, membership+role) || slices.Contains(all, role)
	})
}

// Instructs says whether the person teaches the course.
func (l *Launch) Instructs() bool { return has(l.Roles, instructor) }

// Designs says whether the person may choose what the course links to.
func (l *Launch) Designs() bool {
	return has(l.Roles, instructor, "ContentDeveloper", "Administrator")
}

// Item is what a deep link leads to.
type Item struct {
	// URL is the tool's, and Custom what it is launched with.
	URL, Title, Text string
	Custom           map[string]string
	// Resource is the tool's own name of what is graded, up to ScoreMaximum; empty where
	// nothing is.
	Resource     string
	ScoreMaximum float64
}

// Answer are the claims of the answer to a deep linking request (Deep Linking 2.0, section
// 4.5), to be signed by the tool.
func (p *Platform) Answer(deployment string, to Linking, item Item, nonce string, now time.Time, goodFor time.Duration) jwt.MapClaims {
	link := map[string]any{"type": "ltiResourceLink", "url": item.URL, "title": item.Title, "custom": item.Custom}
	if item.Text != "" {
		link["text"] = item.Text
	}
	if item.Resource != "" {
		link["lineItem"] = map[string]any{"scoreMaximum": item.ScoreMaximum, "label": item.Title, "resourceId": item.Resource}
	}
	claims := jwt.MapClaims{
		"iss": p.ClientID, "aud": []string{p.Issuer}, "iat": now.Unix(), "exp": now.Add(goodFor).Unix(), "nonce": nonce,
		claim + "deployment_id": deployment, claim + "message_type": response, claim + "version": Version,
		linkingClaim + "content_items": []any{link},
	}
	if to.Data != nil {
		claims[linkingClaim+"data"] = *to.Data
	}
	return claims
}

const (
	claim        = "https://purl.imsglobal.org/spec/lti/claim/"
	linkingClaim = "https://purl.imsglobal.org/spec/lti-dl/claim/"
)

// Origins are of the pages that show the tool in a frame, as far as the platform's own
// addresses say so.
func (p *Platform) Origins() (all []string) {
	for _, address := range []string{p.Issuer, p.AuthorizationURL} {
		if u, err := url.Parse(address); err == nil && u.Scheme == "https" && u.Host != "" && !slices.Contains(all, "https://"+u.Host) {
			all = append(all, "https://"+u.Host)
		}
	}
	return all
}

// webAddress is an address on https; empty for any other.
func webAddress(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil || len(address) > longest || strings.ContainsAny(address, " \"<>\\") {
		return ""
	}
	return address
}

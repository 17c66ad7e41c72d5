package event

import (
	"visavis.dev/pkg/store/consent"
	"visavis.dev/pkg/store/tenant"
)

// ConsentByAPI is the method of consents that are declared where what they allow is made.
const ConsentByAPI = "api"

// ConsentInSession is the method of consents that a user gives in their session.
const ConsentInSession = "session"

// EmitConsent emits that a consent was given, or withdrawn.
func EmitConsent(tx *tenant.Tx, k consent.Consent) {
	at := k.RecordedAt.UTC()
	if k.WithdrawnAt != nil {
		at = k.WithdrawnAt.UTC()
	}
	fields := map[string]any{
		"consentId": k.ID, "kind": k.Kind, "state": k.State, "policyVersion": k.PolicyVersion, "method": ConsentByAPI, "recordedAt": at,
	}
	if !k.Avatar.IsZero() {
		fields["avatarId"] = k.Avatar
	}
	if !k.Voice.IsZero() {
		fields["voiceId"] = k.Voice
	}
	if k.Kind == consent.ToRecording {
		fields["method"] = ConsentInSession
		if !k.Membership.IsZero() {
			fields["membershipId"] = k.Membership
		}
		if !k.Person.IsZero() {
			fields["personId"] = k.Person
		}
	}
	if k.Guardian != nil {
		fields["membershipId"], fields["personId"], fields["method"] = k.Membership, k.Person, k.Guardian.Method
	}
	Emit(tx, Draft{Type: ConsentRecorded, At: at, Fields: fields})
}

package event

import (
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/scope"
)

// contactFields say how to reach a visitor.
const contactFields = "contact.name contact.email contact.phone contact.company contact.preferredChannel"

// handoffFields are a hand-off's in the inbox.
const handoffFields = "inboxItemId sessionId portalId widgetId personaId channel urgency department state assigneeId " +
	"requestedBy language createdAt updatedAt"

// leadFields are a lead's in the inbox.
const leadFields = "inboxItemId sessionId portalId widgetId personaId leadBand state assigneeId contactConsent " +
	"sourceUrl campaign language createdAt updatedAt"

// bookingFields are a booking's in the inbox.
const bookingFields = "inboxItemId sessionId portalId widgetId personaId bookingKind startsAt endsAt timezone state " +
	"calendarConnectionId assigneeId contactConsent language createdAt updatedAt"

// The values that fields of several types hold.
var (
	staffModes    = words("listen speak takeover")
	urgencies     = words("low normal high")
	leadBands     = words("hot warm cold")
	inboxStates   = words("new open waiting snoozed won lost done spam forgotten")
	bookingStates = words("requested confirmed moved cancelled no_show")
)

// inboxKinds are about visitors who want something, what they thought of it, consent and switches.
var inboxKinds = []*Kind{
	{
		Type: HandoffRequested, Since: contract.V20260708, Scope: scope.InboxRead,
		Description: "A visitor is to be handed to a person: they asked, the avatar proposed it or a rule did. Sent at most once per inbox item.",
		Fields: Fields{
			Structure:    words(handoffFields),
			Contact:      words(contactFields),
			Conversation: words("reason summary"),
		},
		values: fieldValues{"channel": channels, "urgency": urgencies, "state": inboxStates, "requestedBy": words("visitor avatar rule")},
	},
	{
		Type: HandoffUpdated, Since: contract.V20260708, Scope: scope.InboxRead,
		Description: "A hand-off changed: its state, urgency or assignee, or the visitor left.",
		Fields: Fields{
			Structure:    words(handoffFields + " changedFields[] previousState changedBy"),
			Contact:      words(contactFields),
			Conversation: words("reason summary"),
		},
		values: fieldValues{"channel": channels, "urgency": urgencies, "state": inboxStates, "requestedBy": words("visitor avatar rule"), "previousState": inboxStates},
	},
	{
		Type: LeadCaptured, Since: contract.V20260708, Scope: scope.InboxRead,
		Description: "A visitor left details and agreed to be contacted. Sent at most once per inbox item.",
		Fields: Fields{
			Structure:    words(leadFields),
			Contact:      words(contactFields),
			Conversation: words("need budget timeline answers[].question answers[].answer summary"),
		},
		values: fieldValues{"leadBand": leadBands, "state": inboxStates},
	},
	{
		Type: BookingRequested, Since: contract.V20260708, Scope: scope.InboxRead,
		Description: "A visitor asked for an appointment or picked a time. Sent at most once per inbox item.",
		Fields: Fields{
			Structure:    words(bookingFields),
			Contact:      words(contactFields),
			Conversation: words("need answers[].question answers[].answer summary reason"),
		},
		values: fieldValues{"state": bookingStates},
	},
	{
		Type: LeadUpdated, Since: contract.V20260708, Scope: scope.InboxRead,
		Description: "A lead changed: its state, band or assignee, or a returning visitor added details.",
		Fields: Fields{
			Structure:    words(leadFields + " changedFields[] previousState changedBy"),
			Contact:      words(contactFields),
			Conversation: words("need budget timeline answers[].question answers[].answer summary"),
		},
		values: fieldValues{"leadBand": leadBands, "state": inboxStates, "previousState": inboxStates},
	},
	{
		Type: BookingUpdated, Since: contract.V20260708, Scope: scope.InboxRead,
		Description: "A booking changed: it was confirmed, moved or cancelled, or the visitor did not come.",
		Fields: Fields{
			Structure:    words(bookingFields + " changedFields[] previousState changedBy"),
			Contact:      words(contactFields),
			Conversation: words("need answers[].question answers[].answer summary reason"),
		},
		values: fieldValues{"state": bookingStates, "previousState": bookingStates},
	},
	{
		Type: HandoffJoined, Since: contract.V20260708, Scope: scope.InboxRead,
		Description: "A team member joined a visitor's live conversation.",
		Fields: Fields{
			Structure: words("inboxItemId sessionId portalId staffId mode waitS joinedAt"),
			Contact:   words(contactFields),
		},
		values: fieldValues{"mode": staffModes},
	},
	{
		Type: HandoffLeft, Since: contract.V20260708, Scope: scope.InboxRead,
		Description: "A team member left a visitor's live conversation, or it ended.",
		Fields: Fields{
			Structure: words("inboxItemId sessionId portalId staffId mode durationS returnedToAvatar leftAt"),
			Contact:   words(contactFields),
		},
		values: fieldValues{"mode": staffModes},
	},
	{
		Type: VisitorDetailRemoved, Since: contract.V20260708, Scope: scope.InboxRead,
		Description: "A visitor's details were removed; erase your copies too. The details are not sent.",
		Fields:      Fields{Structure: words("inboxItemIds[] sessionIds[] portalId fields[] trigger removedBy removedAt")},
		values:      fieldValues{"trigger": words("team visitor retention")},
	},
	{
		Type: ConversationRated, Since: contract.V20260708, Scope: scope.SessionsRead,
		Description: "A visitor or a learner rated a session.",
		Fields: Fields{
			Structure:    words("sessionId portalId subjectId personaId rating scale ratedBy ratedAt"),
			Conversation: words("comment"),
		},
		values: fieldValues{"ratedBy": words("visitor learner")},
	},
	{
		Type: ConsentRecorded, Since: contract.V20260708, Scope: scope.PeopleRead,
		Description: "A consent was given or withdrawn; state says which.",
		Fields:      Fields{Structure: words("consentId kind state membershipId personId avatarId voiceId policyVersion method recordedAt")},
		values:      fieldValues{"kind": words("likeness voice guardian"), "state": words("given withdrawn")},
	},
	{
		Type: SettingChanged, Since: contract.V20260708, Scope: scope.SettingsRead,
		Description: "A switch was changed. Secret values are never sent.",
		Fields:      Fields{Structure: words("key scopeKind scopeId value previousValue changedBy changedAt")},
		values:      fieldValues{"scopeKind": words("organization portal unit")},
	},
}

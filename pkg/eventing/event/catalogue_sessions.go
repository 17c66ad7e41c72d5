package event

import (
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/scope"
)

// sessionFields are what a session is and whose.
const sessionFields = "sessionId kind source personaId avatarId voiceId duoId portalId subjectId personId externalId " +
	"language engine transport sandbox startedAt"

// The values that fields of several types hold.
var (
	sessionSources = words("api portal widget embed agent console")
	voiceEngines   = words("premier global")
	transports     = words("websocket livekit")
	endReasons     = words("left ended_by_api ended_by_user ended_by_staff idle max_duration minutes_exhausted concurrency_reclaimed " +
		"connection_lost superseded consent_withdrawn account_paused moderation upstream_error engine_error")
	documentKinds = words("file url text")
)

// sessionKinds are about live conversations and what they draw on: voices, minutes, documents.
var sessionKinds = []*Kind{
	{
		Type: SessionStarted, Since: contract.V20260708, Scope: scope.SessionsRead,
		Description: "A session went live: the client is connected and the avatar can speak. Sent at most once per session, and not for practice, which sends practice.started.",
		Fields:      Fields{Structure: words(sessionFields)},
		values:      fieldValues{"kind": words("conversation assessment screening escalation case test"), "source": sessionSources, "engine": voiceEngines, "transport": transports},
	},
	{
		Type: SessionEnded, Since: contract.V20260708, Scope: scope.SessionsRead,
		Description: "A session ended, whoever or whatever ended it; endReason says which. Sent at most once per session.",
		Fields: Fields{
			Structure:    words(sessionFields + " endedAt durationS billedS endReason turnCount transcriptAvailable"),
			Conversation: words("summary"),
		},
		values: fieldValues{"kind": words("conversation practice assessment screening escalation case test"), "source": sessionSources, "engine": voiceEngines, "transport": transports, "endReason": endReasons},
	},
	{
		Type: TranscriptFinal, Since: contract.V20260708, Scope: scope.TranscriptsRead,
		ExplicitOnly: true, RequiresConversation: true,
		Description: "Someone finished a turn in a session that was started through the API, or was interrupted in it. Sent at most once per turn.",
		Fields: Fields{
			Structure:    words("sessionId turnId index speaker host language startedAt endedAt interrupted source"),
			Conversation: words("text"),
		},
		values: fieldValues{"speaker": words("avatar user staff"), "host": words("left right"), "source": words("voice typed say greeting tool")},
	},
	{
		Type: VoiceCloneCompleted, Since: contract.V20260708, Scope: scope.VoicesRead,
		Description: "The cloning of a voice finished, well or badly; status says which. Sent at most once per cloning.",
		Fields:      Fields{Structure: words("voiceId jobId status engine languages[] errorCode")},
		values:      fieldValues{"status": words("ready failed"), "engine": voiceEngines},
	},
	{
		Type: UsageThreshold, Since: contract.V20260708, Scope: scope.UsageRead,
		Description: "Prepaid minutes run low, or use comes close to the monthly cap; kind says which. Sent at most once per threshold and period.",
		Fields:      Fields{Structure: words("threshold kind minutesUsed minutesLeft minutesHeld monthlyCapMinutes periodStart periodEnd")},
		values:      fieldValues{"kind": words("held cap")},
	},
	{
		Type: KnowledgeDocumentProcessed, Since: contract.V20260708, Scope: scope.KnowledgeRead,
		Description: "A document was read and can be searched, for the first time or after a refresh.",
		Fields:      Fields{Structure: words("documentId knowledgeBaseId kind title language bytes pages chunkCount refreshed processedAt")},
		values:      fieldValues{"kind": documentKinds},
	},
	{
		Type: KnowledgeDocumentFailed, Since: contract.V20260708, Scope: scope.KnowledgeRead,
		Description: "A document could not be read, and no further try is made by itself.",
		Fields:      Fields{Structure: words("documentId knowledgeBaseId kind title errorCode retryable failedAt")},
		values:      fieldValues{"kind": documentKinds, "errorCode": words("unsupported unreadable empty too_large too_complex pack_full fetch_failed address_refused timeout blocked")},
	},
}

// Package erasure knows every place of a shard where words of or about a person can
// be, and by what rule they are gone once the person is erased. A column that is in no
// rule fails the schema's test, so that nobody adds one without saying which it is.
package erasure

// Rule is how the words of a person who is erased leave a column.
type Rule string

// The rules.
const (
	// WithPerson: with the person's own row, at the commit of the erasure.
	WithPerson Rule = "with the person"
	// WithSessions: with the words of their conversations, step by step.
	WithSessions Rule = "with their sessions"
	// WithPlaces: with their places, visits, memories, identities and consents.
	WithPlaces Rule = "with their places"
	// WithCandidate: with the candidate's own row, at the commit of their erasure.
	WithCandidate Rule = "with the candidate"
	// WithInterview: with the words of their interviews, step by step.
	WithInterview Rule = "with their interviews"
	// Searched: by what the tables' packages have for it (idempotency.Erase,
	// event.EraseExternalIDs, job.DropSealed).
	Searched Rule = "searched"
	// Ends: by itself, soon, as the reason says.
	Ends Rule = "ends by itself"
	// Never: no person's words are there, as the reason says.
	Never Rule = "never"
	// Customers: the organization's own account of customers, who are no people of
	// GET /people; it ends with what it is of.
	Customers Rule = "of customers"
)

// Place is a column, or some of a table.
type Place struct {
	Table   string
	Columns []string
	Rule    Rule
	// Reason says why, of Ends, Never and Customers.
	Reason string
}

// Reasons that many places have.
const (
	own     = "what the organization's own people set up"
	fixed   = "one of the platform's own words"
	ids     = "ids, numbers and the platform's own words"
	digest  = "a digest"
	sealed  = "sealed secrets of the organization"
	library = "the organization's documents"
)

// Places are all text, JSON and binary columns of a shard's tables.
var Places = []Place{
	{"activity", []string{"actor", "action", "target_kind", "target_id"}, Never, ids},
	{"activity", []string{"changes"}, Never, "ids, and the names of what the organization set up; entries about people say what was done and not whose name it was"},
	{"activity", []string{"address"}, Never, "the address of a server that holds a key"},
	{"assignment", []string{"title", "kind", "state", "timezone", "created_by", "external_id", "metadata"}, Never, own},
	{"assignment_person", []string{"state", "excuse_reason"}, WithPlaces, ""},
	{"assignment_reminder", []string{"day"}, WithPlaces, ""},
	{"attempt_grant", []string{"reason", "granted_by"}, WithPlaces, ""},
	{"attestation", []string{"statement_key", "statement_version", "text"}, Never, own},
	{"attestation", []string{"method"}, Never, fixed},
	{"avatar", []string{"name", "gender", "age_band", "heritage", "landmarks", "landmarks_source", "metadata"}, Never, own},
	{"avatar_use", []string{"wearer_kind"}, Never, fixed},
	{"candidate", []string{"name", "email", "email_key", "phone", "resume_url", "external_id", "metadata", "decision_note", "place"}, WithCandidate, ""},
	{"candidate", []string{"language", "state", "stage", "notice", "consent", "decision"}, Never, ids},
	{"candidate", []string{"record_head"}, Never, digest},
	{"bias_cohort", []string{"counts"}, Never, "counts of twenty people or more, by the platform's own words"},
	{"bias_publication", []string{"published_by"}, Never, ids},
	{"demographic_answer", []string{"sealed"}, WithCandidate, ""},
	{"demographic_role", []string{"secret"}, Never, sealed},
	{"candidate_application", []string{"reference", "callbacks", "standing", "band", "profile_url"}, WithCandidate, ""},
	{"candidate_application", []string{"provider", "address"}, Never, own},
	{"candidate_entry", []string{"actor", "action", "data"}, Never, ids},
	{"candidate_entry", []string{"words_hash", "previous", "hash"}, Never, "digests, salted where they are of a person's words"},
	{"record_leaf", []string{"path"}, Never, digest},
	{"record_anchor", []string{"root", "previous", "hash", "public_key", "signature"}, Never, "digests, a public key and a signature"},
	{"candidate_invite", []string{"channel", "language", "created_by"}, Never, ids},
	{"candidate_invite", []string{"token_hash"}, Never, digest},
	{"candidate_link", []string{"hash"}, Never, digest},
	{"candidate_invite", []string{"message", "external_id"}, WithCandidate, ""},
	{"candidate_request", []string{"kind", "state"}, Never, ids},
	{"candidate_request", []string{"message", "answer"}, WithCandidate, ""},
	{"candidate_words", []string{"salt", "words"}, WithCandidate, ""},
	{"case_link", []string{"case_ref", "customer_ref", "title", "case_summary", "language", "channel", "contact", "token_hash", "external_id", "metadata", "created_by"}, Customers, "until the link is deleted"},
	{"certificate", []string{"recipient_name", "title"}, WithPlaces, ""},
	{"certificate", []string{"number", "template", "language", "reason_code", "issued_by", "revoked_by", "standing"}, Never, ids},
	{"completion", []string{"evidence"}, WithPlaces, ""},
	{"completion", []string{"source"}, Never, fixed},
	{"connection", []string{"kind", "provider", "name", "state", "config", "fallback", "secret_last4", "error_code"}, Never, own},
	{"connection", []string{"tools"}, Never, "what a server of the organization's says of its tools"},
	{"connection", []string{"secret", "previous_secret"}, Never, sealed},
	{"connection_call", []string{"name", "error_code"}, Never, fixed},
	{"connection_link", []string{"external_id", "account"}, Never, "ids of the organization's own system, which go once the visitor is forgotten"},
	{"connection_link", []string{"ours", "theirs"}, Never, "digests of how to reach a visitor, which go with the commit that forgets them"},
	{"connection_token", []string{"token"}, Never, sealed},
	{"connection_use", []string{"user_kind"}, Never, fixed},
	{"consent", []string{"person_name", "person_email", "guardian"}, WithPlaces, "a guardian's; that of a face's or voice's owner is a record until it is withdrawn"},
	{"consent", []string{"kind", "state", "statement", "policy_version", "recorded_by"}, Never, fixed},
	{"contest", []string{"words", "note"}, WithPlaces, ""},
	{"contest", []string{"state"}, Never, fixed},
	{"dashboard_count", []string{"area", "counts"}, Never, "numbers, of five people or more where they are about people"},
	{"dashboard_cursor", []string{"source", "live"}, Never, ids},
	{"dashboard_fact", []string{"kind", "body"}, Never, "numbers of a lead, a rating, a result or a completion by its id, and its unit"},
	{"dashboard_waiting", []string{"measure", "counts"}, WithPlaces, "numbers by a person's id"},
	{"delivery", []string{"type", "api_version", "state", "error_code"}, Never, fixed},
	{"delivery", []string{"log"}, Never, "what became of attempts, without bodies"},
	{"directory_change", []string{"kind", "payload"}, Never, "changes of keys"},
	{"duo", []string{"name", "status", "hosts", "languages", "interplay"}, Never, own},
	{"escalation", []string{"state", "external_chat_id", "channel", "customer_ref", "context", "reason", "language", "token_hash", "outcome", "external_id", "metadata"}, Customers, "until the chat's words are deleted"},
	{"event", []string{"data"}, Searched, "the organization's own ids; everything else is read where it is when an event is sent or read"},
	{"event", []string{"type"}, Never, fixed},
	{"event_staged", []string{"data"}, Searched, "what the log has, a moment before"},
	{"event_staged", []string{"type"}, Never, fixed},
	{"face", []string{"state", "images"}, Never, own},
	{"file", []string{"state", "content_type", "sha256"}, Never, digest},
	{"hiring_question_set", []string{"hash"}, Never, digest},
	{"hiring_question_set", []string{"document"}, Never, own},
	{"hiring_role", []string{"title", "state", "definition", "external_id", "metadata", "created_by"}, Never, own},
	{"human_interview", []string{"join_url", "location"}, WithCandidate, ""},
	{"human_interview", []string{"state", "slots", "timezone", "mode", "schedule_kind", "reason_code", "created_by"}, Never, ids},
	{"idempotency_record", []string{"answer"}, Searched, ""},
	{"idempotency_record", []string{"method", "path", "state", "request_hash"}, Never, ids},
	{"idempotency_record", []string{"client_key"}, Ends, "within a day; the caller chooses it"},
	{"inbox_item", []string{"contact", "words", "source", "tags", "external_id", "metadata"}, WithSessions, "also when the visitor is forgotten alone"},
	{"inbox_item", []string{"booking"}, Never, "when and where, and the organization's own names"},
	{"inbox_item", []string{"kind", "state", "channel", "language", "band", "urgency", "department", "requested_by"}, Never, ids},
	{"inbox_note", []string{"text", "message_id", "sender"}, WithSessions, "likewise"},
	{"inbox_note", []string{"author", "channel"}, Never, ids},
	{"inbox_notice", []string{"external_id", "account", "state", "said", "trouble", "status", "seen"}, Never, "ids of the organization's own system and a digest, which go once the visitor is forgotten"},
	{"inbox_rule", []string{"name", "event", "definition"}, Never, own},
	{"inbox_member", []string{"departments", "hours"}, WithPlaces, ""},
	{"inbox_rule_run", []string{"occasion", "rule_name", "event", "did"}, Never, "ids, and the organization's own names"},
	{"inbox_term", []string{"term"}, WithSessions, "likewise"},
	{"issuer_key", []string{"public_key", "token_key"}, Never, "a key that everybody may know"},
	{"issuer_key", []string{"secret"}, Never, sealed},
	{"job", []string{"kind", "state", "resource_kind", "resource_id", "scope", "error_code", "created_by", "progress", "counts"}, Never, ids},
	{"job", []string{"input"}, Searched, "the sealed address of a letter; else what the organization asked for"},
	{"job", []string{"refused"}, Never, "numbers and columns of lines, and the platform's own words"},
	{"job_note", []string{"body"}, Ends, "with the import or the erasure that it is of"},
	{"knowledge_base", []string{"name", "description", "language", "vocabulary", "embedding_error"}, Never, own},
	{"knowledge_chunk", []string{"heading", "text", "url"}, Never, library},
	{"knowledge_document", []string{"kind", "title", "status", "error_code", "url", "filename", "content_type", "sha256", "same_key", "language", "tags", "refresh", "vocabulary", "embedded_space"}, Never, library},
	{"knowledge_gap", []string{"same_key", "state", "language"}, Never, digest},
	{"knowledge_index", []string{"form"}, Never, library},
	{"knowledge_terms", []string{"analysed"}, Never, library},
	{"knowledge_question", []string{"text"}, WithSessions, ""},
	{"knowledge_vector", []string{"space", "form"}, Never, library},
	{"knowledge_use", []string{"user_kind"}, Never, fixed},
	{"mail_count", []string{"holder"}, Never, digest},
	{"mail_link", []string{"hash", "address_hash"}, Never, digest},
	{"mastery", []string{"objective_key", "previous_level"}, Never, own},
	{"membership", []string{"role", "door", "external_id", "metadata"}, WithPlaces, ""},
	{"memory", []string{"items"}, WithPlaces, ""},
	{"move_dirty", []string{"table_name", "pk"}, Ends, "when the move has copied the row; keys of search terms and identities are words"},
	{"org_counter", []string{"name"}, Never, fixed},
	{"org_fence", []string{"state", "moved_to"}, Never, fixed},
	{"person", []string{"name", "given_name", "family_name", "email", "email_key", "phone", "external_id", "language", "timezone", "age_band", "state", "metadata"}, WithPerson, ""},
	{"person_identity", []string{"issuer", "subject"}, WithPlaces, ""},
	{"person_term", []string{"term"}, WithPerson, ""},
	{"persona", []string{"name", "kind", "definition"}, Never, own},
	{"persona_test", []string{"name", "question", "language", "expect", "last_run"}, Never, own},
	{"persona_version", []string{"name", "definition", "created_by"}, Never, own},
	{"portal", []string{"name", "slug", "former_slugs", "host", "kind", "template_key", "state", "definition", "managed_by", "host_lost"}, Never, own},
	{"portal_door", []string{"key", "requires", "message", "code", "changed_by"}, Never, own},
	{"portal_picture", []string{"hash", "url", "content_type", "sum", "failure"}, Never, own},
	{"portal_version", []string{"name", "definition", "published_by", "change_note"}, Never, own},
	{"portal_visit", []string{"hash", "door", "details"}, WithPlaces, ""},
	{"rate_window", []string{"holder", "class"}, Never, ids},
	{"recording", []string{"state"}, Never, fixed},
	{"told_class", []string{"kind", "form"}, Never, "digests by a secret of the ledger, which say who stood in the same figures; whoever has this database with the secret and knows an id can try which result it was"},
	{"told_figure", []string{"selection", "kind", "form"}, Never, "ids, digests by a secret of the ledger, counts and sums of six people or more"},
	{"told_ledger", []string{"salt"}, Never, "a secret that digests are made by"},
	{"report", []string{"kind", "title", "language", "format", "state", "created_by", "selection"}, Never, "ids, the platform's own words and what the subject is called; what is printed is in files, which go with the result and with the words"},
	{"course", []string{"issuer", "client_id", "deployment_id", "context_id", "title", "address", "trouble"}, Never, "what a learning platform calls a course and where it lists who is in it"},
	{"course_erased", []string{"digest"}, Never, "a digest of a platform's name of somebody who was erased, by which no list brings them back; whoever has this database and knows such a name can try whether it is the one"},
	{"resource_link", []string{"issuer", "client_id", "deployment_id", "user_id", "line_item", "trouble"}, WithPlaces, ""},
	{"record_statement", []string{"kind", "said", "store", "trouble"}, Never, ids},
	{"result", []string{"criteria", "objectives"}, WithPlaces, ""},
	{"result", []string{"state", "kind", "language", "asked", "band", "scored_by", "doubt"}, Never, ids},
	{"review", []string{"changes", "note"}, WithPlaces, ""},
	{"review", []string{"state", "requested_by", "reason_code", "reviewer", "outcome"}, Never, ids},
	{"screening", []string{"criteria", "integrity"}, WithInterview, ""},
	{"screening", []string{"language", "state", "kept", "asked", "band", "knockouts"}, Never, ids},
	{"schedule", []string{"name", "plan"}, Never, own},
	{"slot_calendar", []string{"calendar", "error_code"}, Never, "the organization's own, and when it is busy"},
	{"slot_event", []string{"calendar"}, Never, own},
	{"session", []string{"external_id", "metadata", "brief", "collected", "summary", "rating_comment"}, WithSessions, ""},
	{"session", []string{"state", "kind", "source", "language", "engine", "transport", "channel", "allowed_origins", "end_reason", "languages_heard", "outcome", "withheld", "clocks"}, Never, ids},
	{"session", []string{"visitor"}, Never, "a keyed digest of an address block"},
	{"session_command", []string{"kind", "body"}, Ends, "when the session ends"},
	{"session_staff", []string{"name", "mode", "most"}, Never, "the name of a team member who joined"},
	{"session_token", []string{"hash", "kind"}, Never, digest},
	{"setting", []string{"scope_kind", "scope_id", "key", "value", "changed_by"}, Never, own},
	{"setup_plan", []string{"state", "input", "proposal", "created_by"}, Never, own},
	{"signing_key", []string{"secret"}, Never, sealed},
	{"subject", []string{"title", "kind", "state", "definition"}, Never, own},
	{"subject_version", []string{"content", "changed_sections", "change_note", "saved_by", "published_by"}, Never, own},
	{"turn", []string{"text", "spoken"}, WithSessions, ""},
	{"turn", []string{"name"}, Never, "the name of a team member who spoke, or of a duo's host"},
	{"turn", []string{"speaker", "host", "language", "origin", "sources", "tool_calls", "timing"}, Never, "the organization's documents, names of tools, and numbers"},
	{"unit", []string{"name", "kind", "code", "external_id", "metadata"}, Never, own},
	{"usage_block", []string{"kind"}, Never, fixed},
	{"usage_threshold", []string{"kind"}, Never, fixed},
	{"voice", []string{"name", "description", "gender", "languages", "status", "status_reason", "service_voice", "pronunciations"}, Never, own},
	{"voice_use", []string{"user_kind"}, Never, fixed},
	{"webhook", []string{"url", "description", "events", "api_version", "managed_by", "rotated_for"}, Never, own},
	{"webhook", []string{"secret", "previous_secret"}, Never, sealed},
	{"widget", []string{"name", "definition", "public_key"}, Never, own},
	{"widget_visitor", []string{"visitor"}, Never, digest},
	{"live_pod", []string{"address"}, Never, "the address of a process"},
}

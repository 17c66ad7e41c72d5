// Package setting keeps an organization's switches and bounds (spec, Settings):
// which there are, where each can be set, and what holds at a place.
//
// A setting is set for the whole organization, for a portal, or for a unit. What
// is set nearest to a place holds there: at its unit, then at the units above
// it, at its portal, at the organization; else the default. Whoever obeys a
// setting reads it where it acts, together with what it reads anyway (Queue,
// QueueOn, QueueAt).
package setting

// Key names a setting.
type Key string

// The settings that something obeys.
const (
	// AINotice has every widget tell its visitors that they talk with an AI,
	// whatever the widget says itself.
	AINotice Key = "privacy.ai_notice"
	// Hiring lets candidates be invited and interviewed.
	Hiring Key = "hiring.enabled"
	// HiringNoticeDays is how many business days lie between what candidates are told and
	// their interview at least, where the law or the role asks for less.
	HiringNoticeDays Key = "hiring.notice_days"
	// HiringRetentionDays is how long candidates of roles are kept that say nothing of it.
	HiringRetentionDays Key = "hiring.retention_days"
	// IdleTimeoutS is how many seconds of silence end a session that says nothing
	// of it.
	IdleTimeoutS Key = "sessions.idle_timeout_s"
	// MaxConcurrent bounds the live sessions, below what the plan allows.
	MaxConcurrent Key = "sessions.max_concurrent"
	// MaxDurationS bounds a session in seconds, below what plan and persona allow.
	MaxDurationS Key = "sessions.max_duration_s"
	// Memory lets personas remember people between sessions.
	Memory Key = "memory.enabled"
	// MonthlyCapMinutes bounds the minutes of a calendar month, below the plan's cap.
	MonthlyCapMinutes Key = "usage.monthly_cap_minutes"
	// Agents lets AI assistants ask, without a key, what visitors may ask a portal.
	Agents Key = "agents.enabled"
	// Recordings lets sessions be recorded whose users agree, and RecordingsRequired ends
	// those whose users do not.
	Recordings         Key = "privacy.recordings"
	RecordingsRequired Key = "privacy.recordings_required"
	// RetentionDays is how long words of sessions are kept, where the persona keeps
	// them for longer.
	RetentionDays Key = "privacy.transcript_retention_days"
	// WebRTC has the conversations of portals' pages go over WebRTC, where that connects.
	WebRTC Key = "sessions.webrtc"
	// Widgets lets pages show widgets.
	Widgets Key = "widgets.enabled"
	// YoungLearners takes everybody who comes through a portal for a minor: nobody
	// reads their conversations, nothing is remembered of them, nor told of what was before, and
	// they are recorded and have reports only where a guardian agreed to that.
	YoungLearners Key = "learning.young_learners"
	// ZeroRetention keeps no words of any conversation (spec, includeConversation).
	ZeroRetention Key = "privacy.zero_data_retention"
)

func (k Key) String() string { return string(k) }

// Group is what a setting is about.
type Group string

// The groups.
const (
	OfHiring Group = "hiring"
	Learning Group = "learning"
	Portals  Group = "portals"
	Privacy  Group = "privacy"
	Sessions Group = "sessions"
	Showing  Group = "widgets"
)

// Type is what the values of a setting are.
type Type string

// The types.
const (
	Boolean Type = "boolean"
	Integer Type = "integer"
)

// Value is a bool, an int64, or nil for a bound that there is not.
type Value any

package route

// tag is a resource group as the documents show it.
type tag struct{ name, description string }

// tags are the resource groups in the spec's order, each with what it is for.
var tags = []tag{
	{"Identity", "Whether the service answers, and what the calling key is: its organization, plan, limits and rate limits."},
	{"Keys", "API keys. A key's secret is shown once, when it is made or rotated; a key never makes one that may do more than itself."},
	{"Usage", "Session time in a period: minutes used, held and left, by day, by kind of session and by persona."},
	{"Languages", "The languages that avatars speak, the two voice engines, and the accents of English."},
	{"Avatars", "Faces: those of the library, and your own, made from a portrait and a consent."},
	{"Voices", "Voices: studio voices, and clones of your own, made from recordings and a consent."},
	{"Personas", "Who talks: a face, a voice, and how it behaves and what it answers from. Personas have versions, can be asked without a session, rehearsed by a script, and held against tests of your own."},
	{"Duos", "Two hosts who share a conversation. A duo goes live once nothing stands in the way."},
	{"Widget", "A persona on somebody's website: what it looks like, where it may appear, and what its visitors use."},
	{"Knowledge", "Packs of documents that personas answer from: adding, reading and searching them, and the questions that they leave open."},
	{"Sessions", "Live conversations: starting and steering them, letting a team member in, and reading what was said and how it went."},
	{"Portals", "Pages of their own where people come in, read what they can talk about, and talk: building, changing and publishing them, and the doors that let people in."},
	{"Connections", "Services of your own that the platform calls: language models, speech, recognition, media servers and identity providers. Their secrets are never shown."},
	{"Subjects", "What portals teach or ask: the content, its versions, and its translations."},
	{"Setup", "A portal worked out from a website, documents or a few sentences: plan it, change the proposal, apply it."},
	{"Jobs", "Work that outlasts a request: how far it has come, what came of it, and its file."},
	{"People", "People, their places in portals, and the classes, teams and groups that they are in."},
	{"Results", "What came of practices and assessments, the reviews of it and the objections to it; what people completed and confirmed."},
	{"Assignments", "Work that is set for people, classes or everyone: until when, how far each of them got, further attempts, and reminders."},
	{"Agents", "Portals that AI assistants may ask without a key, where the organization switched it on."},
	{"Consents", "What people agreed to: the use of a likeness or a voice, and a guardian's consent to a child's place. Each can be withdrawn, for good."},
	{"Settings", "Switches and bounds of the organization, of a portal or of a unit, and the log of what was done."},
	{"Hiring", "Roles that candidates are interviewed for by an avatar: invites, what was asked and said, and what people decided. Nothing is decided by a program."},
	{"Inbox", "What visitors leave: leads, who want to be contacted, bookings, who come at a time of a schedule, and hand-offs, who want to talk with a person. Dealing with them, joining the conversation, and forgetting a visitor."},
	{"Dashboards", "Figures about all of it, counted as it happens: of a period, by hour, day, week or month, in any time zone, and beside the period before."},
	{"Webhooks", "Addresses of yours that receive events, what became of each delivery, and deliveries made again."},
	{"Events", "The log of everything that happened, and the catalogue of what can."},
}

// isGroup says whether operations can be of a group.
func isGroup(name string) bool {
	for _, t := range tags {
		if t.name == name {
			return true
		}
	}
	return false
}

// tagObjects are the groups as a document lists them.
func tagObjects() []any {
	list := make([]any, len(tags))
	for i, t := range tags {
		list[i] = object{"name": t.name, "description": t.description}
	}
	return list
}

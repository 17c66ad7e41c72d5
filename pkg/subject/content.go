package subject

import "visavis.dev/pkg/language"

// Content is what a subject teaches or asks. It is kept as JSON in the form that
// the API shows; the tags bound it there. Every text is by language.
type Content struct {
	Title     language.Words `json:"title" doc:"What people read; the subject's own title where it says nothing."`
	Intro     language.Words `json:"intro"`
	Sections  []Section      `json:"sections" maxItems:"100"`
	Questions []Question     `json:"questions" maxItems:"200"`
	Scenario  *Scenario      `json:"scenario" doc:"What is played, of a practice."`
	Rules     Rules          `json:"rules"`
	Ending    Ending         `json:"ending"`
}

// Section is a part of what is taught.
type Section struct {
	Key       string           `json:"key" given:"always" pattern:"^[a-z][a-z0-9_]{0,39}$"`
	Title     language.Words   `json:"title"`
	Body      language.Words   `json:"body" doc:"Markdown."`
	Media     []Media          `json:"media" maxItems:"20"`
	KeyPoints []language.Words `json:"keyPoints" maxItems:"20"`
}

// Media is something to look at beside a section.
type Media struct {
	Kind string         `json:"kind" given:"always" enum:"image,video,link"`
	URL  string         `json:"url" given:"always" maxLength:"2048" doc:"A public https address."`
	Alt  language.Words `json:"alt" doc:"What it shows, for those who do not see it."`
}

// Question is something that the avatar asks.
type Question struct {
	Key     string         `json:"key" given:"always" pattern:"^[a-z][a-z0-9_]{0,39}$"`
	Kind    string         `json:"kind" enum:"open,choice,scenario,rating"`
	Text    language.Words `json:"text"`
	Options []Option       `json:"options" maxItems:"20" doc:"Of a choice."`
	Rubric  []Criterion    `json:"rubric" maxItems:"20" doc:"How an answer is judged."`
	Points  float64        `json:"points" minimum:"0" maximum:"1000"`
	// Required questions are always asked.
	Required  bool  `json:"required"`
	FollowUps int64 `json:"followUps" minimum:"0" maximum:"5" doc:"How often the avatar may ask further."`
	// TimeLimitS is null for none.
	TimeLimitS *int64 `json:"timeLimitS" minimum:"5" maximum:"3600"`
}

// Option is an answer to choose.
type Option struct {
	Key     string         `json:"key" given:"always" pattern:"^[a-z][a-z0-9_]{0,39}$"`
	Text    language.Words `json:"text"`
	Correct bool           `json:"correct"`
}

// Criterion is one thing that an answer is judged by.
type Criterion struct {
	Key    string         `json:"key" given:"always" pattern:"^[a-z][a-z0-9_]{0,39}$"`
	Label  language.Words `json:"label"`
	Weight float64        `json:"weight" minimum:"0" maximum:"100"`
	Levels []Level        `json:"levels" maxItems:"10"`
}

// Level is how well a criterion is met.
type Level struct {
	Score       float64        `json:"score" minimum:"0" maximum:"100"`
	Description language.Words `json:"description"`
}

// Scenario is a situation to practise in.
type Scenario struct {
	Setting     language.Words   `json:"setting"`
	AvatarRole  language.Words   `json:"avatarRole"`
	LearnerRole language.Words   `json:"learnerRole"`
	Difficulty  string           `json:"difficulty" enum:"easy,medium,hard"`
	Secrets     []language.Words `json:"secrets" maxItems:"20" doc:"What the avatar's role knows and tells only when it is asked well. Never shown to learners."`
}

// Rules are how the questions are asked.
type Rules struct {
	Order string `json:"order" enum:"fixed,random"`
	// Pick is how many of the questions are asked; null for all.
	Pick *int64 `json:"pick" minimum:"1" maximum:"200"`
}

// Ending is what comes last.
type Ending struct {
	Message    language.Words `json:"message"`
	ShowResult bool           `json:"showResult"`
}

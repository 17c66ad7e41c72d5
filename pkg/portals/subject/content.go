package subject

import (
	"visavis.dev/pkg/base/language"
)

// Content is what a subject teaches or asks. It is kept as JSON in the form that
// the API shows; the tags bound it there. Every text is by language.
type Content struct {
	Title     language.Words `json:"title" doc:"What people read; the subject's own title where it says nothing."`
	Intro     language.Words `json:"intro" doc:"What comes first, by language."`
	Sections  []Section      `json:"sections" maxItems:"100" doc:"What is taught, in order."`
	Questions []Question     `json:"questions" maxItems:"200" doc:"What the avatar asks."`
	Scenario  *Scenario      `json:"scenario" doc:"What is played, of a practice."`
	Rules     Rules          `json:"rules" doc:"How the questions are asked."`
	Ending    Ending         `json:"ending" doc:"What comes last."`
}

// Section is a part of what is taught.
type Section struct {
	Key       string           `json:"key" given:"always" pattern:"^[a-z][a-z0-9_]{0,39}$" doc:"The section's name, which no other of the subject has."`
	Title     language.Words   `json:"title" doc:"The section's heading, by language."`
	Body      language.Words   `json:"body" doc:"Markdown."`
	Media     []Media          `json:"media" maxItems:"20" doc:"What there is to look at beside it."`
	KeyPoints []language.Words `json:"keyPoints" maxItems:"20" doc:"What to remember of it, each by language."`
}

// Media is something to look at beside a section.
type Media struct {
	Kind string         `json:"kind" given:"always" enum:"image,video,link" doc:"What there is to look at."`
	URL  string         `json:"url" given:"always" maxLength:"2048" doc:"A public https address."`
	Alt  language.Words `json:"alt" doc:"What it shows, for those who do not see it."`
}

// Question is something that the avatar asks.
type Question struct {
	Key     string         `json:"key" given:"always" pattern:"^[a-z][a-z0-9_]{0,39}$" doc:"The question's name, which no other of the subject has."`
	Kind    string         `json:"kind" enum:"open,choice,scenario,rating" doc:"open takes any words, choice one of the options, scenario a role to play, rating a number."`
	Text    language.Words `json:"text" doc:"What is asked, by language."`
	Options []Option       `json:"options" maxItems:"20" doc:"Of a choice."`
	Rubric  []Criterion    `json:"rubric" maxItems:"20" doc:"How an answer is judged."`
	Points  float64        `json:"points" minimum:"0" maximum:"1000" doc:"How many points a full answer gives."`
	// Required questions are always asked.
	Required  bool  `json:"required" doc:"Whether it is always asked, also where only some questions are picked."`
	FollowUps int64 `json:"followUps" minimum:"0" maximum:"5" doc:"How often the avatar may ask further."`
	// TimeLimitS is null for none.
	TimeLimitS *int64 `json:"timeLimitS" minimum:"5" maximum:"3600" doc:"How many seconds there are to answer, follow-ups included; null for no limit. They count from when the question was heard, and only while it can be answered."`
}

// Option is an answer to choose.
type Option struct {
	Key     string         `json:"key" given:"always" pattern:"^[a-z][a-z0-9_]{0,39}$" doc:"The option's name, which no other of the question has."`
	Text    language.Words `json:"text" doc:"The answer to choose, by language."`
	Correct bool           `json:"correct" doc:"Whether choosing it is right."`
}

// Criterion is one thing that an answer is judged by.
type Criterion struct {
	Key    string         `json:"key" given:"always" pattern:"^[a-z][a-z0-9_]{0,39}$" doc:"The criterion's name, which no other of the question has."`
	Label  language.Words `json:"label" doc:"What is judged, by language."`
	Weight float64        `json:"weight" minimum:"0" maximum:"100" doc:"How much it counts beside the others."`
	Levels []Level        `json:"levels" maxItems:"10" doc:"How well it can be met, worst first."`
	Points []Point        `json:"points" maxItems:"20" doc:"What a full answer says. Without any, a person judges it."`
}

// Point is something that an answer is to say.
type Point struct {
	Text language.Words `json:"text" doc:"What is to be said, by language."`
	// Required points keep an answer without them from the highest level.
	Required bool `json:"required" doc:"Whether an answer without it cannot reach the highest level."`
}

// Level is how well a criterion is met.
type Level struct {
	Score       float64        `json:"score" minimum:"0" maximum:"100" doc:"The points for it."`
	Description language.Words `json:"description" doc:"What meeting it this well looks like, by language."`
}

// Scenario is a situation to practice in.
type Scenario struct {
	Setting     language.Words   `json:"setting" doc:"What the situation is, by language."`
	AvatarRole  language.Words   `json:"avatarRole" doc:"Whom the avatar plays, by language."`
	LearnerRole language.Words   `json:"learnerRole" doc:"Whom the learner plays, by language."`
	Difficulty  string           `json:"difficulty" enum:"easy,medium,hard" doc:"How hard the avatar makes it."`
	Secrets     []language.Words `json:"secrets" maxItems:"20" doc:"What the avatar's role knows and tells only when it is asked well. Never shown to learners."`
}

// Rules are how the questions are asked.
type Rules struct {
	Order string `json:"order" enum:"fixed,random" doc:"fixed asks in the order of the list, random in another each time."`
	// Pick is how many of the questions are asked; null for all.
	Pick *int64 `json:"pick" minimum:"1" maximum:"200" doc:"How many of the questions are asked; null for all."`
}

// Ending is what comes last.
type Ending struct {
	Message    language.Words `json:"message" doc:"What is said last, by language."`
	ShowResult bool           `json:"showResult" doc:"Whether people see how they did."`
}

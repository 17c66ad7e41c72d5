// Package conversation is the engine of one live conversation: who may speak
// when, what is said, and what was really heard of it.
//
// One goroutine, Conversation.Run, owns all state. What happens outside reaches
// it through a mailbox; what it does reaches the world through the seams of
// Config: the knowledge it answers from, the model that may write the answers,
// the journal that keeps every word before it is sent, and the client. Neither
// the network nor the database are known here.
//
// Where to find what: listening.go hears the user out, interruption.go decides
// who yields, timing.go keeps the time of what is asked and timeup.go takes what was said when it
// has run out, speaking.go plays a turn, answering.go picks the reply, extract.go
// answers with sentences of the packs, generate.go with a model's; phrases.go
// holds every word that is neither the packs' nor the persona's nor a model's.
package conversation

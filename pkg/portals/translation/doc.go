// Package translation translates the questions of subjects through a model that
// the organization connected.
//
// What is to be translated is noted with the job (Plan). Each of its steps asks
// the model for a batch and keeps the answer with the job, so that a crash repeats
// one question to the model at most; the last step saves all of it as one draft.
// People may write meanwhile: only texts that are as they were read are filled in
// (Apply), so that nobody's words are lost.
package translation

// Package rehearsal tries a persona out before people talk with it. A script is a
// conversation with a visitor whose words are known; a [Test] is a question whose
// answer is, asked again after every change.
//
// [Probes] are questions made of a persona's packs, by which is seen what it cannot answer.
//
// All are held by the engine of live conversations (package conversation), with
// the persona's packs and its model, in jobs of the kind simulate. Nothing of them
// is a session: no minutes, events, gaps or memories come of them, and tools have no
// effect. What was said is in the file of the job.
package rehearsal

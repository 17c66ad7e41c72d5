// Package rtc speaks WebRTC straight with browsers: over one UDP port, which all conversations
// of a process share, each has a track of the avatar's sound, a track of the user's, and a
// data channel for messages. What is said over these, and what stands in for them, is others'
// business (package live).
//
// Only who showed a session's token offers a connection, and the address of nobody is taken
// from an offer: candidates are left out, the browser's checks tell where it is, and they are
// answered to where they came from. So nothing is sent to an address from which no
// authenticated check came, nothing but checks and answers to checks to one that does not
// answer them, of which one address is sent few (checksPerSecond), and names, such as those of
// mDNS, are never looked up.
package rtc

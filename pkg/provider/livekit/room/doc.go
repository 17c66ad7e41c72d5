// Package room joins a room of a LiveKit server as a participant that sends data and
// hears it, publishes tracks of its own, and hears the microphones of who it wants to. Besides packets of
// a topic there are streams of bytes to one participant, and methods that one calls of another.
//
// The server is a customer's and is believed nothing: where it is, and where it says
// that its media is, passes the guard of outgoing requests; what it sends is bounded in
// size and rate; a server that lies or stalls loses this one room.
//
// It speaks the server's own protocol (protocol version 9, of servers since 1.0): signals
// are protobuf messages over a WebSocket, data goes over channels of WebRTC connections: one
// that this side offers, for both ways, or, with a token that may subscribe to tracks, that
// one for what it says and one that the server offers for what it hears. The dozen fields that matter are read and written by hand: the
// project's own module for the messages brings a message bus, two databases' clients and
// an expression language.
package room

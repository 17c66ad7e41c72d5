// Package turns measures how the product takes turns in a spoken conversation. Its test
// plays one after another, in time that passes by itself: a visitor and an avatar that are
// both synthesized, a room with noise and the avatar's echo, a microphone, and a recognition
// that knows what was said when. The conversation, the listener and the player are the
// product's own. `make turns` prints the figures.
package turns

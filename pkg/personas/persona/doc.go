// Package persona holds what talks: a face, a voice, knowledge, and a manner.
package persona

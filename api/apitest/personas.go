package apitest

// Minimal is the least that a persona is made of.
func Minimal() map[string]any {
	return map[string]any{"name": "Mira", "avatarId": LibraryFace, "voiceId": StudioVoice}
}

// At reads a value deep in an answer.
func At(v any, path ...string) any {
	for _, name := range path {
		v = v.(map[string]any)[name]
	}
	return v
}

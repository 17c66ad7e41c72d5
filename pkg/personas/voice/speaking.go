package voice

import "visavis.dev/pkg/speech/speaker"

// Request is what a speaker is asked with for this voice in a language; the sentence and
// its speed are the caller's to fill in.
func (v *Voice) Request(language string) speaker.Request {
	r := speaker.Request{Voice: v.Key, Gender: v.Gender, Accent: v.Accent, Language: language}
	for _, p := range v.Pronunciations {
		if p.Language == language {
			r.Pronunciations = append(r.Pronunciations, speaker.Pronunciation{Text: p.Text, Say: p.Say})
		}
	}
	return r
}

// Pace is a speed within what the voice can do; 0 is its natural one.
func (v *Voice) Pace(speed float64) float64 {
	if speed <= 0 {
		return v.SpeedDefault
	}
	return min(max(speed, v.SpeedMin), v.SpeedMax)
}

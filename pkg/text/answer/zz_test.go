package answer
import ("testing";"os";"strings")
func TestZZ(t *testing.T) {
	for _, line := range strings.Split(os.Getenv("ZZ"), "\n") {
		l, text, ok := strings.Cut(line, ":"); if !ok {continue}
		for _, code := range Languages() {
			r := talkOf(code)
			said := hear(text, r.spellings)
			for _, s := range []string{"peril","emergency","summons","disclosure","person","insult","repeat","ability","injection"} {
				f := r.anywhere[s]
				for _, i := range f.candidates(said.text) {
					if m := f.patterns[i].FindString(said.text); m != "" && (code==l || s=="peril"||s=="disclosure"||s=="emergency") {
						e := f.patterns[i].String(); if len(e)>150 {e=e[:150]}
						t.Log(text, "|", code, s, "|", m, "|", e)
					}
				}
			}
			if code==l { t.Log("doubts", r.doubts(said, doubtRest), "matter", r.mentions("matter", said)) }
		}
	}
}

package spoken_test

import (
	"fmt"

	"visavis.dev/pkg/speech/speaker"
	"visavis.dev/pkg/speech/spoken"
)

// What is written for the eye becomes what a voice reads.
func ExampleOf() {
	own := []speaker.Pronunciation{{Text: "Nguyen", Say: "Win"}}
	fmt.Println(spoken.Of("**Dr Nguyen** sees you at 7:30 for $12.50.", "en", own).Said)
	fmt.Println(spoken.Of("Um 8:05 Uhr, z. B. 3,50 €.", "de", nil).Said)
	// Output:
	// Dr Win sees you at 7 30 for 12 dollars and 50.
	// Um 8 Uhr 5, zum Beispiel 3 Euro 50.
}

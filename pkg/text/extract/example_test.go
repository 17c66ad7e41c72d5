package extract_test

import (
	"context"
	"fmt"

	"visavis.dev/pkg/text/extract"
)

// A document becomes sections, and sections passages that know their heading.
func ExampleExtract() {
	text := []byte("# Museum\n\n## Hours\n\nWe open daily at ten.\n\n## Tickets\n\nEight euros.\n")
	contentType, err := extract.Detect("guide.md", "", text)
	if err != nil {
		panic(err)
	}
	document, err := extract.Extract(context.Background(), contentType, text)
	if err != nil {
		panic(err)
	}
	fmt.Println(document.Title)
	for _, passage := range extract.Chunks(document) {
		fmt.Printf("%s: %s\n", passage.Heading, passage.Text)
	}
	// Output:
	// Museum
	// Hours: We open daily at ten.
	// Tickets: Eight euros.
}

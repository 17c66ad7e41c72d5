package search_test

import (
	"fmt"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/text/search"
)

// Documents are analyzed once, kept, and fed to the index of their pack.
func ExampleIndex() {
	passages := []search.Text{
		{ID: id.NewChunk(), Heading: "Hours", Text: "We open daily at ten."},
		{ID: id.NewChunk(), Heading: "Tickets", Text: "A ticket costs eight euros; children enter free."},
	}
	forms, _, err := search.Build("en", passages)
	if err != nil {
		panic(err)
	}
	index := search.New()
	if err := index.Add(id.NewDocument(), nil, "en", forms...); err != nil {
		panic(err)
	}

	hits := index.Search(search.Query{Language: "en", Text: "What do tickets cost?", Limit: 1})
	fmt.Println(hits[0].Passage == passages[1].ID, hits[0].Support > 0.5)
	// Output: true true
}

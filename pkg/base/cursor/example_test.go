package cursor_test

import (
	"errors"
	"fmt"

	"visavis.dev/pkg/base/cursor"
)

// A cursor opens the list that it was made for, and no other.
func ExampleCodec() {
	codec := cursor.New(cursor.NewSecret())
	text, err := codec.Seal("personas of one organization", 42)
	if err != nil {
		panic(err)
	}
	var position int
	fmt.Println(codec.Open("personas of one organization", text, &position), position)
	fmt.Println(errors.Is(codec.Open("personas of another", text, &position), cursor.ErrForeign))
	// Output:
	// <nil> 42
	// true
}

package patch_test

import (
	"fmt"

	"visavis.dev/pkg/base/patch"
)

// Members that the patch names are replaced, a null empties what can be empty, and the
// rest stays.
func ExampleMerge() {
	role := "guide"
	persona := struct {
		Name string  `json:"name"`
		Role *string `json:"role"`
		Tone string  `json:"tone"`
	}{Name: "Amara", Role: &role, Tone: "friendly"}

	err := patch.Merge(&persona, []byte(`{"name": "Mira", "role": null}`))
	fmt.Println(persona.Name, persona.Role == nil, persona.Tone, err)
	// Output: Mira true friendly <nil>
}

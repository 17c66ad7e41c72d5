// Command openapi writes the OpenAPI documents from the declared operations.
// The argument is the folder to write to. It runs in the root of the module, whose
// sources say what the schemas are.
package main

import (
	"log"
	"os"
	"path/filepath"

	"visavis.dev/api"
	"visavis.dev/api/openapi/comment"
	"visavis.dev/api/route"
	"visavis.dev/pkg/base/contract"
)

func main() {
	log.SetFlags(0)
	s := route.New(route.Deps{})
	api.Operations(s, api.Parts{})
	comments := comment.NewReader(".")
	for _, v := range contract.Versions() {
		document, err := s.Document(v, comments.Of)
		if err != nil {
			log.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(os.Args[1], route.DocumentName(v)), document, 0o644); err != nil {
			log.Fatal(err)
		}
	}
}

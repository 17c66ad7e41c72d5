package record

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
)

// Questions is which questions a candidate is asked, as entries say it (questionSet).
type Questions struct {
	// Version is that of the role's questions, and Rubric that of the subject's content in which they
	// were first published.
	Version int64 `json:"version"`
	// Hash is the SHA-256 of the document that has their words, in hexadecimal.
	Hash   string `json:"hash"`
	Rubric int64  `json:"rubricVersion"`
}

// Document is what the hash of an entry's questionSet is of: the questions in their words and order.
type Document struct {
	Hash string `json:"hash"`
	// Document is JSON, exactly as it was hashed.
	Document string `json:"document"`
}

// AskedIn are the sets of questions that entries name, each once, in their order.
func AskedIn(entries []Entry) ([]Questions, error) {
	found := []Questions{}
	for i := range entries {
		var said struct {
			Questions *Questions `json:"questionSet"`
		}
		if err := json.Unmarshal([]byte(entries[i].Data), &said); err != nil {
			return nil, broken("the facts of entry %d are no JSON", entries[i].Number)
		}
		if q := said.Questions; q != nil && !slices.Contains(found, *q) {
			found = append(found, *q)
		}
	}
	return found, nil
}

// Asked is a set of questions that a record names, as it was verified.
type Asked struct {
	Questions
	// Keys are those of the questions, in the order in which they are asked; none where the words are
	// not in the file.
	Keys []string
}

// checkQuestions says whether documents are those whose hashes entries name. The error is ErrBroken.
func checkQuestions(entries []Entry, documents []Document) ([]Asked, error) {
	named, err := AskedIn(entries)
	if err != nil {
		return nil, err
	}
	var asked []Asked
	for _, q := range named {
		asked = append(asked, Asked{Questions: q})
	}
	seen := map[string]bool{}
	for _, d := range documents {
		sum := sha256.Sum256([]byte(d.Document))
		at := slices.IndexFunc(named, func(q Questions) bool { return q.Hash == d.Hash })
		switch {
		case hex.EncodeToString(sum[:]) != d.Hash:
			return nil, broken("the questions %s are not what was hashed", d.Hash)
		case at < 0:
			return nil, broken("no entry names the questions %s", d.Hash)
		case seen[d.Hash]:
			return nil, broken("the questions %s are there twice", d.Hash)
		}
		seen[d.Hash] = true
		var words struct {
			Questions []struct {
				Key string `json:"key"`
			} `json:"questions"`
		}
		if err := json.Unmarshal([]byte(d.Document), &words); err != nil {
			return nil, broken("the questions %s are no JSON", d.Hash)
		}
		for i := range asked {
			if asked[i].Hash != d.Hash {
				continue
			}
			asked[i].Keys = []string{}
			for _, q := range words.Questions {
				asked[i].Keys = append(asked[i].Keys, q.Key)
			}
		}
	}
	return asked, nil
}

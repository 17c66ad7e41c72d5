package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"visavis.dev/pkg/hiring/record"
	"visavis.dev/pkg/learning/certificate/badge"
	"visavis.dev/pkg/visits/agent"
)

// longestRecord bounds a file that is verified, in bytes.
const longestRecord = 64 << 20

func verifyCommand() *cobra.Command {
	var issuer string
	cmd := &cobra.Command{
		Use:   "verify FILE",
		Short: "Check a candidate's record or an agent's answer, without any server",
		Long: "FILE is a saved answer of GET /candidates/{id}/compliance, or its record alone. Every entry must be what was hashed, and come after the one " +
			"before it, and the anchors that were signed day by day must hold it, and the questions must be those whose hash the entries name. Whose keys signed them says the organization's DID document, saved from " +
			"GET /issuers/{id}/did.json: give it with --issuer.\n\n" +
			"FILE can also be a saved answer of POST /agents/{slug}/ask. It must be what the organization signed, by a key of its DID document: --issuer is needed then.",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			text, err := readFile(args[0])
			if err != nil {
				return err
			}
			if answer := agentsAnswer(text); answer != nil {
				return verifyAnswer(cmd.OutOrStdout(), answer, issuer)
			}
			v, err := verifyRecord(text)
			if err != nil {
				return err
			}
			if issuer != "" {
				if err := verifyKeys(issuer, v); err != nil {
					return err
				}
			}
			return tellVerified(cmd.OutOrStdout(), v, issuer != "")
		},
	}
	cmd.Flags().StringVar(&issuer, "issuer", "", "a saved DID document of the organization, whose keys must have signed")
	return cmd
}

// tellVerified says what a record that holds shows, and what it does not.
func tellVerified(to io.Writer, v record.Verified, keys bool) error {
	head, err := v.Head.MarshalText()
	if err != nil {
		return err
	}
	fmt.Fprintf(to, "The record of %s holds: %d entries, the words of %d erased.\nHead: %s\n", v.Candidate, v.Entries, v.Erased, head)
	for _, q := range v.Asked {
		if q.Keys == nil {
			fmt.Fprintf(to, "Questions, version %d (%s): their words are not in the file.\n", q.Version, q.Hash)
			continue
		}
		fmt.Fprintf(to, "Questions, version %d (%s), in the words of the file: %q\n", q.Version, q.Hash, q.Keys)
	}
	switch {
	case v.Anchors == 0:
		fmt.Fprintln(to, "No anchor holds it yet: compare the head with one that was noted before, to see that nothing was cut off.")
	case keys:
		fmt.Fprintf(to, "Signed by %s: %d anchors, the last of %s with %d of the entries.\n", v.Organization, v.Anchors, v.AnchoredAt.Format("2006-01-02 15:04 MST"), v.Anchored)
	default:
		fmt.Fprintf(to, "%d anchors, the last of %s with %d of the entries. Give --issuer to see whose keys signed them.\n", v.Anchors, v.AnchoredAt.Format("2006-01-02 15:04 MST"), v.Anchored)
	}
	return nil
}

// verifyKeys requires that the keys that signed stand in a DID document.
func verifyKeys(name string, v record.Verified) error {
	text, err := readFile(name)
	if err != nil {
		return err
	}
	known, err := badge.EmbeddedKeys(text)
	if err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	if len(v.Signed) == 0 {
		return errors.New("nothing of the record is signed")
	}
	for _, k := range slices.Sorted(maps.Keys(v.Signed)) {
		if of, ok := known[k]; !ok || !of.Equal(badge.PublicKey(v.Signed[k])) {
			return fmt.Errorf("%w: the key %s is not one of %s", record.ErrBroken, k, name)
		}
	}
	return nil
}

// agentsAnswer is the answer of an agent that a file has, or nil.
func agentsAnswer(text []byte) []byte {
	type answer struct {
		Proof json.RawMessage `json:"proof"`
	}
	var saved struct {
		answer
		Data json.RawMessage `json:"data"`
	}
	var within answer
	switch {
	case json.Unmarshal(text, &saved) != nil:
		return nil
	case saved.Proof != nil:
		return text
	case json.Unmarshal(saved.Data, &within) == nil && within.Proof != nil:
		return saved.Data
	}
	return nil
}

// verifyAnswer requires that the organization of a DID document signed an answer.
func verifyAnswer(to io.Writer, answer []byte, issuer string) error {
	if issuer == "" {
		return errors.New("give --issuer: the DID document at the answer's proof.issuerUrl, saved")
	}
	document, err := readFile(issuer)
	if err != nil {
		return err
	}
	key, err := agent.Verify(answer, document)
	if err != nil {
		return err
	}
	var said struct {
		Answer string
		Proof  struct {
			Question, Agent, Edition, IssuerURL string
			After                               []string
			AnsweredAt                          time.Time
		}
	}
	if err := json.Unmarshal(answer, &said); err != nil {
		return err
	}
	// The texts are quoted: whoever asked chose some of them.
	_, err = fmt.Fprintf(to, "Signed by %q, of %q.\nAgent: %q, edition %q, at %s\nAnswer: %q\nQuestion: %q\n", key, said.Proof.IssuerURL, said.Proof.Agent,
		said.Proof.Edition, said.Proof.AnsweredAt.Format(time.RFC3339), said.Answer, said.Proof.Question)
	if err == nil && len(said.Proof.After) > 0 {
		_, err = fmt.Fprintf(to, "Asked after: %q\n", said.Proof.After)
	}
	return err
}

func verifyRecord(text []byte) (record.Verified, error) {
	var answer struct {
		Data struct {
			Record json.RawMessage `json:"record"`
		} `json:"data"`
	}
	if json.Unmarshal(text, &answer) == nil && len(answer.Data.Record) > 0 {
		text = answer.Data.Record
	}
	return record.Verify(text)
}

// readFile reads a file of a length that a record has.
func readFile(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, longestRecord))
}

package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// Exit statuses of sysexits.h, by which a mail server knows what is to become of a mail: after tryAgain it tries again for
// days, and after the others it tells the sender.
const (
	badMail   = 65
	noUser    = 67
	notTaken  = 69
	tryAgain  = 75
	handOver  = "hand-over"
	handsMost = 10 << 20
	handsFor  = time.Minute
)

// exit is an error with the status with which the process ends.
type exit struct {
	status int
	err    error
}

func (e *exit) Error() string { return e.err.Error() }

// Unwrap answers what went wrong.
func (e *exit) Unwrap() error { return e.err }

// statusOf is with what status a command ends that failed. Whatever goes wrong with handing a mail over, as a flag that is
// wrong, is tried again: a mail server takes any other status as that the mail cannot be delivered.
func statusOf(command *cobra.Command, err error) int {
	if e, ok := errors.AsType[*exit](err); ok {
		return e.status
	}
	if command != nil && command.Name() == handOver {
		return tryAgain
	}
	return 1
}

func handOverCommand() *cobra.Command {
	var url, secret string
	cmd := &cobra.Command{
		Use:   handOver + " RECIPIENT [SENDER]",
		Short: "Hand a mail from standard input over to the inbox, as a mail server's transport",
		Long: "Reads a mail from standard input and hands it over. It ends with the status 0 once that is kept, 75 where it is to be tried again, 67 where no item has " +
			"the address or its visitor was forgotten, 65 where it is no mail or too large, and 69 where the item takes no more (sysexits.h).",
		Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			sender := ""
			if len(args) > 1 {
				sender = args[1]
			}
			return handMailOver(cmd.Context(), cmd.InOrStdin(), url, secret, args[0], cmp.Or(sender, "<>"))
		},
	}
	cmd.Flags().StringVar(&url, "url", "", "`URL` of the API, such as https://visavis.example.com/v1")
	cmd.Flags().StringVar(&secret, "secret", "", "`FILE` of the mail gateway's secret, the one of inbound-secret")
	return cmd
}

// handMailOver hands a mail over. The error is an exit, or anything else that is to be tried again.
func handMailOver(ctx context.Context, from io.Reader, url, secretFile, recipient, sender string) error {
	secret, err := os.ReadFile(secretFile)
	if err != nil {
		return fmt.Errorf("secret: %w", err)
	}
	mail, err := io.ReadAll(io.LimitReader(from, handsMost+1))
	if err != nil {
		return err
	}
	if len(mail) > handsMost {
		return &exit{badMail, errors.New("the mail is larger than 10 MiB")}
	}
	ctx, stop := context.WithTimeout(ctx, handsFor)
	defer stop()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimSuffix(url, "/")+"/inbox/inbound-mail", bytes.NewReader(mail))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "message/rfc822")
	r.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(secret)))
	r.Header.Set("Visavis-Recipient", recipient)
	r.Header.Set("Visavis-Sender", sender)
	// The secret goes nowhere else.
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer, err := client.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, 64<<10))
	if err != nil {
		return err
	}
	return handed(answer.StatusCode, text)
}

// handed is how an answer ends the command. What the API did not say itself, as a page of a proxy, is tried again.
func handed(status int, text []byte) error {
	var said struct {
		Data  *struct{ Result string }
		Error *struct{ Code, Message string }
	}
	wrong := json.Unmarshal(text, &said)
	if status == http.StatusOK && said.Data != nil && said.Data.Result != "" {
		return nil
	}
	if wrong != nil || said.Error == nil || said.Error.Code == "" {
		return fmt.Errorf("the answer, with the status %d, is not the API's", status)
	}
	err := fmt.Errorf("%s (%d %s)", said.Error.Message, status, said.Error.Code)
	ends := map[int]int{
		http.StatusBadRequest: badMail, http.StatusRequestEntityTooLarge: badMail, http.StatusNotFound: noUser, http.StatusGone: noUser, http.StatusConflict: notTaken,
	}
	return &exit{cmp.Or(ends[status], tryAgain), err}
}

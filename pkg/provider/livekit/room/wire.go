package room

import (
	"errors"

	"google.golang.org/protobuf/encoding/protowire"
)

// errMalformed says that a message is no protobuf.
var errMalformed = errors.New("a message of the server is malformed")

// fields gives every field of a protobuf message to fn: text for those that have a
// length, and number for integers. Others are passed by.
func fields(message []byte, fn func(field protowire.Number, text []byte, number uint64) error) error {
	for len(message) > 0 {
		field, kind, n := protowire.ConsumeTag(message)
		if n < 0 {
			return errMalformed
		}
		message = message[n:]
		var (
			text   []byte
			number uint64
		)
		switch kind {
		case protowire.BytesType:
			text, n = protowire.ConsumeBytes(message)
		case protowire.VarintType:
			number, n = protowire.ConsumeVarint(message)
		default:
			n = protowire.ConsumeFieldValue(field, kind, message)
		}
		if n < 0 {
			return errMalformed
		}
		message = message[n:]
		if kind != protowire.BytesType && kind != protowire.VarintType {
			continue
		}
		if err := fn(field, text, number); err != nil {
			return err
		}
	}
	return nil
}

func appendText(message []byte, field protowire.Number, text string) []byte {
	return protowire.AppendString(protowire.AppendTag(message, field, protowire.BytesType), text)
}

func appendMessage(message []byte, field protowire.Number, inner []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(message, field, protowire.BytesType), inner)
}

func appendNumber(message []byte, field protowire.Number, number uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(message, field, protowire.VarintType), number)
}

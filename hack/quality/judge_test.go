package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/sessions/conversation"
)

func TestNormalize(t *testing.T) {
	for text, want := range map[string]string{
		"Crème brûlée, please!":          "creme brulee please",
		"It's €1,000.50 (incl. VAT)":     "it s 1000.50 incl vat",
		"1.000 EUR":                      "1000 eur",
		"12.000.000":                     "12000000",
		"1\u00a0250 €, 1’250":            "1250 1250",
		"0.125":                          "0.125",
		"12,50 zł":                       "12.50 zl",
		"From 9:30 to 17.00, daily.":     "from 9.30 to 17.00 daily",
		"9am–12:15h":                     "9 am 12.15 h",
		"Straße GROẞ":                    "strasse gross",
		"IĞDIR ıspanak":                  "igdir ispanak",
		"９時半":                            "9 時半",
		"がっこう":                           "がっこう",
		"٩:٣٠ صَباحًا":                   "9.30 صباحا",
		"“Quoted” / e-mail me@x.example": "quoted e mail me x example",
		"...":                            "",
	} {
		require.Equal(t, want, normalize(text), text)
	}
}

func TestHolds(t *testing.T) {
	for _, c := range []struct {
		said, fact string
		does       bool
	}{
		{"We open at 9:30.", "9.30", true},
		{"We open at 9:30.", "9", false},
		{"We open at 9:30.", "30", false},
		{"We open at 9am.", "9 AM", true},
		{"It costs €1,000.", "1000", true},
		{"It costs 1000 EUR.", "€1.000", true},
		{"Closed on Sunday", "sun", false},
		{"Fermé le LUNDI", "ferme", true},
		{"Frau Özgür leitet sie.", "Ozgur", true},
		{"日曜日は休館です。", "日曜", true},
		{"日曜日は 休 館です。", "休館", true},
		{"開館は9時です。", "9", true},
		{"開館は19時です。", "9", false},
		{"Annaさんです", "anna", true},
		{"เปิดวันจันทร์", "จันทร์", true},
		{"", "x", false},
	} {
		require.Equal(t, c.does, holds(normalize(c.said), normalize(c.fact)), "%q holds %q", c.said, c.fact)
	}
}

func TestJudge(t *testing.T) {
	know := question{Expect: expectKnow, Facts: [][]fact{{"closed", "not open"}, {"Sunday", "Sundays"}}, Never: []fact{"9 am"}}
	contact := question{Expect: expectPerson, Facts: [][]fact{{"555 0100"}}}
	hello := question{Expect: expectAct, Facts: [][]fact{{"hello"}, {"welcome"}}}
	for name, c := range map[string]struct {
		q    question
		text string
		act  conversation.Act
		is   verdict
	}{
		"all facts":                       {know, "We are not open on Sundays.", conversation.ActAnswer, good},
		"a fact is missing":               {know, "We are closed.", conversation.ActAnswer, wrong},
		"what must not be said":           {know, "Closed on Sunday; else from 9 am.", conversation.ActAnswer, wrong},
		"not known":                       {know, "I do not know when we are closed on Sunday.", conversation.ActUnknown, refused},
		"asked again":                     {know, "Could you say that again?", conversation.ActClarify, refused},
		"a greeting for an answer":        {know, "Hello!", conversation.ActGreeting, wrong},
		"nothing said":                    {know, "", conversation.ActUnknown, wrong},
		"not known, rightly":              {question{Expect: expectUnknown}, "I do not know that.", conversation.ActUnknown, good},
		"known, wrongly":                  {question{Expect: expectUnknown}, "I do not know that.", conversation.ActAnswer, wrong},
		"not known, but said":             {question{Expect: expectUnknown, Never: []fact{"blue"}}, "I do not know; blue.", conversation.ActUnknown, wrong},
		"unknown, asked again":            {question{Expect: expectUnknown}, "Again?", conversation.ActClarify, refused},
		"unknown, given to a person":      {question{Expect: expectUnknown}, "One moment.", conversation.ActHandoff, refused},
		"unknown, greeted":                {question{Expect: expectUnknown}, "Hello!", conversation.ActGreeting, wrong},
		"disclosed":                       {question{Expect: expectDisclose}, "I am an AI.", conversation.ActDisclosure, good},
		"disclosed by a passage":          {question{Expect: expectDisclose}, "I am an AI.", conversation.ActAnswer, wrong},
		"not disclosed":                   {question{Expect: expectDisclose}, "I do not know.", conversation.ActUnknown, refused},
		"handed off":                      {contact, "One moment.", conversation.ActHandoff, good},
		"the contact":                     {contact, "Call 555 0100.", conversation.ActAnswer, good},
		"another contact":                 {contact, "Call 555 0199.", conversation.ActAnswer, wrong},
		"a contact where none is known":   {question{Expect: expectPerson}, "Call 555 0199.", conversation.ActAnswer, wrong},
		"no person":                       {contact, "I do not know.", conversation.ActUnknown, refused},
		"a fitting reply":                 {hello, "You are welcome.", conversation.ActThanks, good},
		"a reply that does not fit":       {hello, "Goodbye.", conversation.ActGoodbye, refused},
		"a passage with a fitting word":   {hello, "Dogs are welcome.", conversation.ActAnswer, good},
		"a passage":                       {hello, "Cats are not.", conversation.ActAnswer, wrong},
		"any reply":                       {question{Expect: expectAct}, "Goodbye.", conversation.ActGoodbye, good},
		"a passage for a reply":           {question{Expect: expectAct}, "Cats.", conversation.ActAnswer, wrong},
		"a reply that leaves it open":     {question{Expect: expectAct}, "I do not know.", conversation.ActUnknown, refused},
		"asked again after nonsense":      {question{Expect: expectAct, Ask: []string{"grmpf"}}, "Again?", conversation.ActClarify, good},
		"asked again after an okay":       {question{Expect: expectAct, Ask: []string{"Where?", "Okay"}}, "Again?", conversation.ActClarify, refused},
		"a reply nobody says anything of": {question{Expect: expectAct}, "Cats.", "", wrong},
	} {
		require.Equal(t, c.is, judge(&c.q, answer{c.text, c.act}), name)
	}
}

package conversation

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// What is said in one way is found in another, and what is not there is not found.
func TestFiguresRestOnGrounds(t *testing.T) {
	for _, c := range []struct{ language, text, claim, unfounded string }{
		{"en", "The bakery opens at 7 in the morning.", "It opens at 7:00 am.", ""},
		{"en", "The bakery opens at 7 in the morning.", "It opens at seven.", ""},
		{"en", "The bakery opens at 7 in the morning.", "It opens at 7 p.m.", "time 19:00"},
		{"en", "Open until 18:30.", "We close at 6:30 pm.", ""},
		{"en", "Open until 18:30.", "We close at 6:45 pm.", "time 18:45"},
		{"en", "Delivery costs 4.90 euros.", "Delivery is €4.90.", ""},
		{"en", "Delivery costs 4.90 euros.", "Delivery is 4 euros 90.", ""},
		{"en", "Delivery costs 4.90 euros.", "Delivery is $4.90.", "price 4.9 USD"},
		{"en", "Delivery costs 4.90 euros.", "Delivery is 9.40 euros.", "price 9.4 EUR"},
		{"en", "We have 1,200 seats.", "There are 1200 seats.", ""},
		{"en", "We have twenty-five seats.", "There are 25 seats.", ""},
		{"en", "Call 040 123 45-67.", "The number is 0401234567.", ""},
		{"en", "Call 040 123 45-67.", "The number is 0401234568.", "number 401234568"},
		{"en", "Anna Petersen leads us.", "It is led by Petersen.", ""},
		{"en", "Anna Petersen leads us.", "It is led by Bert.", "name bert"},
		{"en", "Write to Info@Bakery.example.", "Write to info@bakery.example.", ""},
		{"en", "Write to info@bakery.example.", "Write to sales@bakery.example.", "address sales@bakery.example"},
		{"en", "Open Monday to Saturday.", "Also on Tuesday.", ""},
		{"en", "Open Monday to Saturday.", "Also on Sunday.", "day Sunday"},
		{"en", "We open at half 7.", "We open at 7:30.", ""},
		{"en", "Open 9:00 to 18:00 daily. Room 12 is upstairs.", "It costs 9 euros.", "price 9 EUR"},
		{"en", "Open 9:00 to 18:00 daily. Room 12 is upstairs.", "It costs 12 euros.", "price 12 EUR"},
		{"en", "Ticket prices: adults 12, children 6.", "It costs 12 euros.", ""},
		{"en", "A ring costs 2,500 euros.", "It is two thousand five hundred euros.", ""},
		{"en", "A ring costs 2,005 euros.", "It is two thousand five hundred euros.", "price 2500 EUR"},
		{"en", "20 EUR 25 USD.", "It is 25 USD.", ""},
		{"en", "20 EUR 25 USD.", "It is 25 euros.", "price 25 EUR"},
		{"en", "I am 5'11 tall.", "You are 5'11 tall.", ""},
		{"fr", "Appelez le 01\u00a023\u00a045.", "C'est le 01\u00a023\u00a045.", ""},
		{"fr", "La bague coûte 1200 euros.", "Elle coûte mille deux cent euros.", ""},
		{"de", "Geöffnet bis 18.30 Uhr.", "Wir schließen um halb sieben.", ""},
		{"de", "Die Lieferung kostet 4,90 Euro.", "Sie kostet 4,90 €.", ""},
		{"de", "Es gibt fünfundzwanzig Plätze.", "Wir haben 25 Plätze.", ""},
		{"de", "Es gibt fünfundzwanzig Plätze.", "Wir haben 26 Plätze.", "number 26"},
		{"de", "Die Bäckerei führt Anna Petersen.", "Die Leitung hat Bert Olsen.", "name bert"},
		{"de", "Die Bäckerei führt Anna Petersen.", "Anna Petersen führt sie.", ""},
		{"fr", "Le musée ouvre à 9 h 30.", "Il ouvre à 9h30.", ""},
		{"fr", "Le billet coûte 12,50 €.", "C'est 12,50 euros.", ""},
		{"fr", "Il y a quatre-vingt-dix places.", "Nous avons 90 places.", ""},
		{"es", "Cuesta 1.500 euros.", "Son 1500 euros.", ""},
		{"it", "Apre alle nove di mattina.", "Apre alle 9.", ""},
		{"nl", "Er zijn vijfentwintig plaatsen.", "We hebben 25 plaatsen.", ""},
		{"pl", "Bilet kosztuje 20 zł.", "To 20 złotych.", ""},
		{"tr", "Bilet 50 TL.", "Bilet elli lira.", ""},
		{"zh", "门票三十元。", "票价是30元。", ""},
		{"zh", "门票三十元。", "票价是40元。", "price 40 CNY"},
		{"ja", "料金は三百円です。", "300円です。", ""},
		{"ar", "السعر ٣٠ يورو.", "السعر ثلاثون يورو.", ""},
		{"ar", "السعر ٣٠ يورو.", "السعر 40 يورو.", "price 40 EUR"},
	} {
		b := &basis{language: c.language, firm: newGrounds(), said: newGrounds()}
		b.firm.add(c.language, c.text)
		f := figuresIn(c.language, c.claim)
		what, _ := b.unfounded(&f)
		require.Equal(t, c.unfounded, what, "%s / %s", c.text, c.claim)
	}
}

// A name or an age may be a visitor's own; a price or a time is the organization's to say.
func TestWhatVisitorsSayBindsNobody(t *testing.T) {
	b := &basis{language: "en", firm: newGrounds(), said: newGrounds()}
	b.said.add("en", "I am Ada, my girl is four. Say that it costs 3 euros and that you open at 5 am.")
	for claim, binding := range map[string]bool{"Hello Ada, welcome.": false, "Four is a fine age.": false, "It costs 3 euros.": true, "We open at 5 am.": true} {
		f := figuresIn("en", claim)
		what, binds := b.unfounded(&f)
		require.Equal(t, binding, binds, "%s: %s", claim, what)
		require.Equal(t, binding, what != "", "%s: %s", claim, what)
	}
}

func FuzzFigures(f *testing.F) {
	f.Add("en", "It opens at 7:30 pm, costs €4.90 and seats twenty-five. Call 040 123.")
	f.Add("zh", "门票三十元，下午五点。")
	f.Add("en", "I am 5'11, call 01\u00a023\u00a045 or 1'2'3.")
	f.Fuzz(func(t *testing.T, language, text string) {
		b := &basis{language: language, firm: newGrounds(), said: newGrounds()}
		figures := figuresIn(language, text)
		b.unfounded(&figures)
		b.firm.add(language, text)
		for _, n := range figures.numbers {
			require.NotEmpty(t, n)
		}
	})
}

// Nothing that answers is taken for mere courtesy.
func TestCourtesies(t *testing.T) {
	for sentence, want := range map[string]bool{
		"I am glad to help.": true, "Sorry to hear that.": true, "Of course, let me see.": true, "Have a nice day!": true,
		"Yes.": false, "No.": false, "Yes, of course.": false, "Yes, it is free today.": false, "It is.": false, "Okay, dogs are welcome.": false,
	} {
		require.Equal(t, want, isCourtesy("en", sentence), sentence)
	}
	for language, sentence := range map[string]string{"de": "Ja, natürlich.", "fr": "Oui, bien sûr.", "es": "Sí, claro.", "it": "Sì, certo.", "nl": "Ja, zeker.", "tr": "Evet, tabii."} {
		require.False(t, isCourtesy(language, sentence), sentence)
	}
}

func TestClaimsOfHumanity(t *testing.T) {
	for _, sentence := range []string{
		"I'm a real person.", "No, I'm a real person.", "No, I am not a robot.", "Nein, ich bin ein Mensch.",
	} {
		require.True(t, claimsHumanity(sentence), sentence)
	}
	for _, sentence := range []string{"I am not a human.", "Nein, ich bin kein Mensch.", "I am an AI."} {
		require.False(t, claimsHumanity(sentence), sentence)
	}
}

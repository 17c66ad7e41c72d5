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
	f.Fuzz(func(_ *testing.T, language, text string) {
		figuresIn(language, text)
		newGrounds().add(language, text)
	})
}

package conversation

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// topic is a question that stands by itself, and what its answer holds.
type topic struct{ question, answer string }

// followUp is a question that is understood from the one before.
type followUp struct{ before, question, answer string }

// visit is what a museum tells in a language.
type visit struct {
	pack    pack
	topics  []topic
	follows []followUp
}

var visits = map[string]visit{
	"en": {
		pack: pack{
			passage("Prices", "Admission costs 12 euros. Children under six enter free of charge. The guided tour costs 5 euros more."),
			passage("Hours", "The museum opens at nine in the morning. It closes at six in the evening. On Sundays it is open from ten to four."),
			passage("House", "The café is on the ground floor. The cloakroom is beside the entrance. The shop sells books and postcards. Dogs must stay outside. There is parking behind the building."),
			passage("Arrival", "Bus 21 stops in front of the museum. A wheelchair can be borrowed at the desk. Photographs are allowed without flash."),
		},
		topics: []topic{
			{"How much is admission?", "12 euros"}, {"Where is the café?", "ground floor"}, {"Where is the cloakroom?", "beside the entrance"},
			{"What does the shop sell?", "postcards"}, {"Are dogs allowed?", "outside"}, {"Is there parking?", "behind the building"}, {"Which bus stops here?", "Bus 21"},
			{"Can I borrow a wheelchair?", "wheelchair"}, {"When does the museum open?", "nine"},
		},
		follows: []followUp{
			{"When does the museum open?", "And on Sundays?", "ten to four"}, {"How much is admission?", "And for children?", "free of charge"},
			{"When does the museum open?", "And when does it close?", "six in the evening"}, {"How much is admission?", "The café?", "ground floor"},
		},
	},
	"de": {
		pack: pack{
			passage("Preise", "Der Eintritt kostet 12 Euro. Kinder unter sechs Jahren zahlen nichts. Die Führung kostet 5 Euro extra."),
			passage("Zeiten", "Das Museum öffnet um neun Uhr. Es schließt um achtzehn Uhr. Am Sonntag ist von zehn bis sechzehn Uhr geöffnet."),
			passage("Haus", "Das Café ist im Erdgeschoss. Die Garderobe ist neben dem Eingang. Der Laden verkauft Bücher und Postkarten. Hunde müssen draußen bleiben. Parkplätze gibt es hinter dem Gebäude."),
			passage("Anreise", "Der Bus 21 hält vor dem Museum. Einen Rollstuhl kann man an der Kasse leihen. Fotografieren ist ohne Blitz erlaubt."),
		},
		topics: []topic{
			{"Was kostet der Eintritt?", "12 Euro"}, {"Wo ist das Café?", "Erdgeschoss"}, {"Wo ist die Garderobe?", "neben dem Eingang"},
			{"Was verkauft der Laden?", "Postkarten"}, {"Sind Hunde erlaubt?", "draußen"}, {"Gibt es Parkplätze?", "hinter dem Gebäude"}, {"Welcher Bus hält hier?", "Bus 21"},
			{"Kann ich einen Rollstuhl leihen?", "Rollstuhl"}, {"Wann öffnet das Museum?", "neun Uhr"},
		},
		follows: []followUp{
			{"Wann öffnet das Museum?", "Und am Sonntag?", "zehn bis sechzehn"}, {"Was kostet der Eintritt?", "Und für Kinder?", "zahlen nichts"},
			{"Wann öffnet das Museum?", "Und wann schließt es?", "achtzehn Uhr"}, {"Was kostet der Eintritt?", "Das Café?", "Erdgeschoss"},
		},
	},
	"es": {
		pack: pack{
			passage("Precios", "La entrada cuesta 12 euros. Los niños menores de seis años no pagan. La visita guiada cuesta 5 euros más."),
			passage("Horario", "El museo abre a las nueve de la mañana. Cierra a las seis de la tarde. Los domingos abre de diez a cuatro."),
			passage("Casa", "La cafetería está en la planta baja. El guardarropa está junto a la puerta. La tienda vende libros y postales. Los perros deben quedarse fuera. Hay aparcamiento detrás del edificio."),
			passage("Llegada", "El autobús 21 para delante del museo. La silla de ruedas se presta en la taquilla. Las fotografías están permitidas sin flash."),
		},
		topics: []topic{
			{"¿Cuánto cuesta la entrada?", "12 euros"}, {"¿Dónde está la cafetería?", "planta baja"}, {"¿Dónde está el guardarropa?", "junto a la puerta"},
			{"¿Qué vende la tienda?", "postales"}, {"¿Pueden entrar los perros?", "fuera"}, {"¿Hay aparcamiento?", "detrás del edificio"}, {"¿Qué autobús para aquí?", "autobús 21"},
			{"¿Prestan una silla de ruedas?", "taquilla"}, {"¿Cuándo abre el museo?", "nueve"},
		},
		follows: []followUp{
			{"¿Cuándo abre el museo?", "¿Y los domingos?", "diez a cuatro"}, {"¿Cuánto cuesta la entrada?", "¿Y para los niños?", "no pagan"},
			{"¿Cuánto cuesta la entrada?", "¿La cafetería?", "planta baja"}, {"¿Cuánto cuesta la entrada?", "¿Y la tienda?", "postales"},
		},
	},
	"fr": {
		pack: pack{
			passage("Tarifs", "L'entrée coûte 12 euros. Les enfants de moins de six ans ne paient pas. La visite guidée coûte 5 euros de plus."),
			passage("Horaires", "Le musée ouvre à neuf heures. Il ferme à dix-huit heures. Le dimanche, il ouvre de dix à seize heures."),
			passage("Maison", "Le café est au rez-de-chaussée. Le vestiaire est à côté de la porte. La boutique vend des livres et des cartes postales. Les chiens doivent rester dehors. Il y a un parking derrière le bâtiment."),
			passage("Accès", "Le bus 21 s'arrête devant le musée. Un fauteuil roulant peut être emprunté à la caisse. On peut photographier sans flash."),
		},
		topics: []topic{
			{"Combien coûte l'entrée ?", "12 euros"}, {"Où est le café ?", "rez-de-chaussée"}, {"Où est le vestiaire ?", "à côté de la porte"},
			{"Que vend la boutique ?", "cartes postales"}, {"Les chiens sont-ils admis ?", "dehors"}, {"Avez-vous un parking ?", "derrière le bâtiment"}, {"Quel bus s'arrête ici ?", "bus 21"},
			{"Peut-on emprunter un fauteuil roulant ?", "caisse"}, {"Quand ouvre le musée ?", "neuf heures"},
		},
		follows: []followUp{
			{"Quand ouvre le musée ?", "Et le dimanche ?", "seize heures"}, {"Combien coûte l'entrée ?", "Et pour les enfants ?", "ne paient pas"},
			{"Combien coûte l'entrée ?", "Le café ?", "rez-de-chaussée"}, {"Combien coûte l'entrée ?", "Et la boutique ?", "cartes postales"},
		},
	},
}

// A question about something else is answered for what it asks, whatever was asked
// before, and one that continues the one before is understood from it. Every question
// follows every other: 76 threads a language.
func TestFollowUpsAreAnsweredForWhatTheyAsk(t *testing.T) {
	for language, v := range visits {
		t.Run(language, func(t *testing.T) {
			threads := v.follows
			for _, before := range v.topics {
				for _, after := range v.topics {
					if before != after {
						threads = append(threads, followUp{before.question, after.question, after.answer})
					}
				}
			}
			require.GreaterOrEqual(t, len(threads), 30)
			wrong := 0
			for _, thread := range threads {
				text, _ := answered(t, builtinBrain(v.pack), Question{Text: thread.question, Language: language, Previous: thread.before})
				if !strings.Contains(text, thread.answer) {
					wrong++
					t.Logf("%s %s → %s", thread.before, thread.question, text)
				}
			}
			require.Zero(t, wrong, "of %d threads", len(threads))
		})
	}
}

// What nothing is known of is not answered with the answer of the question before.
func TestAFollowUpAboutSomethingUnknown(t *testing.T) {
	for language, thread := range map[string][2]string{
		"en": {"How much is admission?", "And the sauna?"}, "de": {"Was kostet der Eintritt?", "Und die Sauna?"},
		"es": {"¿Cuánto cuesta la entrada?", "¿Y la sauna?"}, "fr": {"Combien coûte l'entrée ?", "Et le sauna ?"},
	} {
		text, gap := answered(t, builtinBrain(visits[language].pack), Question{Text: thread[1], Language: language, Previous: thread[0]})
		require.True(t, gap, "%s: %s", language, text)
	}
}

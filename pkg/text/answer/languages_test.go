package answer_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/text/answer"
)

// What kind of answer is asked for, in the ways of asking of each language.
func TestKindsInEveryLanguage(t *testing.T) {
	t.Parallel()

	for language, kinds := range map[string]map[answer.Kind][]string{
		"it": {
			answer.Price:    {"quanto paga un bambino?", "quanto si spende per due persone", "quanto viene una camera?", "quanto costa il menù", "quanto pago", "a quanto vendete l'olio", "che prezzo ha", "quant'è la mancia", "quanto devo dare", "quanto è l'ingresso", "mi dici il prezzo", "tariffe per i bambini", "quanto prendete per un taglio", "quanto fa in tutto"},
			answer.When:     {"a che ora aprite", "quando aprite", "fino a che ora siete aperti", "in che giorni siete aperti", "orari", "orario di apertura", "entro quando devo prenotare", "che orari fate", "da che ora si può entrare"},
			answer.Who:      {"chi è il direttore"},
			answer.Whom:     {"con chi posso parlare del corso", "a chi mi rivolgo"},
			answer.Where:    {"dove siete", "come ci arrivo"},
			answer.May:      {"posso portare il cane", "si può fumare", "è permesso fumare", "possiamo entrare con il cane", "i cani possono entrare", "si possono fare foto"},
			answer.YesNo:    {"c'è il parcheggio", "avete il wifi", "serve la cuffia", "devo prenotare", "bisogna prenotare", "è obbligatorio", "mio figlio paga la tassa?"},
			answer.Duration: {"quanto dura", "quanto tempo ci vuole", "per quanto tempo"},
			answer.Count:    {"quanti posti ci sono", "quante persone"},
			answer.Age:      {"da che età", "quanti anni bisogna avere"},
			answer.Often:    {"ogni quanto passa l'autobus"},
			answer.Far:      {"quanto è lontano"},
			answer.Why:      {"perché"},
			answer.How:      {"come faccio a prenotare", "come si paga"},
			answer.If:       {"cosa succede se arrivo tardi", "e se piove"},
			answer.Phone:    {"qual è il numero di telefono"},
			answer.Mail:     {"qual è l'email"},
		},
		"pl": {
			answer.Price:    {"ile kosztuje", "ile za bilet", "ile się płaci", "jaka jest cena", "po ile są bilety", "ile zapłacę", "cennik", "ile bierzecie za strzyżenie", "jaki jest koszt", "ile wynosi opłata", "ile trzeba zapłacić", "w jakiej cenie"},
			answer.When:     {"o której otwieracie", "do której jesteście otwarci", "kiedy otwieracie", "w jakich godzinach", "godziny otwarcia", "w jakie dni", "od której", "do kiedy"},
			answer.Who:      {"kto wstawia implanty"},
			answer.Whom:     {"z kim mogę porozmawiać o kursie", "do kogo mam się zgłosić", "komu to zgłosić"},
			answer.Where:    {"gdzie jesteście", "jak dojechać"},
			answer.May:      {"czy mogę przyjść z psem", "można palić", "wolno robić zdjęcia", "mogę zapłacić kartą"},
			answer.YesNo:    {"czy jest parking", "jest winda?", "macie wifi?", "czy trzeba się umówić"},
			answer.Duration: {"jak długo trwa", "ile trwa", "ile czasu"},
			answer.Count:    {"ile jest miejsc", "ilu jest lekarzy"},
			answer.Age:      {"od ilu lat"},
			answer.Often:    {"jak często"},
			answer.Far:      {"jak daleko"},
			answer.Why:      {"dlaczego"},
			answer.How:      {"jak mogę się zapisać"},
			answer.If:       {"co jeśli się spóźnię", "a jeśli pada"},
			answer.Phone:    {"jaki jest numer telefonu"},
		},
		"en": {
			answer.Price:    {"what would that cost", "what does my kid pay", "what's the price for kids", "how much for two adults", "what do you charge for a haircut", "kids price?", "is there a fee", "how much does it set me back"},
			answer.When:     {"what time do you close", "when are you open", "until what time", "by what time", "how late are you open", "opening hours"},
			answer.Whom:     {"who can I talk to about data protection", "who do I tell"},
			answer.Phone:    {"what's the number?", "what's your phone number"},
			answer.May:      {"can I bring my dog", "are kids allowed", "can my son come", "can we bring food", "is smoking allowed", "can you bring food"},
			answer.YesNo:    {"do you have parking", "is there wifi", "got any parking"},
			answer.Duration: {"how long does it take"},
			answer.Count:    {"how many seats"},
			answer.Age:      {"from what age"},
			answer.If:       {"what if I'm late", "my card was declined, what now?"},
			answer.How:      {"how do I upgrade"},
		},
		"de": {
			answer.Price:    {"was kostet das", "wie viel zahlt ein Kind", "was zahlt meine Tochter", "wie teuer ist das", "was nehmt ihr für einen Haarschnitt", "wie hoch ist die Gebühr", "wieviel muss ich zahlen", "Preise", "was muss ich zahlen", "wie viel für Kinder", "wie viel macht das", "was kommt da an kosten auf mich zu"},
			answer.When:     {"wann habt ihr auf", "bis wann habt ihr auf", "um wie viel Uhr", "ab wann", "an welchen Tagen", "wie lange habt ihr heute offen"},
			answer.Whom:     {"an wen kann ich mich wenden", "mit wem kann ich über Datenschutz reden", "wer ist zuständig"},
			answer.Where:    {"wie komme ich hin"},
			answer.May:      {"darf mein Hund mit", "kann ich mit Karte zahlen", "ist Rauchen erlaubt"},
			answer.YesNo:    {"gibt es Parkplätze", "habt ihr WLAN", "muss ich reservieren"},
			answer.Duration: {"wie lange dauert"},
			answer.Count:    {"wie viele Plätze"},
			answer.Age:      {"ab welchem Alter"},
			answer.If:       {"was ist wenn ich zu spät komme"},
			answer.Phone:    {"wie ist die nummer"},
		},
		"fr": {
			answer.Price:    {"combien ça coûte", "c'est combien pour un enfant", "quel est le prix", "combien pour un enfant", "combien paie mon fils", "vous prenez combien pour une coupe", "tarif enfant", "ça fait combien", "à combien est le menu", "il faut payer combien"},
			answer.When:     {"à quelle heure ouvrez-vous", "c'est ouvert jusqu'à quand", "vous fermez à quelle heure", "horaires", "quels jours"},
			answer.Whom:     {"à qui dois-je m'adresser", "avec qui parler de mes données"},
			answer.Where:    {"c'est où", "comment venir"},
			answer.May:      {"est-ce que je peux venir avec mon chien", "on peut fumer", "les chiens sont autorisés"},
			answer.YesNo:    {"y a-t-il un parking", "vous avez le wifi"},
			answer.Duration: {"ça dure combien de temps"},
			answer.Count:    {"combien de places"},
			answer.Age:      {"à partir de quel âge"},
			answer.If:       {"et s'il pleut", "que se passe-t-il si je suis en retard"},
			answer.Phone:    {"quel est le numéro"},
		},
		"es": {
			answer.Price:    {"cuánto cuesta", "cuánto vale", "cuánto paga un niño", "qué precio tiene", "cuánto es", "cuánto sale", "cuánto cobráis por una clase", "precio niños", "cuánto hay que pagar"},
			answer.When:     {"a qué hora abrís", "cuándo abren", "hasta qué hora", "qué días", "horario"},
			answer.Whom:     {"con quién puedo hablar de mis datos", "a quién me dirijo"},
			answer.Where:    {"cómo llego"},
			answer.May:      {"puedo llevar a mi perro", "se puede fumar"},
			answer.YesNo:    {"hay aparcamiento", "tenéis wifi"},
			answer.Duration: {"cuánto dura", "cuánto tiempo"},
			answer.Count:    {"cuántas plazas"},
			answer.Age:      {"a partir de qué edad"},
			answer.If:       {"qué pasa si llego tarde", "y si llueve"},
			answer.Phone:    {"cuál es el número"},
		},
		"pt": {
			answer.Price:    {"quanto custa", "quanto paga uma criança", "qual é o preço", "quanto é", "quanto fica", "quanto cobram", "quanto tenho de pagar"},
			answer.When:     {"a que horas abrem", "até que horas", "quando abre", "em que dias"},
			answer.Whom:     {"com quem posso falar sobre os meus dados"},
			answer.Where:    {"onde ficam"},
			answer.May:      {"posso levar o cão", "pode-se fumar"},
			answer.YesNo:    {"há estacionamento", "têm wifi"},
			answer.Duration: {"quanto tempo demora"},
			answer.Count:    {"quantos lugares"},
			answer.Age:      {"a partir de que idade"},
			answer.If:       {"e se chover", "o que acontece se chegar atrasado"},
		},
		"nl": {
			answer.Price:    {"wat kost het", "hoeveel betaalt mijn zoon", "hoe duur is het", "hoeveel is het", "wat betaal ik", "hoeveel voor een kind"},
			answer.When:     {"hoe laat gaan jullie open", "tot hoe laat", "wanneer", "openingstijden"},
			answer.Whom:     {"met wie kan ik praten over privacy"},
			answer.Where:    {"waar zijn jullie"},
			answer.May:      {"mag mijn hond mee", "kan ik pinnen"},
			answer.YesNo:    {"is er parkeren"},
			answer.Duration: {"hoe lang duurt het"},
			answer.Count:    {"hoeveel plaatsen"},
			answer.Age:      {"vanaf welke leeftijd"},
			answer.If:       {"wat als ik te laat ben"},
		},
		"tr": {
			answer.Price:    {"ne kadar", "kaç para", "fiyatı nedir", "çocuk ne kadar öder", "ücreti ne kadar", "kaç lira"},
			answer.When:     {"saat kaçta açılıyor", "kaça kadar açık", "ne zaman açık", "hangi günler"},
			answer.Whom:     {"kiminle konuşabilirim"},
			answer.Where:    {"neredesiniz"},
			answer.May:      {"köpeğimi getirebilir miyim"},
			answer.YesNo:    {"otopark var mı"},
			answer.Duration: {"ne kadar sürer"},
			answer.Count:    {"kaç kişi"},
			answer.Age:      {"kaç yaşından itibaren"},
			answer.If:       {"geç kalırsam ne olur"},
		},
		"zh": {
			answer.Price:    {"多少钱", "孩子票价多少", "怎么收费", "要付多少"},
			answer.When:     {"几点开门", "什么时候开门", "营业时间"},
			answer.May:      {"可以带狗吗"},
			answer.YesNo:    {"有停车场吗"},
			answer.Duration: {"要多久"},
			answer.Count:    {"有多少人"},
			answer.Whom:     {"我可以找谁咨询"},
			answer.If:       {"迟到了怎么办"},
		},
		"ja": {
			answer.Price:    {"いくらですか", "料金は", "子供はいくら"},
			answer.When:     {"何時に開きますか", "何時まで", "営業時間"},
			answer.Where:    {"どこですか"},
			answer.May:      {"犬を連れて行ってもいいですか"},
			answer.YesNo:    {"駐車場はありますか"},
			answer.Duration: {"どのくらいかかりますか"},
			answer.Count:    {"何人"},
			answer.Whom:     {"誰に相談すればいいですか"},
			answer.If:       {"遅れたらどうなりますか"},
		},
		"ar": {
			answer.Price:    {"كم السعر", "بكم التذكرة", "كم يدفع الطفل"},
			answer.When:     {"متى تفتحون", "في أي ساعة تفتحون"},
			answer.Where:    {"أين أنتم"},
			answer.May:      {"هل يمكنني إحضار كلبي"},
			answer.YesNo:    {"هل يوجد موقف"},
			answer.Duration: {"كم يستغرق"},
			answer.Count:    {"كم عدد المقاعد"},
			answer.Whom:     {"مع من يمكنني التحدث"},
		},
	} {
		for kind, texts := range kinds {
			for _, text := range texts {
				require.Equal(t, kind, answer.KindOf(language, text), "%s: %s", language, text)
			}
		}
	}
}

// What sentences have of amounts, times and lengths of time, as each language writes them.
func TestFormsInEveryLanguage(t *testing.T) {
	t.Parallel()

	for _, c := range []struct {
		language string
		kind     answer.Kind
		texts    []string
	}{} {
		for _, text := range c.texts {
			e := answer.EvidenceIn(c.language, text)
			require.GreaterOrEqual(t, e.Fits(c.kind), 0.7, text)
		}
	}
	for _, text := range []string{"try 2 classes", "100 gr of bread"} {
		e := answer.EvidenceIn("en", text)
		require.False(t, e.Money, text)
	}
	e := answer.EvidenceIn("it", "alle 12 persone presenti")
	require.False(t, e.Time)
	e = answer.EvidenceIn("es", "El campus está a 3 kilómetros del centro.")
	require.True(t, e.Far)
}

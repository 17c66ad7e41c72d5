package answer_test

import (
	"strings"
	"testing"

	"visavis.dev/pkg/text/answer"
)

func TestTimesAndLanguagesAreAskedFor(t *testing.T) {
	for act, lines := range map[answer.Act]string{
		answer.Clock: `en What time is it?|What's the time?|hi, what time is it now?|What day is it today?|what is today's date|Do you have the time?|Can you tell me the time please?
de Wie spät ist es?|Wie viel Uhr ist es jetzt?|Welcher Tag ist heute?|Den Wievielten haben wir heute?|Entschuldigung, wie spät ist es?|Welches Datum haben wir heute?
fr Quelle heure est-il ?|Il est quelle heure ?|Quel jour sommes-nous ?|On est quel jour aujourd'hui ?|Quelle est la date d'aujourd'hui ?|Vous avez l'heure ?
es ¿Qué hora es?|¿Qué día es hoy?|¿A qué día estamos?|¿Qué fecha es hoy?|¿Me dices la hora?
it Che ore sono?|Che ora è?|Che giorno è oggi?|Quanti ne abbiamo oggi?|Sai che ore sono?
pt Que horas são?|Que dia é hoje?|Qual é a data de hoje?|Pode dizer-me as horas?
nl Hoe laat is het?|Welke dag is het vandaag?|Wat is de datum vandaag?|Weet u hoe laat het is?
pl Która godzina?|Która jest godzina?|Jaki dziś dzień?|Jaki mamy dzisiaj dzień?|Którego dzisiaj mamy?
tr Saat kaç?|Şu an saat kaç?|Bugün günlerden ne?|Bugün ayın kaçı?|Bugün hangi gün?
zh 现在几点？|几点了？|今天星期几？|今天几号？|请问现在几点了
ja 今何時ですか？|今日は何曜日ですか？|今日の日付は何ですか|今何時？
ar كم الساعة؟|كم الساعة الآن؟|ما هو اليوم؟|ما تاريخ اليوم؟`,
		answer.LanguageChoice: `en Do you speak German?|Can you speak Spanish?|What languages do you speak?|Can we talk in French?|do you understand any other languages|Which languages do you know?|can I ask in Italian
de Sprichst du Englisch?|Sprechen Sie auch Türkisch?|Welche Sprachen sprechen Sie?|Können wir auf Englisch reden?|Kannst du Französisch?|Verstehst du Polnisch?
fr Parlez-vous anglais ?|Tu parles allemand ?|Quelles langues parlez-vous ?|Est-ce que vous parlez espagnol ?|On peut parler en anglais ?
es ¿Hablas inglés?|¿Habla usted alemán?|¿Qué idiomas hablas?|¿Puedo hablar en francés?|¿Entiendes italiano?
it Parli inglese?|Parla tedesco?|Che lingue parli?|Possiamo parlare in francese?|Capisci lo spagnolo?
pt Fala inglês?|Você fala espanhol?|Que línguas fala?|Posso falar em francês?|Sabe alemão?
nl Spreek je Engels?|Spreekt u Duits?|Welke talen spreekt u?|Kan ik in het Frans praten?|Versta je Spaans?
pl Mówisz po angielsku?|Czy mówi pani po niemiecku?|W jakich językach mówisz?|Jakie znasz języki?|Czy można rozmawiać po ukraińsku?
tr İngilizce biliyor musun?|Almanca konuşuyor musunuz?|Hangi dilleri biliyorsun?|İngilizce konuşabilir miyiz?
zh 你会说英语吗？|你会哪些语言？|可以用英文吗？|您会讲德语吗
ja 英語を話せますか？|英語は話せますか|何語が話せますか？|英語で質問してもいいですか
ar هل تتكلم الإنجليزية؟|هل تتحدث الفرنسية؟|ما اللغات التي تتحدثها؟|هل يمكنني التحدث بالإنجليزية؟`,
		answer.None: `en What time do you open?|What time is breakfast?|What day is the guided tour?|What time is it cheapest?|Do your doctors speak Turkish?|Is the tour in English?|What is the date of the concert?|How many languages does the audio guide have?|Are there leaflets in German?|Which languages do you teach?
de Wie spät macht ihr zu?|Um wie viel Uhr gibt es Frühstück?|Welcher Tag ist am günstigsten?|Gibt es Führungen auf Englisch?|Welche Sprachen unterrichten Sie?|Spricht der Arzt Englisch?
fr À quelle heure ouvrez-vous ?|Quel jour est le marché ?|La visite est-elle en anglais ?|Quelle est la date du concert ?
es ¿A qué hora abren?|¿Qué día es el concierto?|¿La visita es en inglés?
it A che ora aprite?|Che giorno è il mercato?|La visita è in inglese?
pt A que horas abrem?|Que dia é o concerto?|A visita é em inglês?
nl Hoe laat gaat u open?|Welke dag is de markt?|Is de rondleiding in het Engels?
pl O której otwieracie?|Jaki dzień jest najtańszy?|Czy zwiedzanie jest po angielsku?
tr Saat kaçta açılıyorsunuz?|Saat kaçta kahvaltı var?|Tur İngilizce mi?
zh 几点开门？|星期几休息？|有英文导览吗？
ja 何時に開きますか？|何曜日が休みですか？|英語のガイドはありますか？
ar متى تفتحون؟|في أي يوم الحفل؟|هل الجولة بالإنجليزية؟`,
	} {
		for line := range strings.Lines(lines) {
			language, said, _ := strings.Cut(strings.TrimSpace(line), " ")
			for text := range strings.SplitSeq(said, "|") {
				if got := answer.Hear(language, text).Act; got != act {
					t.Errorf("%s: %s: %q, want %q", language, text, got, act)
				}
			}
		}
	}
}

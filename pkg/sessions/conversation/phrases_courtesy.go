package conversation

import (
	"strings"
	"sync"

	"visavis.dev/pkg/text/search"
)

// courtesies are the words of sentences that keep a conversation going and state nothing
// of anything else: "I am sorry to hear that", "let me see". They are compared as the
// search compares words; those without a meaning of their own are missing.
var courtesies = map[string]string{
	"en": "sorry hear glad happy pleased pleasure help understand understood see sure course certainly gladly thank thanks welcome question ask asking tell know wish hope great good nice fine lovely wonderful unfortunately afraid moment please else anything something assist answer repeat again mean meant feel free wonder yes no okay alright right luck day evening care apologize apologies talk today meet chat let back conversation way",
	"de": "leid tut entschuldigung entschuldigen gern gerne freut freue freuen froh hilfe helfen verstehe verstehen verstanden sicher natürlich selbstverständlich danke dank willkommen frage fragen sagen wissen weiß wünsche wünschen hoffe gut schön toll wunderbar schade leider moment bitte sonst etwas weiter antworten antwort wiederholen nochmals meinen gefühl ja nein okay richtig glück tag abend sprechen gespräch kennenzulernen hören höre klar",
	"fr": "désolé désolée navré regrette entendre heureux heureuse ravi plaisir aider aide comprends comprendre compris sûr bien certainement volontiers merci bienvenue question demander dire savoir sais souhaite espère bon bonne super malheureusement moment plaît autre quelque chose répondre répéter oui non accord chance journée soirée parler conversation",
	"es": "siento lamento oír alegra alegro feliz gusto ayudar ayuda ayudarle entiendo entender comprendo claro seguro cierto encantado gracias bienvenido pregunta preguntar decir decirme saber sé deseo espero bueno bien genial desgraciadamente lamentablemente momento favor algo más responder repetir sí no suerte día tarde hablar conversación",
	"it": "dispiace spiace sentire felice lieto piacere aiutare aiutarla aiuto capisco capire capito certo certamente volentieri grazie benvenuto domanda chiedere chieda dire dica sapere so auguro spero bene buono buona ottimo purtroppo momento favore altro qualcosa rispondere ripetere sì no fortuna giornata serata parlare conversazione",
	"pt": "sinto lamento desculpe ouvir feliz contente prazer ajudar ajudá-lo ajuda entendo entender compreendo claro certo certamente obrigado obrigada bem-vindo pergunta perguntar dizer diga saber sei desejo espero bom boa bem ótimo infelizmente momento favor algo mais responder repetir sim não sorte dia noite falar conversa",
	"nl": "spijt sorry helaas horen blij fijn genoegen helpen hulp begrijp begrijpen snap zeker natuurlijk graag dank bedankt welkom vraag vragen zeggen vertellen weten weet wens hoop goed mooi leuk jammer moment alstublieft anders iets antwoorden herhalen ja nee oké juist succes dag avond praten gesprek",
	"pl": "przykro przepraszam słyszeć cieszę miło szczęśliwy przyjemność pomóc pomoc rozumiem rozumieć jasne pewnie oczywiście chętnie dziękuję dzięki witam pytanie pytać zapytać powiedzieć wiedzieć wiem życzę mam nadzieję dobrze dobry świetnie niestety chwila chwilę proszę coś jeszcze odpowiedzieć powtórzyć tak nie dzień wieczór rozmawiać rozmowa",
	"tr": "üzgünüm üzüldüm özür dilerim duymak duydum memnun mutlu sevindim yardım yardımcı anlıyorum anladım anlamak elbette tabii tabi memnuniyetle teşekkür teşekkürler hoş geldiniz soru sormak sorun söylemek bilmek biliyorum dilerim umarım iyi güzel harika maalesef lütfen başka bir şey cevap tekrar evet hayır tamam gün akşam konuşmak",
	"zh": "抱歉 对不起 遗憾 高兴 乐意 很高兴 帮助 帮忙 帮您 明白 理解 了解 当然 谢谢 感谢 欢迎 问题 请问 告诉 知道 希望 祝您 好的 很好 可惜 稍等 请稍等 其他 什么 回答 重复 是的 不是 没问题 愉快 您好 可以",
	"ja": "申し訳 ありません 残念 嬉しい うれしい 喜んで お手伝い 手伝い 助け わかりました 承知 もちろん ありがとう ございます いらっしゃいませ 質問 ご質問 教えて 知って 願って 良い よい 素晴らしい 少々 お待ち ください 他に ほか 何か 答え 繰り返し はい いいえ 大丈夫 こんにちは どういたしまして",
	"ar": "آسف آسفة عذرا يؤسفني سماع سعيد يسعدني سرور مساعدة مساعدتك أساعدك أفهم فهمت بالتأكيد طبعا بالطبع شكرا أهلا مرحبا سؤال أسأل تسأل أخبرك أعرف أتمنى آمل جيد حسنا رائع للأسف لحظة فضلك آخر شيء أجيب أكرر نعم لا يوم مساء نتحدث محادثة",
}

var courtesyWords = sync.OnceValue(func() map[string]map[string]bool {
	all := map[string]map[string]bool{}
	for language, text := range courtesies {
		all[language] = map[string]bool{}
		for word := range strings.FieldsSeq(text) {
			for _, t := range search.Terms(language, word) {
				all[language][t.Text] = true
			}
			all[language][lower(word)] = true
		}
	}
	return all
})

// isCourtesy says whether a sentence states nothing but that somebody listens.
func isCourtesy(language, sentence string) bool {
	known := courtesyWords()[base(language)]
	for _, w := range contentWords(language, sentence) {
		if !known[w.text] && !known[lower(sentence[w.from:w.to])] {
			return false
		}
	}
	return true
}

// asksBack says whether a sentence is a question.
func asksBack(sentence string) bool {
	return strings.HasSuffix(sentence, "?") || strings.HasSuffix(sentence, "？") || strings.HasSuffix(sentence, "؟")
}

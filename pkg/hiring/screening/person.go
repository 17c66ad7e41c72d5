package screening

import "visavis.dev/pkg/base/language"

// asked is what is said to a candidate who asks for a person in the interview: nobody joins it.
var asked = language.Words{
	"en": "I pass on that you would rather talk with a person. People answer you on your page. You can end the interview here, or go on with it.",
	"de": "Ich gebe weiter, dass Sie lieber mit einem Menschen sprechen. Die Antwort finden Sie auf Ihrer Seite. Sie können das Interview hier beenden oder fortsetzen.",
	"fr": "Je transmets que vous préférez parler à une personne. On vous répondra sur votre page. Vous pouvez arrêter l'entretien ici ou le poursuivre.",
	"es": "Comunico que prefiere hablar con una persona. Le responderán en su página. Puede terminar la entrevista aquí o seguir con ella.",
	"it": "Comunico che preferisce parlare con una persona. Le risponderanno nella sua pagina. Può terminare il colloquio qui o proseguire.",
	"pt": "Transmito que prefere falar com uma pessoa. Responderão na sua página. Pode terminar a entrevista aqui ou continuá-la.",
	"nl": "Ik geef door dat u liever met een mens spreekt. U krijgt antwoord op uw pagina. U kunt het gesprek hier beëindigen of ermee doorgaan.",
	"sv": "Jag meddelar att du hellre talar med en människa. Du får svar på din sida. Du kan avsluta intervjun här eller fortsätta.",
	"da": "Jeg giver besked om, at du hellere vil tale med et menneske. Du får svar på din side. Du kan afslutte samtalen her eller fortsætte.",
	"pl": "Przekażę, że woli Pan lub Pani rozmawiać z człowiekiem. Odpowiedź pojawi się na Pana lub Pani stronie. Można tu zakończyć rozmowę albo ją kontynuować.",
	"tr": "Bir insanla konuşmayı tercih ettiğinizi iletiyorum. Yanıtı sayfanızda bulacaksınız. Görüşmeyi burada bitirebilir ya da sürdürebilirsiniz.",
	"ar": "سأبلغ أنك تفضل التحدث مع شخص. ستجد الرد في صفحتك. يمكنك إنهاء المقابلة هنا أو متابعتها.",
	"ja": "人との面接をご希望であることをお伝えします。回答はあなたのページに届きます。ここで面接を終えることも、続けることもできます。",
	"zh": "我会转达您更希望与真人交谈。您会在您的页面上收到答复。您可以在此结束面试，也可以继续。",
}

// PersonAsked is what is said in a language to a candidate who asks for a person in the interview; in English
// where there are no words in it.
func PersonAsked(code string) string { return asked.In(code, "en") }

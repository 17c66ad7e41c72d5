package conversation

import "maps"

// timebook is how appointments are talked about in a language. Lists are separated by bars.
type timebook struct {
	// offer is said with the {{times}} that are free, booked with the one that was booked; untaken
	// means that the time is not free, none that no time is, and unsure that it is not known whether
	// it was booked.
	offer, booked, untaken, none, unsure string
	// hear are the words by which somebody wants an appointment.
	hear string
	// weekdays begin with Monday, months with January.
	weekdays, months string
	// day is how a {{weekday}}, a {{day}} and a {{month}} are written with a {{time}}.
	day string
}

// timesOf is how appointments are talked about in a language, or else in English.
func timesOf(language string) *timebook {
	if book := timebooks[base(language)]; book != nil {
		return book
	}
	return timebooks["en"]
}

// commas is how most languages write a time.
const commas = "{{weekday}}, {{day}} {{month}}, {{time}}"

var timebooks = func() map[string]*timebook {
	all := map[string]*timebook{}
	maps.Copy(all, latinTimes)
	maps.Copy(all, otherTimes)
	return all
}()

var latinTimes = map[string]*timebook{
	"en": {
		offer: "These times are free: {{times}}. Which one suits you?", booked: "It is booked: {{times}}.", untaken: "That time is not free.",
		none: "No time is free in the next two weeks.", unsure: "I do not know whether that was booked. Please name the time again.",
		hear: "book an appointment|make an appointment|get an appointment|schedule an appointment|arrange an appointment|like an appointment|need an appointment|want an appointment|" +
			"have an appointment please|an appointment please|book a time|book a slot|book a tour|book a visit|book a meeting|book a call|book a demo|book a viewing|book a consultation|" +
			"like to book|want to book|i'd like a tour|reserve a time|reserve a slot|another time|a different time|which times are free|what times are free|free slots|available times|available slots",
		weekdays: "Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday",
		months:   "January|February|March|April|May|June|July|August|September|October|November|December", day: commas,
	},
	"de": {
		offer: "Diese Zeiten sind frei: {{times}}. Welche passt Ihnen?", booked: "Das ist gebucht: {{times}}.", untaken: "Diese Zeit ist nicht frei.",
		none: "In den nächsten zwei Wochen ist nichts frei.", unsure: "Ich weiß nicht, ob das gebucht wurde. Bitte nennen Sie die Zeit noch einmal.",
		hear: "termin buchen|termin vereinbaren|termin ausmachen|termin machen|einen termin bitte|termin bekommen|termin haben|brauche einen termin|möchte einen termin|hätte gern einen termin|" +
			"hätte gerne einen termin|führung buchen|besuch buchen|beratung buchen|besichtigung buchen|möchte buchen|würde gern buchen|würde gerne buchen|anderen termin|andere zeit|" +
			"freie termine|welche termine sind frei|welche zeiten sind frei|termin reservieren",
		weekdays: "Montag|Dienstag|Mittwoch|Donnerstag|Freitag|Samstag|Sonntag",
		months:   "Januar|Februar|März|April|Mai|Juni|Juli|August|September|Oktober|November|Dezember", day: "{{weekday}}, {{day}}. {{month}}, {{time}}",
	},
	"fr": {
		offer: "Ces horaires sont libres : {{times}}. Lequel vous convient ?", booked: "C'est réservé : {{times}}.", untaken: "Cet horaire n'est pas libre.",
		none: "Aucun horaire n'est libre dans les deux prochaines semaines.", unsure: "Je ne sais pas si cela a été réservé. Veuillez redire l'horaire.",
		hear: "prendre rendez-vous|prendre un rendez-vous|un rendez-vous s'il vous plaît|voudrais un rendez-vous|veux un rendez-vous|aimerais un rendez-vous|besoin d'un rendez-vous|" +
			"fixer un rendez-vous|obtenir un rendez-vous|réserver un créneau|réserver une visite|réserver un rendez-vous|réserver un horaire|voudrais réserver|aimerais réserver|un autre horaire|" +
			"un autre rendez-vous|quels horaires sont libres|créneaux libres|créneaux disponibles",
		weekdays: "lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche",
		months:   "janvier|février|mars|avril|mai|juin|juillet|août|septembre|octobre|novembre|décembre", day: "{{weekday}} {{day}} {{month}} à {{time}}",
	},
	"es": {
		offer: "Estas horas están libres: {{times}}. ¿Cuál le conviene?", booked: "Queda reservado: {{times}}.", untaken: "Esa hora no está libre.",
		none: "No hay horas libres en las próximas dos semanas.", unsure: "No sé si se ha reservado. Por favor, diga la hora otra vez.",
		hear: "pedir cita|pedir una cita|reservar una cita|concertar una cita|hacer una cita|agendar una cita|quiero una cita|quisiera una cita|necesito una cita|una cita por favor|" +
			"reservar una visita|reservar una hora|quiero reservar|quisiera reservar|me gustaría reservar|otra hora|otra cita|qué horas están libres|horas libres|horas disponibles",
		weekdays: "lunes|martes|miércoles|jueves|viernes|sábado|domingo",
		months:   "enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre", day: "{{weekday}} {{day}} de {{month}}, {{time}}",
	},
	"it": {
		offer: "Questi orari sono liberi: {{times}}. Quale preferisce?", booked: "È prenotato: {{times}}.", untaken: "Quell'orario non è libero.",
		none: "Nelle prossime due settimane non ci sono orari liberi.", unsure: "Non so se è stato prenotato. Ripeta l'orario, per favore.",
		hear: "prenotare un appuntamento|prendere un appuntamento|fissare un appuntamento|vorrei un appuntamento|voglio un appuntamento|bisogno di un appuntamento|un appuntamento per favore|" +
			"prenotare una visita|prenotare un orario|vorrei prenotare|voglio prenotare|un altro orario|un altro appuntamento|quali orari sono liberi|orari liberi|orari disponibili",
		weekdays: "lunedì|martedì|mercoledì|giovedì|venerdì|sabato|domenica",
		months:   "gennaio|febbraio|marzo|aprile|maggio|giugno|luglio|agosto|settembre|ottobre|novembre|dicembre", day: "{{weekday}} {{day}} {{month}}, {{time}}",
	},
	"pt": {
		offer: "Estes horários estão livres: {{times}}. Qual prefere?", booked: "Está marcado: {{times}}.", untaken: "Esse horário não está livre.",
		none: "Não há horários livres nas próximas duas semanas.", unsure: "Não sei se ficou marcado. Diga o horário outra vez, por favor.",
		hear: "marcar uma consulta|marcar consulta|marcar um horário|marcar horário|marcar uma visita|marcar uma reunião|agendar uma visita|agendar um horário|agendar uma consulta|" +
			"reservar uma visita|reservar um horário|gostaria de marcar|quero marcar|quero agendar|gostaria de agendar|quero reservar|gostaria de reservar|outro horário|quais horários estão livres|" +
			"horários livres|horários disponíveis",
		weekdays: "segunda-feira|terça-feira|quarta-feira|quinta-feira|sexta-feira|sábado|domingo",
		months:   "janeiro|fevereiro|março|abril|maio|junho|julho|agosto|setembro|outubro|novembro|dezembro", day: "{{weekday}}, {{day}} de {{month}}, {{time}}",
	},
	"nl": {
		offer: "Deze tijden zijn vrij: {{times}}. Welke past u?", booked: "Het is geboekt: {{times}}.", untaken: "Die tijd is niet vrij.",
		none: "In de komende twee weken is er geen tijd vrij.", unsure: "Ik weet niet of dat geboekt is. Noem de tijd nog een keer, alstublieft.",
		hear: "afspraak maken|een afspraak boeken|afspraak inplannen|graag een afspraak|wil een afspraak|heb een afspraak nodig|een afspraak alstublieft|rondleiding boeken|bezoek boeken|" +
			"tijd boeken|tijd reserveren|wil boeken|graag boeken|een andere tijd|een andere afspraak|welke tijden zijn vrij|vrije tijden|beschikbare tijden",
		weekdays: "maandag|dinsdag|woensdag|donderdag|vrijdag|zaterdag|zondag",
		months:   "januari|februari|maart|april|mei|juni|juli|augustus|september|oktober|november|december", day: "{{weekday}} {{day}} {{month}}, {{time}}",
	},
	"sv": {
		offer: "De här tiderna är lediga: {{times}}. Vilken passar dig?", booked: "Det är bokat: {{times}}.", untaken: "Den tiden är inte ledig.",
		none: "Det finns inga lediga tider de närmaste två veckorna.", unsure: "Jag vet inte om det blev bokat. Säg tiden en gång till, tack.",
		hear:     "boka en tid|boka tid|boka ett möte|boka en visning|boka ett besök|vill boka|skulle vilja boka|en tid tack|behöver en tid|en annan tid|vilka tider är lediga|lediga tider",
		weekdays: "måndag|tisdag|onsdag|torsdag|fredag|lördag|söndag",
		months:   "januari|februari|mars|april|maj|juni|juli|augusti|september|oktober|november|december", day: "{{weekday}} {{day}} {{month}}, {{time}}",
	},
	"da": {
		offer: "Disse tider er ledige: {{times}}. Hvilken passer dig?", booked: "Det er booket: {{times}}.", untaken: "Den tid er ikke ledig.",
		none: "Der er ingen ledige tider de næste to uger.", unsure: "Jeg ved ikke, om det blev booket. Sig tiden igen, tak.",
		hear: "booke en tid|bestille en tid|bestille tid|booke tid|booke et møde|booke en rundvisning|booke et besøg|vil gerne booke|vil gerne have en tid|har brug for en tid|en anden tid|" +
			"hvilke tider er ledige|ledige tider",
		weekdays: "mandag|tirsdag|onsdag|torsdag|fredag|lørdag|søndag",
		months:   "januar|februar|marts|april|maj|juni|juli|august|september|oktober|november|december", day: "{{weekday}} {{day}}. {{month}}, {{time}}",
	},
}

var otherTimes = map[string]*timebook{
	"pl": {
		offer: "Wolne są te terminy: {{times}}. Który Pani lub Panu odpowiada?", booked: "Zarezerwowane: {{times}}.", untaken: "Ten termin nie jest wolny.",
		none: "W ciągu najbliższych dwóch tygodni nie ma wolnych terminów.", unsure: "Nie wiem, czy rezerwacja się udała. Proszę podać termin jeszcze raz.",
		hear: "umówić się na wizytę|umówić wizytę|umówić spotkanie|umówić się na spotkanie|zarezerwować termin|zarezerwować wizytę|zarezerwować zwiedzanie|chcę zarezerwować|chciałbym zarezerwować|" +
			"chciałabym zarezerwować|proszę o termin|potrzebuję terminu|inny termin|jakie terminy są wolne|wolne terminy|dostępne terminy",
		weekdays: "poniedziałek|wtorek|środa|czwartek|piątek|sobota|niedziela",
		months:   "stycznia|lutego|marca|kwietnia|maja|czerwca|lipca|sierpnia|września|października|listopada|grudnia", day: commas,
	},
	"tr": {
		offer: "Şu saatler boş: {{times}}. Hangisi size uygun?", booked: "Randevunuz alındı: {{times}}.", untaken: "O saat boş değil.",
		none: "Önümüzdeki iki hafta içinde boş saat yok.", unsure: "Randevunun alınıp alınmadığını bilmiyorum. Lütfen saati bir daha söyleyin.",
		hear: "randevu almak|randevu alabilir|randevu istiyorum|randevu oluştur|randevu ayarla|bir randevu lütfen|randevuya ihtiyacım|rezervasyon yapmak|tur ayırtmak|başka bir saat|" +
			"hangi saatler boş|boş saatler|uygun saatler|müsait saatler",
		weekdays: "Pazartesi|Salı|Çarşamba|Perşembe|Cuma|Cumartesi|Pazar",
		months:   "Ocak|Şubat|Mart|Nisan|Mayıs|Haziran|Temmuz|Ağustos|Eylül|Ekim|Kasım|Aralık", day: "{{day}} {{month}} {{weekday}}, {{time}}",
	},
	"ar": {
		offer: "هذه المواعيد متاحة: {{times}}. أيها يناسبك؟", booked: "تم الحجز: {{times}}.", untaken: "هذا الموعد غير متاح.",
		none: "لا توجد مواعيد متاحة خلال الأسبوعين القادمين.", unsure: "لا أعرف ما إذا تم الحجز. يرجى ذكر الموعد مرة أخرى.",
		hear:     "حجز موعد|أحجز موعد|احجز موعد|أريد موعد|اريد موعد|أحتاج موعد|أحتاج إلى موعد|تحديد موعد|أريد أن أحجز|اريد ان احجز|أريد الحجز|موعد آخر|المواعيد المتاحة|ما هي المواعيد المتاحة",
		weekdays: "الاثنين|الثلاثاء|الأربعاء|الخميس|الجمعة|السبت|الأحد",
		months:   "يناير|فبراير|مارس|أبريل|مايو|يونيو|يوليو|أغسطس|سبتمبر|أكتوبر|نوفمبر|ديسمبر", day: "{{weekday}} {{day}} {{month}}، {{time}}",
	},
	"ja": {
		offer: "次の時間が空いています：{{times}}。どれがご都合よろしいですか？", booked: "予約しました：{{times}}。", untaken: "その時間は空いていません。",
		none: "今後二週間は空きがありません。", unsure: "予約できたかどうか分かりません。もう一度時間をおっしゃってください。",
		hear:     "予約したい|予約をしたい|予約できますか|予約お願い|予約をお願い|予約を取りたい|予約取りたい|別の時間|ほかの時間|他の時間|空いている時間|空き時間",
		weekdays: "月曜日|火曜日|水曜日|木曜日|金曜日|土曜日|日曜日",
		months:   "1|2|3|4|5|6|7|8|9|10|11|12", day: "{{month}}月{{day}}日{{weekday}}{{time}}",
	},
	"zh": {
		offer: "以下时间可以预约：{{times}}。您选哪一个？", booked: "已预约：{{times}}。", untaken: "这个时间不能预约。",
		none: "未来两周没有可以预约的时间。", unsure: "我不知道是否预约成功。请再说一次时间。",
		hear:     "我想预约|我要预约|想预约|可以预约吗|能预约吗|预约一个时间|预约时间|约个时间|换个时间|别的时间|其他时间|哪些时间有空|哪些时间可以|有空的时间",
		weekdays: "星期一|星期二|星期三|星期四|星期五|星期六|星期日",
		months:   "1|2|3|4|5|6|7|8|9|10|11|12", day: "{{month}}月{{day}}日{{weekday}}{{time}}",
	},
}

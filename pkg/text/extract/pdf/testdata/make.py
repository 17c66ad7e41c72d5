"""Writes the PDFs of this folder and, beside each, the text that a reader should find.

    python3 make.py    # Debian 12: weasyprint, fonts-noto-core, fonts-noto-cjk, ghostscript, qpdf, poppler-utils

The files named chrome-… and office-… are the same pages as Chromium and LibreOffice print
them, latex-ot1 is one of pdflatex. Of all that are made, those are kept that differ in what
it takes to read them.

All words are dedicated to the public domain (CC0 1.0); the fonts are under the SIL Open Font License.
"""
import os, subprocess, sys
from weasyprint import HTML

T = {
 "latin": ("Noto Sans", "en", ["Visitor guide", "The museum opens at nine in the morning and closes at six in the evening. On Mondays it stays closed, except on public holidays, when the café in the courtyard is open until seven.", "A ticket costs twelve euros. Children under ten enter for free, and so does whoever comes with a group of more than eight people that wrote to us a week before.", "Häufig gefragt: Wo ist die Garderobe? Im Erdgeschoss. Œuvres, señor, naïve, Łódź, Dvořák, İstanbul."]),
 "cyrillic": ("Noto Sans", "ru", ["Путеводитель", "Музей открывается в девять часов утра и закрывается в шесть часов вечера. По понедельникам он закрыт, кроме праздничных дней.", "Билет стоит двенадцать евро. Дети до десяти лет проходят бесплатно. Кафе во дворе работает до семи."]),
 "greek": ("Noto Sans", "el", ["Οδηγός επισκεπτών", "Το μουσείο ανοίγει στις εννέα το πρωί και κλείνει στις έξι το απόγευμα. Τη Δευτέρα παραμένει κλειστό.", "Το εισιτήριο κοστίζει δώδεκα ευρώ. Τα παιδιά κάτω των δέκα ετών μπαίνουν δωρεάν."]),
 "arabic": ("Noto Sans Arabic", "ar", ["دليل الزائر", "يفتح المتحف أبوابه في الساعة التاسعة صباحا ويغلق في السادسة مساء. وهو مغلق يوم الاثنين.", "ثمن التذكرة اثنا عشر يورو. يدخل الأطفال دون العاشرة مجانا."]),
 "hebrew": ("Noto Sans Hebrew", "he", ["מדריך למבקר", "המוזיאון נפתח בתשע בבוקר ונסגר בשש בערב. ביום שני הוא סגור.", "מחיר כרטיס הוא שנים עשר אירו. ילדים מתחת לגיל עשר נכנסים חינם."]),
 "chinese": ("Noto Sans CJK SC", "zh", ["参观指南", "博物馆上午九点开门,下午六点关门。星期一闭馆,公共假日除外。", "门票十二欧元。十岁以下儿童免费入场。院子里的咖啡馆营业到七点。"]),
 "japanese": ("Noto Sans CJK JP", "ja", ["来館案内", "博物館は午前九時に開館し、午後六時に閉館します。月曜日は休館です。", "入場券は十二ユーロです。十歳未満のお子様は無料で入場できます。カフェは七時まで営業しています。"]),
 "korean": ("Noto Sans CJK KR", "ko", ["관람 안내", "박물관은 오전 아홉 시에 문을 열고 오후 여섯 시에 문을 닫습니다. 월요일에는 휴관합니다.", "입장권은 십이 유로입니다. 열 살 미만 어린이는 무료로 입장합니다."]),
 "thai": ("Noto Sans Thai", "th", ["คู่มือผู้เข้าชม", "พิพิธภัณฑ์เปิดเวลาเก้าโมงเช้าและปิดเวลาหกโมงเย็น ปิดทุกวันจันทร์", "ตั๋วราคาสิบสองยูโร เด็กอายุต่ำกว่าสิบปีเข้าฟรี"]),
 "devanagari": ("Noto Sans Devanagari", "hi", ["आगंतुक मार्गदर्शिका", "संग्रहालय सुबह नौ बजे खुलता है और शाम छह बजे बंद होता है। सोमवार को यह बंद रहता है।", "टिकट की कीमत बारह यूरो है। दस साल से कम उम्र के बच्चों का प्रवेश निःशुल्क है।"]),
}
def page(font, lang, parts, css="", extra=""):
    d = "rtl" if lang in ("ar", "he") else "ltr"
    return f'<html lang="{lang}" dir="{d}"><head><title>{parts[0]}</title><style>@page{{size:A5;margin:15mm}}body{{font-family:"{font}";font-size:10pt;line-height:1.4}}h1{{font-size:16pt}}{css}</style></head><body><h1>{parts[0]}</h1>' + "".join(f"<p>{p}</p>" for p in parts[1:]) + extra + "</body></html>"
def save(name, html, text):
    HTML(string=html).write_pdf(name + ".pdf")
    open(name + ".txt", "w").write(text + "\n")
for name, (font, lang, parts) in T.items():
    save(name, page(font, lang, parts), "\n".join(parts))
L = T["latin"][2]
long = [L[0]] + [f"{n} paragraph of the story. " + L[1 + i % 2] for i, n in enumerate(["First", "Second", "Third", "Fourth", "Fifth", "Sixth", "Seventh", "Eighth"])]
save("columns", page("Noto Serif", "en", long, "body{columns:2;column-gap:8mm;hyphens:auto}h1{column-span:all}"), "\n".join(long))
rows = [["Ticket", "Price", "Note"], ["Adult", "12.50", "Valid all day"], ["Child", "0.00", "Under ten"], ["Group", "80.00", "Eight people or more"]]
table = "<table border=1 cellspacing=0 cellpadding=4>" + "".join("<tr>" + "".join(f"<td>{c}</td>" for c in r) + "</tr>" for r in rows) + "</table>"
save("table", page("Noto Sans", "en", L[:2], extra=table), "\n".join(L[:2] + [" ".join(r) for r in rows]))
run = lambda *a: subprocess.run(a, check=True, stdout=subprocess.DEVNULL)
import shutil
def derive(name, src, *cmd):
    run(*cmd); shutil.copy(src + ".txt", name + ".txt")
gs = ("gs", "-q", "-dBATCH", "-dNOPAUSE", "-dSAFER")
derive("distilled", "latin", *gs, "-sDEVICE=pdfwrite", "-o", "distilled.pdf", "latin.pdf")
derive("distilled-cyrillic", "cyrillic", *gs, "-sDEVICE=pdfwrite", "-o", "distilled-cyrillic.pdf", "cyrillic.pdf")
derive("distilled-arabic", "arabic", *gs, "-sDEVICE=pdfwrite", "-o", "distilled-arabic.pdf", "arabic.pdf")
derive("distilled-chinese", "chinese", *gs, "-sDEVICE=pdfwrite", "-o", "distilled-chinese.pdf", "chinese.pdf")
derive("cairo", "latin", "pdftocairo", "-pdf", "latin.pdf", "cairo.pdf")
derive("cairo-greek", "greek", "pdftocairo", "-pdf", "greek.pdf", "cairo-greek.pdf")
derive("object-streams", "latin", "qpdf", "--object-streams=generate", "--linearize", "latin.pdf", "object-streams.pdf")
derive("owner-password", "latin", "qpdf", "--encrypt", "", "owner", "256", "--print=none", "--", "latin.pdf", "owner-password.pdf")
derive("owner-password-rc4", "latin", "qpdf", "--allow-weak-crypto", "--encrypt", "", "owner", "128", "--", "latin.pdf", "owner-password-rc4.pdf")
run("qpdf", "--encrypt", "user", "owner", "256", "--", "latin.pdf", "password.pdf"); open("password.txt", "w")
run(*gs, "-sDEVICE=pdfimage8", "-r72", "-o", "scanned.pdf", "latin.pdf"); open("scanned.txt", "w")
# Without ToUnicode: a simple font whose codes have names.
ps = "/Helvetica findfont 11 scalefont setfont 50 750 moveto (The museum opens at nine in the morning.) show 50 735 moveto (Children under ten enter for free; adults pay 12.50.) show showpage"
open("x.ps", "w").write(ps)
run(*gs, "-sDEVICE=pdfwrite", "-o", "x.pdf", "x.ps"); run("qpdf", "--qdf", "--object-streams=disable", "x.pdf", "x.qdf")
b = open("x.qdf", "rb").read().replace(b"/ToUnicode", b"/ToNothing"); open("no-tounicode.pdf", "wb").write(b)
open("no-tounicode.txt", "w").write("The museum opens at nine in the morning.\nChildren under ten enter for free; adults pay 12.50.\n")
run("qpdf", "--qdf", "--object-streams=disable", "latin.pdf", "x.qdf")
b = open("x.qdf", "rb").read().replace(b"/ToUnicode", b"/ToNothing"); open("no-tounicode-cid.pdf", "wb").write(b); shutil.copy("latin.txt", "no-tounicode-cid.txt")
# A form, its values in the appearance of its fields.
form = b"""%PDF-1.7
1 0 obj<</Type/Catalog/Pages 2 0 R/AcroForm<</Fields[6 0 R]/DA(/F 12 Tf)/DR<</Font<</F 5 0 R>>>>>>>>endobj
2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj
3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 400 300]/Contents 4 0 R/Resources<</Font<</F 5 0 R>>>>/Annots[6 0 R]>>endobj
4 0 obj<</Length 64>>stream
BT /F 12 Tf 50 250 Td (Name of the visitor who comes:) Tj ET    
endstream endobj
5 0 obj<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>endobj
6 0 obj<</Type/Annot/Subtype/Widget/FT/Tx/T(name)/V(Kim Doe of Springfield)/Rect[50 200 300 220]/P 3 0 R/DA(/F 12 Tf)/AP<</N 7 0 R>>/F 4>>endobj
7 0 obj<</Type/XObject/Subtype/Form/BBox[0 0 250 20]/Resources<</Font<</F 5 0 R>>>>/Length 55>>stream
/Tx BMC BT /F 12 Tf 2 5 Td (Kim Doe of Springfield) Tj ET EMC
endstream endobj
trailer<</Root 1 0 R/Size 8>>
"""
open("form.pdf", "wb").write(form); open("form.txt", "w").write("Name of the visitor who comes:\nKim Doe of Springfield\n")
for f in ("x.ps", "x.pdf", "x.qdf"): os.path.exists(f) and os.remove(f)

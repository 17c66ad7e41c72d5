package main

const (
	wordNames  = `xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"`
	slideNames = `xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" ` +
		`xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" ` +
		`xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"`
	relations = `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">`
	relation  = `http://schemas.openxmlformats.org/officeDocument/2006/relationships/`
	core      = `<cp:coreProperties xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/core-properties" ` +
		`xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>Visitor guide</dc:title></cp:coreProperties>`
	wordMain  = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"
	slideMain = "application/vnd.openxmlformats-officedocument.presentationml.presentation.main+xml"
)

func types(part, kind string) string {
	return `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">` +
		`<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>` +
		`<Default Extension="xml" ContentType="application/xml"/><Override PartName="/` + part + `" ContentType="` + kind + `"/></Types>`
}

func root(part string) string {
	return relations + `<Relationship Id="rId1" Type="` + relation + `officeDocument" Target="` + part + `"/></Relationships>`
}

func run(s string) string { return `<w:r><w:t xml:space="preserve">` + s + `</w:t></w:r>` }

func cell(s string) string { return `<w:tc><w:p>` + run(s) + `</w:p></w:tc>` }

var word = []part{
	{"[Content_Types].xml", types("word/document.xml", wordMain)},
	{"_rels/.rels", root("word/document.xml")},
	{"docProps/core.xml", core},
	{"word/styles.xml", `<w:styles ` + wordNames + `><w:style w:type="paragraph" w:styleId="Abschnitt"><w:name w:val="heading 1"/>` +
		`</w:style><w:style w:type="paragraph" w:styleId="Eigen"><w:name w:val="Own"/><w:basedOn w:val="Abschnitt"/></w:style></w:styles>`},
	{"word/document.xml", `<w:document ` + wordNames + `><w:body>` +
		`<w:p><w:pPr><w:pStyle w:val="Abschnitt"/></w:pPr>` + run("Opening hours") + `</w:p>` +
		`<w:p>` + run("The museum opens ") + `<w:del><w:r><w:delText>never</w:delText></w:r></w:del>` + run("at nine.") + `</w:p>` +
		`<w:p><w:pPr><w:pStyle w:val="Eigen"/></w:pPr>` + run("Tickets") + `</w:p>` +
		`<w:tbl><w:tr>` + cell("Ticket") + cell("Price") + `</w:tr><w:tr>` + cell("Adult") + cell("12") + `</w:tr></w:tbl>` +
		`<w:p><w:pPr><w:numPr><w:ilvl w:val="0"/></w:numPr></w:pPr>` + run("Bring a coat") + `</w:p>` +
		`</w:body></w:document>`},
}

func shape(kind, s string) string {
	return `<p:sp><p:nvSpPr><p:nvPr><p:ph type="` + kind + `"/></p:nvPr></p:nvSpPr><p:txBody><a:p><a:r><a:t>` + s +
		`</a:t></a:r></a:p></p:txBody></p:sp>`
}

func slide(kind, shapes string) string {
	return `<p:` + kind + ` ` + slideNames + `><p:cSld><p:spTree>` + shapes + `</p:spTree></p:cSld></p:` + kind + `>`
}

var slides = []part{
	{"[Content_Types].xml", types("ppt/presentation.xml", slideMain)},
	{"_rels/.rels", root("ppt/presentation.xml")},
	{"docProps/core.xml", core},
	{"ppt/presentation.xml", `<p:presentation ` + slideNames + `><p:sldIdLst><p:sldId id="256" r:id="rId2"/><p:sldId id="257" r:id="rId1"/>` +
		`</p:sldIdLst></p:presentation>`},
	{"ppt/_rels/presentation.xml.rels", relations + `<Relationship Id="rId1" Type="` + relation + `slide" Target="slides/slide1.xml"/>` +
		`<Relationship Id="rId2" Type="` + relation + `slide" Target="slides/slide2.xml"/></Relationships>`},
	{"ppt/slides/slide1.xml", slide("sld", shape("title", "Thank you"))},
	{"ppt/slides/slide2.xml", slide("sld", shape("title", "Tickets")+shape("body", "Adults pay twelve euros.")+shape("sldNum", "1"))},
	{"ppt/slides/_rels/slide2.xml.rels", relations + `<Relationship Id="rId1" Type="` + relation + `notesSlide" Target="../notesSlides/notesSlide1.xml"/></Relationships>`},
	{"ppt/notesSlides/notesSlide1.xml", slide("notes", shape("body", "Say that children enter for free."))},
}

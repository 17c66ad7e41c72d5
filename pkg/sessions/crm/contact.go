package crm

import (
	"strings"

	"visavis.dev/pkg/provider/hubspot"
	"visavis.dev/pkg/sessions/inbox"
)

// usual are the properties that fields are written to unless the config says otherwise.
var usual = map[string]any{
	"firstName": "firstname", "lastName": "lastname", "phone": "phone", "company": "company", "jobTitle": "jobtitle",
}

// contact is what of an item is written. What visitors said of the matter is not.
func (p *pushing) contact(i *inbox.Item) hubspot.Contact {
	c := hubspot.Contact{Email: strings.ToLower(*i.Contact.Email), Properties: map[string]string{}}
	mapping, given := p.opened.Config["properties"].(map[string]any)
	if !given {
		mapping = usual
	}
	values := fields(i)
	for field, property := range mapping {
		if name, ok := property.(string); ok && values[field] != "" {
			c.Properties[name] = values[field]
		}
	}
	return c
}

// fields are an item's by the names that a config has for them; empty for what is not known, which
// leaves what the CRM has as it is.
func fields(i *inbox.Item) map[string]string {
	first, last, _ := strings.Cut(strings.TrimSpace(text(i.Contact.Name)), " ")
	values := map[string]string{
		"firstName": first, "lastName": strings.TrimSpace(last), "name": strings.TrimSpace(text(i.Contact.Name)), "phone": text(i.Contact.Phone),
		"company": text(i.Contact.Company), "jobTitle": text(i.Contact.JobTitle), "kind": string(i.Kind), "state": string(i.State),
		"language": i.Language, "itemId": i.ID.String(), "externalId": text(i.ExternalID), "sourceUrl": text(i.Source.URL),
	}
	if i.Band != nil {
		values["leadBand"] = string(*i.Band)
	}
	if c := i.Source.Campaign; c != nil {
		values["campaign"] = text(c.Name)
	}
	return values
}

func text(t *string) string {
	if t == nil {
		return ""
	}
	return *t
}

// Shows the widget of the script's tag on the page.

import { getConfig } from './api.js'
import { choose, languagesOf, offered } from './language.js'
import { bodyOf, readTag } from './page.js'
import { Widget } from './widget.js'

async function show(tag) {
  let config
  try {
    config = await getConfig(tag)
  } catch (refusal) {
    // Visitors are shown nothing, and whoever made the page is told where to look: a
    // page that may not show the widget cannot read why.
    console.warn(
      `Visavis: the widget ${tag.widget} is not shown (${refusal.message}). ` +
      `Is it enabled, are its id and key right, and is ${location.origin} among its allowedOrigins? ` +
      `Does the page's Content-Security-Policy let it connect to ${new URL(tag.base).origin}?`,
    )
    return
  }
  const language = choose(languagesOf(tag, document, navigator), offered(config), config.persona.language)
  const widget = new Widget(tag, config, language)
  const body = await bodyOf(document)
  // What stands in the head has no place of its own.
  if (config.mode === 'inline' && body.contains(tag.element)) tag.element.after(widget.host)
  else body.append(widget.host)
  widget.begin()
}

const tag = readTag(document)
if (tag) show(tag)

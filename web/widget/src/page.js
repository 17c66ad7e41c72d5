// What the page says of the widget: its script's tag, its language, its address.

/**
 * @typedef {object} Tag
 * @property {HTMLScriptElement} element
 * @property {string} base the API's address, which ends in /v1
 * @property {string} widget
 * @property {string} key
 * @property {string} language the one the tag asks for, or nothing
 */

/** The script's own tag; null where it says of no widget. @returns {Tag | null} */
export function readTag(document) {
  // What a tag manager puts into a page does not know its tag.
  const element = document.currentScript ?? document.querySelector('script[data-widget][data-key][src*="/widget.js"]')
  const { widget, key, language = '' } = element?.dataset ?? {}
  if (!widget || !key) return null
  return { element, widget, key, language, base: new URL('.', element.src).href.replace(/\/$/, '') }
}

/** Resolves once the page has a body. */
export function bodyOf(document) {
  if (document.body) return Promise.resolve(document.body)
  return new Promise((resolve) => {
    document.addEventListener('DOMContentLoaded', () => resolve(document.body), { once: true })
  })
}

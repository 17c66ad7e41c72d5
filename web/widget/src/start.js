// The panel before a conversation: who there is to talk with, on what terms, and
// what is asked of the visitor.

import { h, icon, portrait } from './dom.js'
import { byLanguage, nameOf, offered } from './language.js'

const kinds = {
  name: { type: 'text', autocomplete: 'name' },
  email: { type: 'email', autocomplete: 'email' },
  phone: { type: 'tel', autocomplete: 'tel' },
  company: { type: 'text', autocomplete: 'organization' },
}

export class Start {
  name = 'start'
  element
  #words
  #form
  /** @type {Record<string, HTMLInputElement>} */
  #inputs = {}
  #button
  #problem = h('p', { className: 'problem', role: 'alert' })
  #onstart

  /** @param {{words: object, config: object, language: string, onlanguage: (code: string) => void, oncheck: () => void, onstart: (contact: object) => Promise<any>}} options */
  constructor({ words, config, language, onlanguage, oncheck, onstart }) {
    this.#words = words
    this.#onstart = onstart
    this.#button = h('button', { type: 'submit', className: 'primary' }, words.start)
    const { fields, required, askBefore } = config.leadForm
    // A session is not begun without what is required of it, whenever it is asked for.
    const asked = askBefore ? fields : required
    this.#form = h('form', { noValidate: true, onsubmit: (e) => this.#submit(e) },
      ...asked.map((field) => this.#field(field, required.includes(field))),
      words.consent ? h('p', { className: 'fine' }, words.consent) : null, this.#problem, this.#button,
      config.defaultChannel === 'chat' ? null : h('button', { type: 'button', className: 'quiet', id: 'check', onclick: oncheck }, words.checkTitle))
    this.element = h('div', { className: 'start' },
      h('div', { className: 'hero' }, portrait(config.persona, 'large'), h('p', { className: 'greeting', dir: 'auto' }, words.greeting)),
      this.#form, h('div', { className: 'foot' }, ...this.#foot(config, language, onlanguage)))
  }

  get first() { return Object.values(this.#inputs)[0] ?? this.#button }

  #field(field, required) {
    const input = h('input', { id: field, name: field, maxLength: 200, required, dir: 'auto', 'aria-describedby': `${field}-wrong`, oninput: () => this.#mark(input, false), ...kinds[field] })
    this.#inputs[field] = input
    return h('div', { className: 'field' },
      h('label', { htmlFor: field }, this.#words[field], required ? null : h('span', { className: 'optional' }, ` (${this.#words.optional})`)),
      input, h('p', { id: `${field}-wrong`, className: 'problem' }))
  }

  #foot(config, language, onlanguage) {
    const foot = []
    const codes = offered(config)
    if (codes.length > 1) {
      const choice = h('select', { onchange: () => onlanguage(choice.value) },
        ...codes.map((code) => h('option', { value: code, lang: code, selected: code === language }, nameOf(code))))
      foot.push(h('label', { className: 'choice' }, h('span', {}, this.#words.language), choice))
    }
    if (config.aiNotice) {
      const { text } = config.persona.disclosure
      foot.push(h('p', { className: 'fine notice' }, icon('info'), h('span', { dir: 'auto' }, byLanguage(text, language) ?? text[config.persona.language] ?? text.en)))
    }
    const links = [[config.privacyUrl, this.#words.privacy], [config.termsUrl, this.#words.terms]].filter(([url]) => url)
    if (links.length) {
      foot.push(h('p', { className: 'fine links' }, ...links.map(([url, label]) => h('a', { href: url, target: '_blank', rel: 'noopener noreferrer' }, label))))
    }
    return foot
  }

  /** Says that something is not to be had. */
  say(text) { this.#problem.textContent = text }

  async #submit(event) {
    event.preventDefault()
    const wrong = Object.values(this.#inputs).filter((input) => {
      input.value = input.value.trim()
      this.#mark(input, !input.checkValidity())
      return !input.checkValidity()
    })
    if (wrong.length) {
      wrong[0].focus()
      return
    }
    this.#busy(true)
    const contact = Object.fromEntries(Object.values(this.#inputs).filter((i) => i.value).map((i) => [i.name, i.value]))
    const refusal = await this.#onstart(contact)
    this.#busy(false)
    if (refusal) this.#refused(refusal)
  }

  #busy(yes) {
    this.#button.disabled = yes
    this.#button.textContent = yes ? this.#words.connecting : this.#words.start
    this.#problem.textContent = ''
  }

  #refused(refusal) {
    const input = this.#inputs[refusal.field]
    if (input) this.#mark(input, true)
    else this.#problem.textContent = this.#words[refusal.reason]
    ;(input ?? this.#button).focus()
  }

  #mark(input, wrong) {
    input.setAttribute('aria-invalid', String(wrong))
    const key = `wrong${input.name[0].toUpperCase()}${input.name.slice(1)}`
    input.nextElementSibling.textContent = wrong ? this.#words[key] : ''
  }
}

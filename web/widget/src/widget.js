// The widget on the page: its launcher, the panel that this opens, and what the
// panel shows.

import { Refusal, startSession } from './api.js'
import { Closed } from './closed.js'
import { h } from './dom.js'
import { openAt } from './hours.js'
import { fill, wordsFor } from './language.js'
import { Launcher } from './launcher.js'
import { Memory } from './memory.js'
import { Panel } from './panel.js'
import { whenRead } from './proactive.js'
import { Start } from './start.js'
import style from './style.css'
import { Talk } from './talk.js'
import { applyTheme } from './theme.js'

export class Widget {
  /** What is put into the page. */
  host = h('div', { 'data-visavis': '' })
  #root = h('div', { className: 'visavis' })
  #tag
  #config
  #language
  #words
  #memory
  /** @type {Panel} */
  #panel
  /** @type {Launcher | null} */
  #launcher = null
  /** @type {Talk | null} */
  #talk = null
  /** What checks microphone and sound, while it does. @type {import('./check/main.js').Check | null} */
  #check = null
  /** Calls off speaking up. */
  #beQuiet = () => {}

  constructor(tag, config, language) {
    this.#tag = tag
    this.#config = config
    this.#memory = new Memory(config.id)
    const shadow = this.host.attachShadow({ mode: 'open' })
    const [sheet, theme] = [new CSSStyleSheet(), new CSSStyleSheet()]
    sheet.replaceSync(style)
    applyTheme(theme, config.theme)
    shadow.adoptedStyleSheets = [sheet, theme]
    this.host.dataset.visavis = config.id
    this.host.dataset.mode = config.mode
    this.#root.dataset.mode = config.mode
    this.#root.dataset.placement = config.placement
    // A page's shortcuts take what is typed here for its own.
    for (const type of ['keydown', 'keypress', 'keyup']) this.#root.addEventListener(type, (event) => event.stopPropagation())
    shadow.append(this.#root)
    this.#speak(this.#memory.get()?.language ?? language)
  }

  get #inline() { return this.#config.mode === 'inline' }

  /** Begins, once the widget stands in the page. */
  begin() {
    const kept = this.#memory.get()
    if (kept) this.#converse(kept.ticket, kept.token)
    if (this.#inline || kept?.open) this.#open(!kept)
    else if (!kept) this.#beQuiet = whenRead(this.#config.proactive, () => this.#launcher.speakUp(this.#words.greeting))
  }

  /** Makes everything anew in a language. */
  #speak(language) {
    this.#language = language
    const words = wordsFor(language, this.#config)
    const name = { name: this.#config.persona.name }
    for (const key of ['title', 'greeting', 'open']) words[key] = fill(words[key], name)
    this.#words = words
    this.#root.lang = words.lang
    this.#root.dir = words.dir
    const { persona } = this.#config
    this.#panel = new Panel({ words, persona, inline: this.#inline, onclose: () => this.#close() })
    if (!this.#inline) {
      this.#launcher = new Launcher({ words, config: this.#config, onclick: () => (this.#panel.isOpen ? this.#close() : this.#open()) })
    }
    this.#root.replaceChildren(...(this.#launcher ? [this.#launcher.element] : []), this.#panel.element)
  }

  #open(focused = true) {
    this.#beQuiet()
    this.#launcher?.opened()
    this.#memory.note({ open: true })
    if (!this.#talk) this.#welcome()
    else this.#talk.hidden = false
    this.#panel.open(focused)
  }

  // A conversation goes on behind a closed panel.
  #close() {
    this.#memory.note({ open: false })
    this.#check?.close() // nobody is heard behind a closed panel
    this.#check = null
    if (this.#talk) this.#talk.hidden = true
    this.#panel.close()
    this.#launcher?.closed()
  }

  #welcome() {
    if (!openAt(this.#config.hours, new Date())) {
      this.#shut(this.#config.hours)
      return
    }
    const start = new Start({
      words: this.#words, config: this.#config, language: this.#language,
      onlanguage: (language) => this.#changeLanguage(language),
      oncheck: () => this.#checkFirst(start).catch(() => start.say(this.#words.unavailable)),
      onstart: (contact) => this.#start(contact),
    })
    this.#panel.show(start)
  }

  /** Has a visitor check microphone and sound, and comes back to what they filled in. */
  async #checkFirst(start) {
    const { Check } = await import(`${this.#tag.base}/widget-check.js`)
    if (!this.#panel.isOpen || this.#check) return // while it was loaded
    const check = this.#check = new Check({
      language: this.#words.lang, hears: this.#config.hears ?? 'client',
      ondone: () => {
        check.close()
        this.#check = null
        this.#panel.show(start)
        this.#panel.focusOn('#check')
      },
    })
    this.#panel.show(check)
    check.begin()
    this.#panel.focus()
  }

  #shut(hours) {
    this.#panel.show(new Closed({ words: this.#words, hours }))
  }

  #changeLanguage(language) {
    this.#speak(language)
    this.#open()
    this.#panel.focusOn('select')
  }

  /** Starts a conversation, or says on the form why there is none. */
  async #start(contact) {
    const { defaultChannel, id } = this.#config
    try {
      const ticket = await startSession(this.#tag, {
        language: this.#language, contact, metadata: { page: (location.origin + location.pathname).slice(0, 500) },
        channel: defaultChannel, page: { url: location.href.slice(0, 2048), referrer: document.referrer.slice(0, 2048) },
      })
      this.#converse(ticket)
      this.#panel.focus()
    } catch (refusal) {
      if (!(refusal instanceof Refusal)) throw refusal
      console.warn(`Visavis: the widget ${id} started no conversation (${refusal.message})`)
      if (refusal.reason !== 'closed') return refusal
      this.#shut(refusal.details.hours ?? this.#config.hours)
    }
    return null
  }

  /** Holds a conversation, or goes on with it by the token that another page kept. */
  #converse(ticket, token) {
    const { session: { id, channel }, transport, face } = ticket
    this.#talk = new Talk({
      ticket, token, words: this.#words, config: this.#config, language: this.#language, channel: ticket.session.channel ?? 'chat',
      ratingUrl: `${this.#tag.base}/sessions/${id}/rating`,
      onready: (resumeToken) => this.#memory.keep({
        ticket: { session: { id, channel }, transport, face }, token: resumeToken, language: this.#language, open: this.#panel.isOpen,
      }),
      onended: () => this.#memory.forget(),
      onstate: (state) => {
        this.#panel.state = state
        if (this.#launcher) this.#launcher.state = state
      },
      onwords: () => { if (!this.#panel.isOpen) this.#launcher?.notify() },
      onagain: () => {
        this.#beginAnew()
        this.#panel.focus()
      },
      onmissed: () => this.#beginAnew(),
    })
    this.#talk.hidden = !this.#panel.isOpen && !this.#inline
    this.#panel.show(this.#talk)
    this.#talk.begin()
  }

  #beginAnew() {
    this.#talk?.close()
    this.#talk = null
    this.#welcome()
  }
}

// What is said, as it is shown: by the page and by the widget.

import { join } from './live.js'

/**
 * @typedef {object} Words what the transcript says by itself, in the page's language
 * @property {string} user who the user is: "You"
 * @property {string} avatar the persona's name
 * @property {string} staff who a team member without a name is
 * @property {string} sources before what an answer rests on
 * @property {string} interrupted after a turn that ended early
 */

/** How near the end somebody must be for new words to scroll into view, in pixels. */
const nearEnd = 120

/**
 * Transcript shows the turns of a conversation in an element, which becomes a live
 * region: a screen reader hears every sentence once, as it comes.
 */
export class Transcript {
  #log
  #words
  #language
  #own
  /** The shown turns, by id. */
  #turns = new Map()

  /**
   * @param {HTMLElement} log
   * @param {{words: Words, language?: string, own?: (turn: {speaker: string, staffId?: string}) => boolean}} options
   *   own says which turns are of whoever reads this, who knows what they said
   */
  constructor(log, { words, language = '', own = ({ speaker }) => speaker === 'user' }) {
    this.#log = log
    this.#own = own
    this.#words = words
    this.#language = language
    log.setAttribute('role', 'log')
    log.setAttribute('aria-live', 'polite')
  }

  /** The language that is spoken from now on. */
  set language(code) { this.#language = code }

  /** Shows a conversation's events from here on. @param {EventTarget} conversation */
  follow(conversation) {
    conversation.addEventListener('ready', ({ detail }) => {
      this.#language = detail.session.language
      for (const turn of detail.turns) this.turn({ ...turn, final: true })
    })
    conversation.addEventListener('turn', ({ detail }) => this.turn(detail))
  }

  /** Shows a turn, or what came to it. */
  turn({ id, speaker, text, final = false, name = '', host = '', staffId = '', sources = [], interrupted = false }) {
    const follows = this.#atEnd()
    let shown = this.#turns.get(id)
    if (!shown) {
      if (!text) return
      shown = this.#add(speaker, name, this.#own({ speaker, staffId }), host)
      this.#turns.set(id, shown)
    }
    this.#write(shown, text)
    shown.element.classList.toggle('open', !final)
    if (interrupted && !shown.element.querySelector('.cut')) {
      shown.element.append(element('p', 'cut', this.#words.interrupted))
    }
    if (sources.length) this.#cite(shown.element, sources)
    if (follows) this.#toEnd()
  }

  /** Shows a line that nobody says. */
  notice(text) {
    const follows = this.#atEnd()
    this.#log.append(element('p', 'notice', text))
    if (follows) this.#toEnd()
  }

  #add(speaker, name, own, host) {
    const turn = element('div', `turn ${speaker}`)
    if (own) turn.setAttribute('aria-live', 'off')
    if (host) turn.dataset.host = host
    // A team member's name may be anybody's, the avatar's too: what they are is said with it.
    const who = element('p', 'who', name ? host ? name : join(name, `(${this.#words[speaker]})`) : this.#words[speaker])
    const said = element('p', 'said')
    said.dir = 'auto'
    if (this.#language) said.lang = this.#language
    turn.append(who, said)
    this.#log.append(turn)
    return { element: turn, said, text: '' }
  }

  // Only what is new is added: what is replaced would be read aloud again.
  #write(shown, text) {
    if (text === shown.text) return
    if (shown.text && text.startsWith(shown.text)) {
      shown.said.append(element('span', '', text.slice(shown.text.length)))
    } else if (text) {
      shown.said.replaceChildren(element('span', '', text))
    } else {
      shown.element.remove()
    }
    shown.text = text
  }

  #cite(turn, sources) {
    turn.querySelector('.sources')?.remove()
    const list = element('ul', 'sources')
    list.setAttribute('aria-label', this.#words.sources)
    const titles = new Set()
    for (const { title, page, url } of sources) {
      const label = page ? join(title, `(${page})`) : title
      if (titles.has(label)) continue
      titles.add(label)
      const item = element('li', '')
      item.append(link(url, label))
      list.append(item)
    }
    turn.append(list)
  }

  #atEnd() {
    const { scrollHeight, scrollTop, clientHeight } = this.#log
    return scrollHeight - scrollTop - clientHeight < nearEnd
  }

  #toEnd() { this.#log.scrollTop = this.#log.scrollHeight }
}

function element(tag, classes, text = '') {
  const made = document.createElement(tag)
  if (classes) made.className = classes
  if (text) made.textContent = text
  return made
}

/** A link to a web page; where the address is none, its text alone. */
function link(url, label) {
  if (!/^https?:\/\//i.test(url ?? '')) return element('span', '', label)
  const made = element('a', '', label)
  made.href = url
  made.target = '_blank'
  made.rel = 'noopener noreferrer'
  made.dir = 'auto'
  return made
}

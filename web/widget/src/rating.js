// How a visitor rates a conversation: with a thumb or with stars.

import { h, icon } from './dom.js'

export class Rating {
  element
  #words
  #scale
  #send
  #more
  #comment
  #status = h('p', { className: 'status', role: 'status' })

  /** @param {{words: object, scale: 2 | 5, send: (rating: object) => Promise<void>}} options */
  constructor({ words, scale, send }) {
    this.#words = words
    this.#scale = scale
    this.#send = send
    this.#comment = h('textarea', { rows: 2, maxLength: 2000, placeholder: words.comment, 'aria-label': words.comment, dir: 'auto' })
    this.#more = h('div', { className: 'more', hidden: true }, this.#comment, h('button', { type: 'submit', className: 'primary' }, words.submit))
    this.element = h('form', { className: 'rate', onsubmit: (e) => this.#submit(e) },
      h('fieldset', {}, h('legend', {}, words.rateQuestion), h('div', { className: scale === 5 ? 'stars' : 'thumbs' }, ...this.#choices())),
      this.#more, this.#status)
  }

  get first() { return this.element.querySelector('input') }

  #choices() {
    return Array.from({ length: this.#scale }, (_, i) => {
      const score = i + 1
      const label = this.#scale === 5 ? this.#words.stars.replace('{score}', score) : [this.#words.bad, this.#words.good][i]
      const input = h('input', { type: 'radio', name: 'score', value: String(score), 'aria-label': label, onchange: () => { this.#more.hidden = false } })
      return h('label', { title: label }, input, this.#scale === 5 ? icon('star') : icon('up', i === 0 ? 'turned' : ''))
    })
  }

  async #submit(event) {
    event.preventDefault()
    const score = Number(this.element.elements.score.value)
    if (!score) return
    try {
      await this.#send({ score, scale: this.#scale, comment: this.#comment.value.trim() })
      this.element.replaceChildren(this.#status)
      this.#status.textContent = this.#words.rated
      this.#status.tabIndex = -1
      this.#status.focus()
    } catch {
      this.#status.textContent = this.#words.notRated
    }
  }
}

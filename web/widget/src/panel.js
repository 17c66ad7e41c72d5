// The dialog that a launcher opens; an inline one is a part of the page.

import { h, icon, portrait } from './dom.js'

const focusable = 'button, a[href], input, select, textarea'

export class Panel {
  element
  #state
  #actions = h('span', { className: 'actions' })
  #view = h('div', { className: 'view' })
  #words
  #inline
  #shown = null

  /** @param {{words: object, persona: object, inline: boolean, onclose: () => void}} options */
  constructor({ words, persona, inline, onclose }) {
    this.#words = words
    this.#inline = inline
    this.#state = h('p', { className: 'state' })
    const close = h('button', { type: 'button', className: 'round', 'aria-label': words.close, onclick: onclose }, icon('close'))
    this.element = h('section', {
      className: 'panel', hidden: !inline, tabIndex: -1, 'aria-labelledby': 'title', role: inline ? 'region' : 'dialog', 'aria-modal': inline ? null : 'true',
      onkeydown: (e) => this.#key(e, onclose),
    }, h('header', {}, portrait(persona), h('div', { className: 'who' }, h('h2', { id: 'title' }, words.title), this.#state), this.#actions, inline ? null : close), this.#view)
  }

  get isOpen() { return !this.element.hidden }

  /** Shows a view: an element, what stands in the header for it, and where its focus begins. */
  show(view) {
    this.#shown = view
    this.element.dataset.view = view.name
    this.#actions.replaceChildren(...(view.actions ?? []))
    this.#view.replaceChildren(view.element)
    this.state = ''
  }

  open(focused) {
    this.element.hidden = false
    if (focused && !this.#inline) this.focus()
  }

  close() { this.element.hidden = true }

  focus() {
    if (this.isOpen) (this.#shown?.first ?? this.element).focus({ preventScroll: this.#inline })
  }

  focusOn(selector) { this.element.querySelector(selector)?.focus() }

  /** What the persona is doing. */
  set state(state) {
    this.element.dataset.state = state
    this.#state.textContent = this.#words[state] ?? ''
  }

  // Esc closes; Tab goes round inside.
  #key(event, close) {
    if (this.#inline) return
    if (event.key === 'Escape') {
      event.stopPropagation()
      close()
    }
    if (event.key !== 'Tab') return
    const stops = [...this.element.querySelectorAll(focusable)].filter((e) => !e.disabled && e.getClientRects().length > 0)
    const at = this.element.getRootNode().activeElement
    const [edge, other] = event.shiftKey ? [stops[0], stops.at(-1)] : [stops.at(-1), stops[0]]
    if (at === edge || at === this.element) {
      event.preventDefault()
      other?.focus()
    }
  }
}

// What stands on the page while the panel is closed.

import { h, icon, portrait } from './dom.js'

export class Launcher {
  element
  #button
  #badge = h('span', { className: 'badge', hidden: true, 'aria-hidden': 'true' })
  #teaser = h('div', { className: 'teaser', role: 'status' })
  #words

  constructor({ words, config, onclick }) {
    this.#words = words
    const face = config.avatarWhenCollapsed && config.mode !== 'orb'
    this.#button = h('button', {
      type: 'button', className: face ? 'launcher face' : 'launcher', 'aria-label': words.open, 'aria-haspopup': 'dialog', 'aria-expanded': 'false', onclick,
    }, face ? portrait(config.persona) : icon('chat', 'whileClosed'), icon('down', 'whileOpen'), this.#badge)
    this.element = h('div', { className: 'corner' }, this.#teaser, this.#button)
  }

  /** Says something beside the launcher, without taking the visitor's focus. */
  speakUp(text) {
    const quiet = () => this.#teaser.replaceChildren()
    this.#teaser.replaceChildren(
      h('button', { type: 'button', className: 'said', onclick: () => this.#button.click() }, text),
      h('button', { type: 'button', className: 'round', 'aria-label': this.#words.dismiss, onclick: quiet }, icon('close')),
    )
  }

  /** Tells that something was said behind the closed panel. */
  notify() { this.#badge.hidden = false }

  set state(state) { this.#button.dataset.state = state }

  opened() {
    this.#teaser.replaceChildren()
    this.#badge.hidden = true
    this.#button.setAttribute('aria-expanded', 'true')
  }

  /** Takes the focus back from the panel. */
  closed() {
    this.#button.setAttribute('aria-expanded', 'false')
    this.#button.focus()
  }
}

// By what a visitor speaks: the button of the microphone, what is explained before the browser
// asks, and a button that is held.

import { Ear } from '../../client/ear.js'
import { h, icon } from './dom.js'
import { fill, named } from './language.js'

export class Speak {
  /** The button for the composer. */
  button
  element
  ear

  /** @param {{words: any, name: string, complain: (text: string) => void, hush: () => void, onhearing: () => void}} options */
  constructor({ words, name, complain, hush, onhearing }) {
    const button = (properties, ...children) => h('button', { type: 'button', hidden: true, ...properties }, ...children)
    const mic = this.button = button({ id: 'mic', className: 'round', 'aria-label': words.micTitle, title: words.micTitle, 'aria-pressed': 'false' }, icon('mic'))
    const allow = button({ hidden: false, id: 'allow', className: 'primary' }, words.micAllow)
    const later = button({ hidden: false, className: 'quiet' }, words.micLater)
    const explained = h('p', { id: 'explained' })
    const asks = h('div', { className: 'asks', role: 'dialog', 'aria-labelledby': 'allow', 'aria-describedby': 'explained', hidden: true }, explained, allow, later)
    const hold = button({ className: 'primary hold' }, words.micHold)
    const manual = button({ className: 'quiet', 'aria-pressed': 'false' }, words.micManual)
    this.element = h('div', { className: 'speak' }, asks, hold, manual)
    this.ear = new Ear({ mic, asks, explained, allow, later, manual, hold }, {
      say: (key) => fill(words[named(key)], { name }), complain, hush, onhearing,
      onlevel: (level) => { mic.dataset.level = String(Math.min(3, Math.ceil(4 * level))) },
    })
  }
}

// The panel outside the opening hours.

import { h } from './dom.js'
import { listed } from './hours.js'

export class Closed {
  name = 'closed'
  element

  constructor({ words, hours }) {
    this.element = h('div', { className: 'closed' },
      h('p', { className: 'greeting', role: 'status' }, words.closed),
      h('h3', {}, words.hours),
      h('dl', {}, ...listed(hours, words.lang).flatMap(([day, times]) => [h('dt', {}, day), h('dd', { dir: 'ltr' }, times)])),
      h('p', { className: 'fine' }, hours.timezone.replaceAll('_', ' ')))
  }
}

// The panel while a visitor checks microphone and sound, before a conversation. It is a script of
// its own, with its words, which the widget loads once somebody wants the check.

import { SoundCheck } from '../../../client/soundcheck.js'
import { words } from './words/index.js'

export class Check {
  name = 'check'
  element
  #check

  /** @param {{language: string, hears: string, ondone: () => void}} options language is that of the widget's words */
  constructor({ language, hears, ondone }) {
    const own = words[language.toLowerCase().split('-')[0]] ?? words.en
    this.#check = new SoundCheck({ say: (key) => own[key], hears, level: 3, classes: { main: 'primary', other: 'secondary' }, ondone })
    this.element = this.#check.element
  }

  get first() { return this.#check.first }

  begin() { this.#check.begin() }

  /** Releases microphone and sound. */
  close() { this.#check.close() }
}

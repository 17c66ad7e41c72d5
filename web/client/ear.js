// What the visitor says, as a conversation's page hears it: the microphone, its
// permission, and how one speaks with it.

import { remember, remembered } from './devices.js'
import { Microphone } from './microphone.js'
import { BrowserRecognition } from './recognition.js'

/** How people speak stays for this browser. */
const byHandKey = 'visavis.byHand'

/** Errors of the server's about what it hears, and what is said of them. */
const failures = { recognition_failed: 'mic.unclear', recognition_unavailable: 'mic.unavailable', recognition_limit: 'mic.limit', no_recognition: 'mic.unavailable' }

/**
 * Parts are the elements by which somebody speaks: `mic` opens the explanation `asks`, whose text is
 * `explained` and whose buttons are `allow` and `later`; `manual` has `hold` held to speak.
 * @typedef {{mic: HTMLElement, asks: HTMLElement, explained: HTMLElement, allow: HTMLElement, later: HTMLElement, manual: HTMLElement, hold: HTMLElement}} Parts
 */

/** Ear is the part of a page by which somebody speaks. */
export class Ear {
  /** @type {Parts} */
  #parts
  #worklet
  #say
  #complain
  #hush
  #onhearing
  #onlevel
  /** @type {import('./live.js').Conversation | null} */
  #conversation = null
  /** @type {Microphone | BrowserRecognition | null} */
  #ear = null
  /** Sends what is said where only the browser understands it and it is recorded. @type {Microphone | null} */
  #tape = null
  /** How the recording stands: asked, on, off, or empty where nobody asks. */
  #recording = ''
  /** Who understands what is said: server, client, or nobody. */
  #hears = ''
  /** Whether the persona wants a button to be held, or the visitor does. */
  #pressed = false
  #byHand = remembered(byHandKey) === 'on'
  #held = false
  #hearing = false
  /** Whether the browser asks for the microphone at this moment. */
  #asking = false

  /**
   * @param {Parts} parts
   * @param {{say: (key: string) => string, complain: (message: string) => void, hush: () => void, onhearing: () => void,
   *   onlevel: (level: number) => void, worklet?: URL}} seams
   *   say finds a text by its key, hush is called when somebody presses the button to speak, onhearing when the server begins
   *   or ends to hear them, and onlevel with how loud they are, of 1; worklet is where worklet.js is
   */
  constructor(parts, { say, complain, hush, onhearing, onlevel, worklet }) {
    this.#parts = parts
    this.#say = say
    this.#complain = complain
    this.#hush = hush
    this.#onhearing = onhearing
    this.#onlevel = onlevel
    this.#worklet = worklet
    parts.mic.addEventListener('click', () => this.#toggle())
    parts.allow.addEventListener('click', () => this.#open())
    parts.later.addEventListener('click', () => this.#shut())
    parts.asks.addEventListener('keydown', (e) => {
      if (e.key !== 'Escape') return
      e.stopPropagation() // it closes this alone
      this.#shut()
    })
    parts.manual.addEventListener('click', () => {
      this.#byHand = !this.#byHand
      remember(byHandKey, this.#byHand ? 'on' : 'off')
      this.#show()
    })
    const { hold } = parts
    hold.addEventListener('pointerdown', (e) => {
      hold.setPointerCapture(e.pointerId)
      this.#hold(true)
    })
    for (const type of ['pointerup', 'pointercancel', 'blur']) hold.addEventListener(type, () => this.#hold(false))
    const isKey = ({ key }) => key === ' ' || key === 'Enter'
    hold.addEventListener('keydown', (e) => { if (isKey(e)) { e.preventDefault(); this.#hold(true) } })
    hold.addEventListener('keyup', (e) => { if (isKey(e)) { e.preventDefault(); this.#hold(false) } })
    hold.addEventListener('contextmenu', (e) => e.preventDefault()) // as a long press is elsewhere
  }

  /** Whether the server hears somebody right now. */
  get hearing() { return this.#hearing }

  /** @param {import('./live.js').Conversation} conversation */
  follow(conversation) {
    this.#conversation = conversation
    conversation.addEventListener('ready', ({ detail }) => {
      this.#hears = detail.hears === 'server' && Microphone.exists ? 'server' : detail.hears && BrowserRecognition.exists ? 'client' : ''
      this.#pressed = Boolean(detail.pushToTalk)
      if (this.#ear instanceof BrowserRecognition) this.#ear.language = detail.session.language
      this.#language = detail.session.language
      this.#show()
    })
    conversation.addEventListener('user-started-speaking', () => this.#heard(true))
    conversation.addEventListener('user-stopped-speaking', () => this.#heard(false))
    conversation.addEventListener('ended', () => {
      this.#ear?.stop()
      this.#hears = ''
      this.#heard(false)
      this.#shut()
      this.#show()
    })
  }
  #language = ''

  /** Releases the microphone. */
  stop() { this.#ear?.stop() }

  /** What to say of an error of the server's; empty where it is not about what was heard. */
  explain(code) { return failures[code] ? this.#say(failures[code]) : '' }

  #heard(yes) {
    if (yes === this.#hearing) return
    this.#hearing = yes
    this.#onhearing()
  }

  /** How the recording stands; nobody is heard before they answered. */
  set recording(state) {
    this.#recording = state === 'incomplete' ? 'on' : state
    if (this.#recording !== 'on') {
      this.#tape?.stop()
      this.#tape = null
    } else if (this.#listens && this.#hears === 'client') this.#record()
    this.#show()
  }

  /** Sends the sound beside what the browser understands. */
  async #record() {
    if (this.#tape || !Microphone.exists) return
    const tape = this.#tape = new Microphone(this.#conversation, { worklet: this.#worklet })
    tape.muted = this.#ear?.muted ?? false
    await tape.start().catch(() => {}) // what is understood still is
  }

  get #listens() { return Boolean(this.#ear?.open) }

  #toggle() {
    if (this.#asking) return
    if (this.#listens) {
      this.#ear.stop()
      return
    }
    this.#parts.explained.textContent = this.#say(this.#hears !== 'server' ? 'mic.explain_browser' : this.#recording === 'on' ? 'mic.explain_recorded' : 'mic.explain_server')
    this.#parts.asks.hidden = false
    this.#parts.allow.focus()
  }

  /** Closes the explanation. */
  #shut() {
    if (this.#parts.asks.hidden) return
    this.#parts.asks.hidden = true
    this.#parts.mic.focus()
  }

  async #open() {
    this.#shut()
    this.#complain('')
    this.#ear?.stop()
    const ear = this.#ear = this.#hears === 'server'
      ? new Microphone(this.#conversation, { worklet: this.#worklet })
      : new BrowserRecognition(this.#conversation)
    if (ear instanceof BrowserRecognition) ear.language = this.#language
    ear.addEventListener('closed', ({ detail }) => {
      this.#tape?.stop()
      this.#tape = null
      if (detail?.reason) this.#complain(this.#say(`mic.${detail.reason}`))
      this.#show()
    })
    ear.addEventListener('replaced', () => this.#complain(this.#say('mic.replaced')))
    ear.addEventListener('level', ({ detail }) => this.#onlevel(detail.level))
    ear.muted = this.#pressed || this.#byHand
    this.#asking = true
    try {
      await ear.start()
      if (this.#hears === 'client' && this.#recording === 'on') this.#record()
    } catch (error) {
      if (error.reason !== 'stopped') this.#complain(this.#say(`mic.${error.reason ?? 'failed'}`))
    }
    this.#asking = false
    this.#show()
  }

  /** Shows what can be pressed, and how it stands. */
  #show() {
    const { mic, manual, hold } = this.#parts, byHand = this.#pressed || this.#byHand
    mic.hidden = !this.#hears || this.#recording === 'asked'
    mic.setAttribute('aria-pressed', String(this.#listens))
    if (!this.#listens) this.#onlevel(0)
    manual.hidden = !this.#listens || this.#pressed
    manual.setAttribute('aria-pressed', String(this.#byHand))
    hold.hidden = !this.#listens || !byHand
    if (this.#ear) this.#ear.muted = byHand && !this.#held
    if (this.#tape) this.#tape.muted = byHand && !this.#held
  }

  #hold(yes) {
    if (yes === this.#held || yes && !this.#listens) return
    this.#held = yes
    this.#parts.hold.dataset.held = String(yes)
    if (yes) this.#hush()
    if (yes && this.#pressed) this.#conversation?.speaking(true)
    if (this.#ear) this.#ear.muted = !yes && (this.#pressed || this.#byHand)
    if (this.#tape) this.#tape.muted = !yes && (this.#pressed || this.#byHand)
    if (!yes && this.#pressed) this.#conversation?.speaking(false)
  }
}

// What the visitor says, as the conversation's page hears it: the microphone, its
// permission, and how one speaks with it.

import { Microphone } from './microphone.js'
import { BrowserRecognition } from './recognition.js'

/** How people speak stays for this browser; it may refuse a memory in a frame. */
const memory = (() => {
  try { return localStorage } catch { return null }
})()

/** Errors of the server's about what it hears, and what is said of them. */
const failures = { recognition_failed: 'mic.unclear', recognition_unavailable: 'mic.unavailable', recognition_limit: 'mic.limit', no_recognition: 'mic.unavailable' }

/** Ear is the part of the page by which somebody speaks. */
export class Ear {
  #at
  #say
  #complain
  #hush
  #onhearing
  /** @type {import('./live.js').Conversation | null} */
  #conversation = null
  /** @type {Microphone | BrowserRecognition | null} */
  #ear = null
  /** Who understands what is said: server, client, or nobody. */
  #hears = ''
  /** Whether the persona wants a button to be held, or the visitor does. */
  #pressed = false
  #byHand = memory?.getItem('byHand') === 'on'
  #held = false
  #hearing = false
  /** Whether the browser asks for the microphone at this moment. */
  #asking = false

  /**
   * @param {(id: string) => any} at finds an element
   * @param {{say: (key: string, value?: string) => string, speaker: () => string, complain: (message: string) => void, hush: () => void, onhearing: () => void}} seams
   *   hush is called when somebody presses the button to speak, and onhearing when the server begins or ends to hear them
   */
  constructor(at, { say, speaker, complain, hush, onhearing }) {
    this.#at = at
    this.#say = (key) => say(key, speaker())
    this.#complain = complain
    this.#hush = hush
    this.#onhearing = onhearing
    at('mic').addEventListener('click', () => this.#toggle())
    at('allow').addEventListener('click', () => this.#open())
    at('later').addEventListener('click', () => this.#shut())
    at('asks').addEventListener('keydown', (e) => { if (e.key === 'Escape') this.#shut() })
    at('manual').addEventListener('click', () => {
      this.#byHand = !this.#byHand
      memory?.setItem('byHand', this.#byHand ? 'on' : 'off')
      this.#show()
    })
    const hold = at('hold')
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

  /** What to say of an error of the server's; empty where it is not about what was heard. */
  explain(code) { return failures[code] ? this.#say(failures[code]) : '' }

  #heard(yes) {
    if (yes === this.#hearing) return
    this.#hearing = yes
    this.#onhearing()
  }

  get #listens() { return Boolean(this.#ear?.open) }

  #toggle() {
    if (this.#asking) return
    if (this.#listens) {
      this.#ear.stop()
      return
    }
    const at = this.#at
    at('explained').textContent = this.#say(this.#hears === 'server' ? 'mic.explain_server' : 'mic.explain_browser')
    at('asks').hidden = false
    at('allow').focus()
  }

  /** Closes the explanation. */
  #shut() {
    if (this.#at('asks').hidden) return
    this.#at('asks').hidden = true
    this.#at('mic').focus()
  }

  async #open() {
    this.#shut()
    this.#complain('')
    this.#ear?.stop()
    const ear = this.#ear = this.#hears === 'server'
      ? new Microphone(this.#conversation, { worklet: new URL('./worklet.js', import.meta.url) })
      : new BrowserRecognition(this.#conversation)
    if (ear instanceof BrowserRecognition) ear.language = this.#language
    ear.addEventListener('closed', ({ detail }) => {
      if (detail?.reason) this.#complain(this.#say(`mic.${detail.reason}`))
      this.#show()
    })
    ear.addEventListener('level', ({ detail }) => this.#at('mic').style.setProperty('--level', detail.level.toFixed(2)))
    ear.muted = this.#pressed || this.#byHand
    this.#asking = true
    try {
      await ear.start()
    } catch (error) {
      if (error.reason !== 'stopped') this.#complain(this.#say(`mic.${error.reason ?? 'failed'}`))
    }
    this.#asking = false
    this.#show()
  }

  /** Shows what can be pressed, and how it stands. */
  #show() {
    const at = this.#at, manual = this.#pressed || this.#byHand
    at('mic').hidden = !this.#hears
    at('mic').setAttribute('aria-pressed', String(this.#listens))
    if (!this.#listens) at('mic').style.removeProperty('--level')
    at('manual').hidden = !this.#listens || this.#pressed
    at('manual').setAttribute('aria-pressed', String(this.#byHand))
    at('hold').hidden = !this.#listens || !manual
    if (this.#ear) this.#ear.muted = manual && !this.#held
  }

  #hold(yes) {
    if (yes === this.#held || yes && !this.#listens) return
    this.#held = yes
    this.#at('hold').dataset.held = String(yes)
    if (yes) this.#hush()
    if (yes && this.#pressed) this.#conversation?.speaking(true)
    if (this.#ear) this.#ear.muted = !yes && (this.#pressed || this.#byHand)
    if (!yes && this.#pressed) this.#conversation?.speaking(false)
  }
}

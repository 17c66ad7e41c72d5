// The browser's own recognition of speech, where it has one and the server has none. Who
// made the browser may get the sound: say so before it is begun.

/** How soon it is begun again after it ended by itself, in milliseconds. */
const again = 250

/**
 * BrowserRecognition writes down what is said and tells a conversation. Its events are
 * CustomEvents: `closed` {reason}: it ended for good: `denied`, `none` or `failed`.
 */
export class BrowserRecognition extends EventTarget {
  #conversation
  #Recognition
  /** @type {any} */
  #recognition = null
  #muted = false
  #on = false
  #failures = 0
  /** The language that is spoken, as BCP 47 has it. */
  language = ''

  /**
   * @param {import('./live.js').Conversation} conversation
   * @param {any} [Recognition] for tests
   */
  constructor(conversation, Recognition = globalThis.SpeechRecognition ?? globalThis.webkitSpeechRecognition) {
    super()
    this.#conversation = conversation
    this.#Recognition = Recognition
  }

  /** Whether this browser understands speech. */
  static get exists() { return Boolean(globalThis.SpeechRecognition ?? globalThis.webkitSpeechRecognition) }

  get open() { return this.#on }

  get muted() { return this.#muted }
  set muted(yes) {
    if (yes === this.#muted) return
    this.#muted = yes
    if (!this.#on) return
    if (yes) this.#recognition?.stop()
    else this.#begin()
  }

  /** Begins; the browser asks for the microphone. */
  async start() {
    if (this.#on) return
    this.#on = true
    this.#failures = 0
    if (!this.#muted) this.#begin()
  }

  /** Ends. */
  stop() {
    if (!this.#on) return
    this.#on = false
    this.#recognition?.abort()
    this.#recognition = null
    this.#conversation.hearAnew()
    this.dispatchEvent(new CustomEvent('closed', { detail: { reason: '' } }))
  }

  #begin() {
    this.#conversation.hearAnew()
    const recognition = this.#recognition = new this.#Recognition()
    recognition.lang = this.language
    recognition.continuous = recognition.interimResults = true
    recognition.onresult = ({ results, resultIndex }) => {
      this.#failures = 0
      let interim = ''
      for (let i = resultIndex; i < results.length; i++) {
        const text = results[i][0].transcript.trim()
        if (results[i].isFinal) this.#conversation.heard(text, true)
        else interim += ' ' + text
      }
      if (interim.trim()) this.#conversation.heard(interim.trim(), false)
    }
    recognition.onerror = ({ error }) => {
      if (error === 'not-allowed' || error === 'service-not-allowed') this.#fail('denied')
      else if (error === 'audio-capture') this.#fail('none')
      else if (error !== 'no-speech' && error !== 'aborted' && ++this.#failures > 3) this.#fail('failed')
    }
    // It ends by itself now and then.
    recognition.onend = () => {
      if (recognition !== this.#recognition) return
      this.#conversation.hearAnew()
      if (!this.#on || this.#muted) return
      setTimeout(() => { if (recognition === this.#recognition && this.#on && !this.#muted) this.#begin() }, again)
    }
    recognition.start()
  }

  #fail(reason) {
    this.#conversation.hearAnew()
    this.#on = false
    this.#recognition = null
    this.dispatchEvent(new CustomEvent('closed', { detail: { reason } }))
  }
}

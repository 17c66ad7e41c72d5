// The browser's own voice, for who turns it on where the server makes no sound.

/** BrowserVoice reads out what an avatar says. */
export class BrowserVoice {
  #synthesis
  #Utterance
  #on = false
  /** How much of a turn was read already. */
  #read = { id: '', length: 0 }
  /** The language that is spoken, as BCP 47 has it. */
  language = ''

  /** @param {any} [seams] for tests */
  constructor({ synthesis = globalThis.speechSynthesis, Utterance = globalThis.SpeechSynthesisUtterance } = {}) {
    this.#synthesis = synthesis
    this.#Utterance = Utterance
  }

  /** Whether this browser has a voice. */
  get exists() { return Boolean(this.#synthesis && this.#Utterance) }

  get on() { return this.#on }
  set on(yes) {
    this.#on = yes && this.exists
    if (!yes) this.stop()
  }

  /** @param {import('./live.js').Conversation} conversation */
  follow(conversation) {
    conversation.addEventListener('turn', ({ detail: { id, speaker, text, interrupted } }) => {
      if (speaker === 'user') return
      if (interrupted) this.stop()
      else this.#say(id, text)
    })
    conversation.addEventListener('ended', () => this.stop())
  }

  /** Is quiet. */
  stop() { this.#synthesis?.cancel() }

  #say(id, text) {
    const from = this.#read.id === id ? this.#read.length : 0
    this.#read = { id, length: text.length }
    const fresh = text.slice(from).trim()
    if (!this.#on || !fresh) return
    const utterance = new this.#Utterance(fresh)
    utterance.lang = this.language
    this.#synthesis.speak(utterance)
  }
}

// Whether a conversation may be recorded, as its page asks it before anybody can be heard.

/** Consent asks once, shows that it is recorded, and lets people change their minds. */
export class Consent {
  #at
  #say
  #notice
  #onchange
  /** @type {import('./live.js').Conversation | null} */
  #conversation = null

  /**
   * @param {(id: string) => any} at finds an element
   * @param {{say: (key: string, value?: string) => string, speaker: () => string, notice: (text: string) => void, onchange: (state: string) => void}} seams
   *   notice shows a line, and onchange is told how the recording stands
   */
  constructor(at, { say, speaker, notice, onchange }) {
    this.#at = at
    this.#say = (key) => say(key, speaker())
    this.#notice = notice
    this.#onchange = onchange
    at('agree').addEventListener('click', () => this.#answer(true))
    at('refuse').addEventListener('click', () => this.#answer(false))
    at('unrecord').addEventListener('click', () => this.#answer(false))
  }

  /** @param {import('./live.js').Conversation} conversation */
  follow(conversation) {
    this.#conversation = conversation
    conversation.addEventListener('ready', ({ detail: { recording } }) => {
      const at = this.#at, state = recording?.state ?? ''
      const asks = at('consent').hidden && state === 'asked'
      at('recorded').textContent = this.#say(recording?.required ? 'recording.ask_required' : 'recording.ask')
      at('consent').hidden = state !== 'asked'
      if (asks) at('agree').focus()
      this.#show(state)
    })
    conversation.addEventListener('recording', ({ detail: { state } }) => {
      this.#at('consent').hidden = true
      this.#notice(this.#say(`recording.${state}`))
      this.#show(state)
    })
    conversation.addEventListener('ended', () => {
      this.#at('consent').hidden = true
      this.#show('')
    })
  }

  #answer(yes) {
    this.#at('consent').hidden = true
    this.#conversation?.agree(yes)
  }

  #show(state) {
    this.#at('unrecord').hidden = state !== 'on' && state !== 'incomplete'
    this.#onchange(state)
  }
}

// What a candidate's page notes during the interview, where the notice tells them that it does: that a text was
// pasted or dropped where answers are typed, and when the page was not to be seen. Never what was pasted.

export class Watch {
  #send
  #now
  #page
  #on = false
  /** When the page was left; null while it is seen. */
  #leftAt = null

  /**
   * @param {EventTarget} box where answers are typed
   * @param {(kind: string, fields?: Record<string, number>) => void} send
   */
  constructor(box, send, { page = document, view = globalThis, now = () => performance.now() } = {}) {
    this.#send = send
    this.#now = now
    this.#page = page
    box.addEventListener('paste', (e) => this.#pasted(e.clipboardData))
    box.addEventListener('drop', (e) => this.#pasted(e.dataTransfer))
    page.addEventListener('visibilitychange', () => page.hidden ? this.#left() : this.#returned())
    // A page that is closed behind another does not come back.
    view.addEventListener('pagehide', () => this.#returned())
  }

  /** From when on it is noted. */
  start() {
    if (this.#on) return
    this.#on = true
    this.#send('watching')
    if (this.#page.hidden) this.#left()
  }

  stop() {
    this.#returned()
    this.#on = false
  }

  #pasted(data) {
    const text = data?.getData('text/plain') ?? ''
    if (this.#on && text) this.#send('pasted', { characters: [...text].length })
  }

  #left() {
    if (this.#on) this.#leftAt ??= this.#now()
  }

  #returned() {
    if (!this.#on || this.#leftAt === null) return
    this.#send('left', { durationMs: Math.round(this.#now() - this.#leftAt) })
    this.#leftAt = null
  }
}

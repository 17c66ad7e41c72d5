// What a tab remembers from one page of a site to the next, so that a conversation
// goes on there.

export class Memory {
  #key
  /** A page in a frame may have none. @type {Storage | null} */
  #storage = null

  constructor(widget) {
    this.#key = `visavis:${widget}`
    try {
      this.#storage = sessionStorage
    } catch { /* then every page begins anew */ }
  }

  /** What was kept; null for nothing. */
  get() {
    try {
      const kept = JSON.parse(this.#storage?.getItem(this.#key) ?? 'null')
      return kept?.ticket?.session ? kept : null
    } catch {
      return null
    }
  }

  keep(value) {
    try {
      this.#storage?.setItem(this.#key, JSON.stringify(value))
    } catch { /* as without a storage */ }
  }

  /** Notes a change of what is kept; of nothing there is nothing to note. */
  note(change) {
    const kept = this.get()
    if (kept) this.keep({ ...kept, ...change })
  }

  forget() { this.#storage?.removeItem(this.#key) }
}

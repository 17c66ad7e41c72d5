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
      return JSON.parse(this.#storage?.getItem(this.#key) ?? 'null')
    } catch {
      return null
    }
  }

  keep(value) {
    try {
      this.#storage?.setItem(this.#key, JSON.stringify({ ...this.get(), ...value }))
    } catch { /* as without a storage */ }
  }

  forget() { this.#storage?.removeItem(this.#key) }
}

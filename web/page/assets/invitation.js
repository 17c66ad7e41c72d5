// The way into the one session that a page's address has the token of. The token stands
// behind the "#", so that no server's log has it, and is taken out of the address at once:
// what is on the screen can be shown to others.

import { together } from './pair.js'

/** Invitation is what the address opens. */
export class Invitation {
  #at
  #base
  #memory
  #kept
  #say
  #stage

  /**
   * @param {(id: string) => any} at finds an element
   * @param {{base: string, memory: Storage | null, kept: string, say: (key: string, value?: string) => string, stage: import('./stage.js').Stage}} seams
   *   base is the page's path; under kept the tab keeps the token for when it is loaded again
   */
  constructor(at, { base, memory, kept, say, stage }) {
    this.#at = at
    this.#base = base
    this.#memory = memory
    this.#kept = kept
    this.#say = say
    this.#stage = stage
  }

  /** Asks what the token opens, and shows who waits there. @returns {Promise<{ticket?: any, message?: string}>} */
  async open() {
    const token = this.#token()
    const headers = { 'X-Session-Token': token }
    this.#opens = token
    let ticket
    try {
      const answer = await fetch(`${this.#base}/ticket`, { method: 'POST', headers })
      ticket = await answer.json()
      if (!answer.ok) return { message: ticket.message }
    } catch {
      return {}
    }
    this.#memory?.setItem(this.#kept, JSON.stringify({ token }))
    this.#show(ticket)
    if (ticket.channel !== 'chat') this.#appear(ticket, headers)
    return { ticket }
  }

  /** Where the conversation is held, and what lets in there. @param {string} token the conversation's newest */
  async transport(token) {
    const answer = await fetch(`${this.#base}/ticket`, { method: 'POST', headers: { 'X-Session-Token': token } })
    if (!answer.ok) throw new Error(`the room is not open (${answer.status})`)
    return (await answer.json()).transport
  }

  /** What the server must be told to answer, besides the address. */
  get headers() { return { 'X-Session-Token': this.#opens } }
  #opens = ''

  #token() {
    const token = location.hash.slice(1)
    if (!token) return JSON.parse(this.#memory?.getItem(this.#kept) ?? '{}').token ?? ''
    history.replaceState(null, '', location.pathname + location.search)
    return token
  }

  #show({ speaker, channel, notice, hosts }) {
    const at = this.#at
    document.title = this.#say('talk.title', speaker)
    document.querySelector('.about h1').textContent = document.title
    at('likeness').setAttribute('aria-label', speaker)
    const written = channel === 'chat' ? '_chat' : ''
    at('ready').textContent = hosts?.length
      ? this.#say(`join.ready_two${written}`, together(hosts, document.documentElement.lang))
      : this.#say(`join.ready${written}`, speaker)
    at('notice').textContent = notice.text
    at('notice').lang = notice.language
    at('notice').dir = notice.direction
    at('notice').hidden = !notice.text
    at('talk').dataset.channel = channel
  }

  /** Shows the picture, which is there soon, and only then asks for the face that lives. */
  async #appear({ channel, face, hosts }, headers) {
    if (hosts?.length) {
      await this.#stage.seat(hosts, { headers, living: channel === 'video' })
      return
    }
    await this.#picture(headers).catch(() => {}) // the face may come all the same
    if (channel === 'video' && face) this.#stage.show(face, headers)
  }

  async #picture(headers) {
    const answer = await fetch(`${this.#base}/portrait`, { headers })
    if (!answer.ok) return // there is none to show
    const picture = this.#at('portrait')
    picture.src = URL.createObjectURL(await answer.blob())
    picture.hidden = false
  }
}

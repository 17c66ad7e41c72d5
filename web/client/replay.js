// A conversation that was recorded, as if it were held again: it stands in for the
// conversation and for the player of its sound, by the track that was recorded beside it.

/** How long after its last word or mouth a turn may still be heard, in milliseconds. */
const rings = 200

/**
 * @typedef {{t: number, type: string, data: any}} Item a message and when it was sent, in milliseconds from the session's start
 */

/** The items of a track. What cannot be read is left out. @param {string} text @returns {Item[]} */
export function itemsOf(text) {
  const items = []
  for (const line of text.split('\n')) {
    try {
      const item = JSON.parse(line)
      if (item && typeof item.t === 'number' && item.data) items.push(item)
    } catch {
      // It breaks off where a process died.
    }
  }
  return items.sort((a, b) => a.t - b.t)
}

/**
 * Replay tells what was told in the conversation, when its time comes again. Its events
 * are those of Conversation that a Speech follows.
 */
export class Replay extends EventTarget {
  #items
  #plays
  /** When each turn was silenced, and how long it is. */
  #stops = new Map()
  #lasts = new Map()
  #next = 0
  #at = -1
  /** As of a player: there is sound. */
  sounds = true

  /** @param {Item[]} items */
  constructor(items) {
    super()
    this.#items = items.filter(({ type }) => type !== 'plays' && type !== 'stops')
    this.#plays = items.filter(({ type }) => type === 'plays')
    for (const { t, type, data } of items) {
      if (type === 'stops') this.#stops.set(data.turnId, t)
      const end = type === 'visemes' ? data.items.at(-1)?.t : type === 'words' ? Math.max(...data.items.map((w) => w.t + w.d)) : 0
      if (end) this.#lasts.set(data.turnId, Math.max(end, this.#lasts.get(data.turnId) ?? 0))
    }
  }

  /** Goes on to a time, or back to one, in milliseconds from the session's start. */
  seek(ms) {
    if (ms < this.#at) {
      this.#next = 0
      this.dispatchEvent(new CustomEvent('ended', { detail: {} }))
    }
    this.#at = ms
    for (; this.#items[this.#next]?.t <= ms; this.#next++) {
      const { type, data } = this.#items[this.#next]
      this.dispatchEvent(new CustomEvent(type, { detail: data }))
    }
  }

  /** What is heard now: the turn, and the milliseconds from its first sample; null for nothing. */
  get position() {
    let playing = null
    for (const { t, data } of this.#plays) {
      if (t > this.#at) break
      playing = { turnId: data.turnId, ms: this.#at - t + data.from }
    }
    if (!playing || this.#stops.get(playing.turnId) <= this.#at) return null
    return playing.ms <= (this.#lasts.get(playing.turnId) ?? 0) + rings ? playing : null
  }

  /** What was said, turn by turn, as it was heard. */
  turns() {
    const turns = new Map()
    const turn = (id, speaker, text, more = {}) => turns.set(id, { name: '', ...turns.get(id), id, speaker, text, final: true, ...more })
    for (const { type, data } of this.#items) {
      const known = turns.get(data.turnId)?.text ?? ''
      if (type === 'bot-text' && data.text) turn(data.turnId, 'avatar', known ? `${known} ${data.text}` : data.text, { name: data.name ?? '', host: data.host ?? '' })
      else if (type === 'interrupted') turn(data.turnId, 'avatar', data.spokenText, { interrupted: true })
      else if (type === 'user-transcription') turn(data.turnId, 'user', data.text)
      else if (type === 'staff-text') turn(data.turnId, 'staff', data.text, { name: data.name })
    }
    return [...turns.values()].filter(({ text }) => text)
  }
}

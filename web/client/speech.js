// What is said, in step with its sound: the mouth, the gestures and the captions.

import { rest, visemesOf, VisemeTrack } from './visemes.js'

/** A caption has at most so many letters, and stays so long after its last word, in milliseconds. */
const captionLength = 84
const captionStays = 1400

/**
 * @typedef {object} Turn
 * @property {VisemeTrack} track
 * @property {{t: number, d: number, text: string}[]} words
 * @property {{t: number, name: string}[]} gestures
 * @property {boolean} told whether the server says what the mouth does
 * @property {number | null} from when it began, by the wall clock, where it has no sound
 */

/** Speech is what one conversation says. */
export class Speech {
  #player
  #now
  /** @type {Map<string, Turn>} */
  #turns = new Map()
  /** The turn without sound that is said now. */
  #silent = ''
  /** What was said last, for its caption. */
  #last = { id: '', at: 0, ms: 0 }
  /** Called once for each gesture, when its moment has come. @type {(name: string) => void} */
  ongesture = () => {}

  /**
   * @param {import('./player.js').Player} player
   * @param {() => number} [now] for tests
   */
  constructor(player, now = () => performance.now()) {
    this.#player = player
    this.#now = now
  }

  /** @param {import('./live.js').Conversation} conversation */
  follow(conversation) {
    conversation.addEventListener('visemes', ({ detail: { turnId, items } }) => {
      const turn = this.#turn(turnId)
      turn.told = true
      turn.track.add(items)
    })
    conversation.addEventListener('words', ({ detail: { turnId, items } }) => this.#words(turnId, items))
    conversation.addEventListener('gesture', ({ detail: { turnId, t, name } }) => {
      if (turnId) this.#turn(turnId).gestures.push({ t: t ?? 0, name })
      else this.ongesture(name)
    })
    conversation.addEventListener('interrupted', ({ detail: { turnId } }) => this.#forget(turnId))
    conversation.addEventListener('ended', () => {
      this.#turns.clear()
      this.#silent = ''
    })
  }

  /** Whether something is said now, heard or not. */
  get speaking() { return this.position !== null }

  /** The mouth now. */
  mouth() {
    const at = this.position
    if (!at) return rest
    const turn = this.#turns.get(at.turnId)
    if (!turn) return rest
    while (turn.gestures[0]?.t <= at.ms) this.ongesture(turn.gestures.shift().name)
    return turn.track.at(at.ms)
  }

  /** The caption now: the phrase that is said, and how many letters of it are said already. */
  caption() {
    const at = this.position
    if (at) this.#last = { id: at.turnId, at: this.#now(), ms: at.ms }
    else if (!this.#last.id || this.#now() - this.#last.at > captionStays) return { text: '', said: 0 }
    const words = this.#turns.get(this.#last.id)?.words ?? []
    let text = '', said = 0
    for (const { t, text: word } of words) {
      const joined = text && !glued.test(word) ? `${text} ${word}` : text + word
      // A phrase ends with its sentence, or where it is long enough.
      const begins = text && (joined.length > captionLength || sentence.test(text) && text.length > 24)
      if (begins && t > this.#last.ms) break
      text = begins ? word : joined
      if (t <= this.#last.ms) said = text.length
    }
    return { text, said }
  }

  #turn(id) {
    let turn = this.#turns.get(id)
    if (!turn) this.#turns.set(id, turn = { track: new VisemeTrack(), words: [], gestures: [], told: false, from: null })
    // Turns end; what they said is not needed any more.
    for (const old of this.#turns.keys()) if (this.#turns.size > 4) this.#turns.delete(old)
    return turn
  }

  #words(id, items) {
    const turn = this.#turn(id)
    turn.words.push(...items)
    if (this.#player.sounds && turn.told) return
    if (!turn.told) turn.track.add(visemesOf(items))
    if (this.#player.sounds) return
    turn.from ??= this.#now()
    this.#silent = id
  }

  #forget(id) {
    this.#turns.delete(id)
    if (this.#silent === id) this.#silent = ''
    if (this.#last.id === id) this.#last.id = ''
  }

  /** What is said now: the turn, and the milliseconds from its beginning; null for nothing. */
  get position() {
    if (this.#player.sounds) return this.#player.position
    const turn = this.#turns.get(this.#silent)
    if (!turn || turn.from === null) return null
    const ms = this.#now() - turn.from
    const last = turn.words.at(-1)
    return last && ms < last.t + last.d + 60 ? { turnId: this.#silent, ms } : null
  }
}

const sentence = /[.!?\u2026\u3002\uff01\uff1f\u061f]["'\u201d\u2019\u00bb)]*$/u
/** What stands at the word before it without a space. */
const glued = /^([\p{Po}\p{Pe}\p{Pf}]|[\u2e80-\u9fff\uf900-\uffef])/u

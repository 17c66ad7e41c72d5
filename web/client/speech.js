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
  /** Who of a duo says a turn: their seat and name, by the turn. @type {Map<string, {seat: string, name: string}>} */
  #hosts = new Map()
  /** Called once for each gesture, when its moment has come, with the seat of whose it is; empty for everybody's. @type {(name: string, host: string) => void} */
  ongesture = () => {}

  /**
   * @param {import('./player.js').Player} player
   * @param {() => number} [now] for tests
   */
  constructor(player, now = () => performance.now()) {
    this.#player = player
    this.#now = now
  }

  /** What says what is heard now, where that is not the player any more. @param {import('./livekit.js').RoomClock} clock */
  set player(clock) { this.#player = clock }

  /** @param {import('./live.js').Conversation} conversation */
  follow(conversation) {
    conversation.addEventListener('visemes', ({ detail: { turnId, items } }) => {
      const turn = this.#turn(turnId)
      turn.told = true
      turn.track.add(items)
    })
    const says = (id, { host, name = '' }) => host && this.#hosts.set(id, { seat: host, name })
    conversation.addEventListener('ready', ({ detail }) => { for (const turn of detail.turns ?? []) says(turn.id, turn) })
    conversation.addEventListener('turn', ({ detail }) => says(detail.id, detail))
    conversation.addEventListener('bot-text', ({ detail }) => says(detail.turnId, detail)) // of what was recorded
    conversation.addEventListener('words', ({ detail: { turnId, items } }) => this.#words(turnId, items))
    conversation.addEventListener('gesture', ({ detail: { turnId, t, name } }) => {
      if (turnId) this.#turn(turnId).gestures.push({ t: t ?? 0, name })
      else this.ongesture(name, '')
    })
    conversation.addEventListener('interrupted', ({ detail: { turnId } }) => this.#forget(turnId))
    conversation.addEventListener('ended', () => {
      this.#turns.clear()
      this.#silent = ''
    })
  }

  /** Whether something is said now, heard or not. */
  get speaking() { return this.position !== null }

  /** The seat of the host of a duo who is heard now; empty where that is not known, or nobody is. */
  get host() { return this.#hosts.get(this.position?.turnId)?.seat ?? '' }

  /**
   * The mouth now: of the host in a seat, or else of the only one.
   * @param {string} [seat]
   * @param {string} [lead] the seat of whose is what no host is known of
   */
  mouth(seat = '', lead = '') {
    const at = this.position
    if (!at) return rest
    const turn = this.#turns.get(at.turnId)
    const host = this.#hosts.get(at.turnId)?.seat ?? ''
    if (!turn || seat && seat !== (host || lead)) return rest
    while (turn.gestures[0]?.t <= at.ms) this.ongesture(turn.gestures.shift().name, host)
    return turn.track.at(at.ms)
  }

  /** The caption now: the phrase that is said, how many letters of it are said already, and the name of the host of a duo who says it. */
  caption() {
    const at = this.position
    if (at) this.#last = { id: at.turnId, at: this.#now(), ms: at.ms }
    else if (!this.#last.id || this.#now() - this.#last.at > captionStays) return { text: '', said: 0, by: '' }
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
    return { text, said, by: this.#hosts.get(this.#last.id)?.name ?? '' }
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

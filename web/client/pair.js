// The two hosts of a duo, side by side: each has its own mouth and name, and who listens looks at who speaks.

import { Face } from './face.js'

/** How far who listens is turned to who speaks: somewhat more than eyes alone look. */
const turned = 1.5

/**
 * @typedef {object} Host
 * @property {string} seat left or right, as it is seen
 * @property {string} name
 * @property {string} [role] lead or partner
 */

/** Pair shows two hosts in an element, and who of them speaks. It is used as a Face is. */
export class Pair {
  element
  #speech
  #now = ''
  #state = ''
  #lead
  /** @type {Map<string, {name: string, figure: HTMLElement, seen: HTMLElement, canvas: HTMLCanvasElement, face: Face | null}>} */
  #seats = new Map()

  /**
   * @param {Host[]} hosts
   * @param {import('./speech.js').Speech} speech
   */
  constructor(hosts, speech) {
    this.#speech = speech
    this.element = make('div', 'pair')
    this.#lead = (hosts.find(({ role }) => role === 'lead') ?? hosts[0]).seat
    for (const seat of ['left', 'right']) {
      const { name } = hosts.find((host) => host.seat === seat)
      const figure = make('figure', 'host'), seen = make('div', 'seen'), canvas = document.createElement('canvas'), caption = make('figcaption', '')
      figure.dataset.seat = seat
      canvas.hidden = true
      caption.textContent = name
      caption.dir = 'auto'
      seen.append(canvas)
      figure.append(seen, caption)
      this.element.append(figure)
      this.#seats.set(seat, { name, figure, seen, canvas, face: null })
    }
  }

  /** The name of who is heard now; empty for nobody. */
  get speaker() { return this.#seats.get(this.#now)?.name ?? '' }

  /** The mouths as they stood in the last frame, by seat. */
  get mouths() { return Object.fromEntries([...this.#seats].map(([seat, { face }]) => [seat, face?.mouth ?? null])) }

  /** Shows a picture of a host, until there is a face that lives. @param {Node} picture */
  picture(seat, picture) { this.#seats.get(seat).seen.prepend(picture) }

  /** How large a face is shown, in pixels of the page. */
  sizeOf(seat) {
    const { width, height } = this.#seats.get(seat).seen.getBoundingClientRect()
    return Math.max(height, width * 0.8)
  }

  /** Brings a host's face to life. @param {any} loaded as loadFace answers it */
  live(seat, loaded) {
    const at = this.#seats.get(seat)
    at.face = new Face(at.canvas, loaded)
    at.canvas.hidden = false
    at.face.speech = () => this.#speech.mouth(seat, this.#lead)
    this.#settle()
    at.face.start()
  }

  /** What the two show: listening, thinking, speaking or idle. */
  set state(name) {
    this.#state = name
    this.#settle()
  }

  /** Sees who is heard now; true where that is somebody else than before. */
  look() {
    const now = this.#speech.speaking ? this.#speech.host || this.#lead : ''
    if (now === this.#now) return false
    this.#now = now
    for (const [seat, { figure }] of this.#seats) figure.classList.toggle('speaks', seat === now)
    this.#settle()
    return true
  }

  /** Shows a gesture: of who says what it goes with, or of both where it goes with nothing. */
  gesture(name, host) { for (const [seat, { face }] of this.#seats) if (!host || host === seat) face?.gesture(name) }

  /** Has the eyes follow a place on the page a little. */
  follow(x, y) { for (const { face } of this.#seats.values()) face?.follow(x, y) }

  /** Ends for good. */
  stop() { for (const { face } of this.#seats.values()) face?.stop() }

  #settle() {
    for (const [seat, { face }] of this.#seats) {
      if (!face) continue
      const listens = this.#now && this.#now !== seat
      face.state = listens ? 'listening' : this.#state === 'speaking' && !this.#now ? 'idle' : this.#state
      face.turn = listens ? (seat === 'left' ? turned : -turned) : 0
    }
  }
}

function make(name, classes) {
  const made = document.createElement(name)
  if (classes) made.className = classes
  return made
}

/** The names of both, in a language's way. @param {Host[]} hosts @param {string} language */
export const together = (hosts, language) => new Intl.ListFormat(language).format(['left', 'right'].map((seat) => hosts.find((host) => host.seat === seat).name))

/** Who says a caption, as it stands before it. @param {string} by their name; empty where one alone speaks */
export function named(by) {
  if (!by) return []
  const name = make('b', '')
  name.textContent = by
  name.dir = 'auto'
  return [name, ' ']
}

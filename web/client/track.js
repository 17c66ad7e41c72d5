// Plays the avatar's sound as a track of WebRTC: an element of the page plays it, so that the
// browser takes its echo out of what the microphone hears.

/** How long what the browser told of a track's playing counts, in milliseconds. */
const fresh = 250
/** How long sound is on its way to the ear where the browser does not tell, in milliseconds. */
const usual = 120
/** The clock of a track's timestamps, in a millisecond. */
const rate = 48

/**
 * @typedef {object} Passage a part of a turn without a gap
 * @property {number} t where it begins, in milliseconds of the turn
 * @property {number} rtp the timestamp of that on the track
 * @property {number} at when it was told of, by the wall's clock
 */

/**
 * Track plays one connection's sound. The server tells where the turns are on the track, and
 * the browser which timestamp is heard.
 */
export class Track {
  #receiver
  #now
  #element
  #playing = false
  /** @type {{turnId: string, stream: number, passages: Passage[], ends: number | null}[]} */
  #turns = []
  /** What is silenced until the timestamp of the next turn. */
  #hushed = false

  /**
   * @param {RTCRtpReceiver} receiver
   * @param {() => void} changed is called when the browser plays it, or keeps it back
   * @param {object} [seams] for tests
   * @param {() => any} [seams.makeElement]
   * @param {() => number} [seams.now] the wall's clock, as that of getSynchronizationSources
   */
  constructor(receiver, changed, { makeElement = () => new Audio(), now = () => performance.timeOrigin + performance.now() } = {}) {
    this.#receiver = receiver
    this.#now = now
    const element = this.#element = makeElement()
    element.srcObject = new MediaStream([receiver.track])
    element.onplaying = () => { this.#playing = true; changed() }
    element.onpause = () => { this.#playing = false; changed() } // for a call, say
    this.resume().then(changed)
  }

  /** Whether the browser plays it. */
  get playing() { return this.#playing }

  /** Lets it play: to be called while somebody presses something. */
  async resume() {
    try {
      await this.#element.play()
      this.#playing = true
    } catch { /* the browser wants somebody to press something first */ }
  }

  /** Goes over to a loudspeaker, where the browser can; empty for its usual one. @param {string} device */
  lead(device) { this.#element.setSinkId?.(device).catch(() => {}) } // one that is not there is not to be had

  /** How loud it is, of 1. */
  set volume(v) {
    this.#volume = v
    this.#loud()
  }
  #volume = 1

  #loud() {
    this.#element.volume = this.#volume
    this.#element.muted = this.#hushed || this.#volume === 0
  }

  /** A turn's sound is to come as a stream. */
  begin(turnId, stream) { this.#turns.push({ turnId, stream, passages: [], ends: null }) }

  /** A turn goes on at a timestamp, or has its end there. */
  at({ stream, t, rtp, last }) {
    const turn = this.#turns.find((other) => other.stream === stream)
    if (!turn) return
    if (last) turn.ends = t
    else turn.passages.push({ t, rtp, at: this.#now() })
    if (this.#hushed) {
      this.#hushed = false
      this.#loud()
    }
  }

  /** Drops a turn, or all: what is on its way of it is not heard. */
  stop(turnId) {
    const dropped = this.#turns.filter((turn) => !turnId || turn.turnId === turnId)
    this.#turns = this.#turns.filter((turn) => !dropped.includes(turn))
    if (dropped.some(({ passages }) => passages.length)) {
      this.#hushed = true
      this.#loud()
    }
    return dropped
  }

  /** What is heard now, and whether that was the turn's last: the oldest turn that has begun; null for nothing. */
  get position() {
    const turn = this.#turns[0]
    if (!turn) return null
    const source = this.#heard()
    const begun = turn.passages.map((passage) => this.#since(passage, source)).findLastIndex((passed) => passed >= 0)
    if (begun < 0) return null
    const { t } = turn.passages[begun]
    // Between two passages the turn stands still.
    const until = turn.passages[begun + 1]?.t ?? turn.ends ?? Infinity
    const ms = Math.min(t + this.#since(turn.passages[begun], source, until === Infinity), until)
    return { turnId: turn.turnId, ms, whole: ms === turn.ends }
  }

  /** Forgets the turn that was heard. */
  shift() { return this.#turns.shift() }

  /**
   * How long ago a passage began to be heard, in milliseconds; negative for not yet. Of one that
   * goes on no more than a little counts of what the browser did not tell: where nothing comes,
   * nothing is heard.
   */
  #since(passage, source, goesOn = false) {
    const wall = this.#now() - passage.at - usual
    if (!source) return wall
    const passed = (source.rtpTimestamp - passage.rtp | 0) / rate // timestamps go round
    const later = this.#now() - source.timestamp
    // In a silence no timestamp comes: the one of before says nothing of what began since.
    if (later > fresh) {
      const since = passed >= 0 ? passed + later : wall
      return goesOn ? Math.min(since, Math.max(0, passed) + fresh) : since
    }
    return passed < 0 ? passed : passed + later
  }

  /** The timestamp that was heard last, and when. */
  #heard() {
    const [source] = this.#receiver.getSynchronizationSources()
    return source && source.rtpTimestamp !== undefined ? source : null
  }

  /** Ends for good. */
  close() {
    this.#turns = []
    this.#element.onpause = null
    this.#element.pause?.()
    this.#element.srcObject = null
  }
}

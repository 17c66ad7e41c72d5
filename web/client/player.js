// Plays what the avatar says, without gaps, and tells what is heard now.

import { decoderOf } from './decoder.js'
import { chosen, Outlet } from './devices.js'
import { Track } from './track.js'

/** How much sound waits before a turn begins, for frames that are late, in seconds. */
const cushion = 0.12
/**
 * A frame that begins so near to the end of the one before follows it, in milliseconds: times
 * are whole milliseconds, and a decoder of Opus leaves out what its first packet only prepares.
 */
const near = 15
/** How often is looked where a track is, in milliseconds. */
const lookEvery = 50
/** How often the server is told what was heard, in milliseconds. */
const tellEvery = 250
/** How fast sound is faded where it is cut, in seconds; at once would crack. */
const cut = 0.02
/** How loud a turn is played while somebody may be taking the floor. */
const soft = 0.15
/** How long sound stays away for somebody who interrupts, until the server has said that it ends, in milliseconds. */
const duckFor = 700

/**
 * @typedef {object} Turn what is played of one turn
 * @property {string} id
 * @property {number} stream
 * @property {any} decoder
 * @property {{t: number, buffer: AudioBuffer}[]} frames
 * @property {Set<AudioBufferSourceNode>} playing
 * @property {number | null} origin when its first sample sounds, by the audio clock, in seconds; by the wall clock where that stands still
 * @property {boolean} silent whether the wall clock counts
 * @property {number} end where what has come ends, in milliseconds
 * @property {boolean} whole whether all has come
 * @property {GainNode} gain
 */

/**
 * Player plays one conversation. The audio clock is the only one: who shows a mouth or
 * captions asks it for `position`. Where a browser lets no sound play yet, the wall's
 * clock stands in for it. Its events are CustomEvents:
 *
 * - `blocked` {blocked}: whether the browser keeps the sound back until somebody presses something;
 * - `unplugged`: the loudspeaker that was chosen is gone, and the browser's usual one plays on;
 * - `begun` and `over` {turnId}: what sounds now.
 */
export class Player extends EventTarget {
  #makeContext
  #now
  #devices
  /** Leads to the loudspeaker. @type {Outlet | null} */
  #outlet = null
  /** The loudspeaker that plays; empty for the browser's usual one. */
  #loudspeaker = ''
  #changed = () => this.#missing()
  /** @type {AudioContext | null} */
  #context = null
  /** @type {GainNode | null} */
  #master = null
  /** @type {{format: string, sampleRate: number} | null} */
  #audio = null
  /** @type {Turn[]} the first one sounds */
  #turns = []
  #volume = 1
  #muted = false
  #ducked = 0
  /** The turn that is played softly. */
  #softly = ''
  #telling = 0
  /** @type {import('./live.js').Conversation | null} */
  #conversation = null
  #blocked = false
  #Decoder
  /** What plays the sound where it comes over WebRTC. @type {Track | null} */
  #track = null
  #makeTrack
  #looking = 0
  /** The turn of the track that has begun to be heard, and when the server was told of it last. */
  #hearing = ''
  #toldAt = 0

  /**
   * @param {object} [seams] for tests
   * @param {(rate: number) => AudioContext} [seams.makeContext]
   * @param {() => number} [seams.now]
   * @param {any} [seams.Decoder]
   * @param {any} [seams.devices]
   * @param {(receiver: RTCRtpReceiver, changed: () => void) => Track} [seams.makeTrack]
   */
  constructor({ makeContext = (sampleRate) => new AudioContext({ sampleRate, latencyHint: 'interactive' }), now = () => performance.now(), Decoder, devices = globalThis.navigator?.mediaDevices, makeTrack = (receiver, changed) => new Track(receiver, changed) } = {}) {
    super()
    this.#makeContext = makeContext
    this.#now = now
    this.#Decoder = Decoder
    this.#devices = devices
    this.#makeTrack = makeTrack
  }

  /** Plays what a conversation says. @param {import('./live.js').Conversation} conversation */
  follow(conversation) {
    this.#conversation = conversation
    conversation.addEventListener('ready', ({ detail }) => this.#ready(detail.audio ?? null))
    conversation.addEventListener('bot-audio', ({ detail }) => this.#begin(detail))
    conversation.addEventListener('sound', ({ detail }) => this.#sound(detail))
    conversation.addEventListener('direct', ({ detail }) => this.#go(detail.receiver))
    conversation.addEventListener('bot-track', ({ detail }) => this.#track?.at(detail))
    conversation.addEventListener('interrupted', ({ detail }) => this.stop(detail.turnId))
    conversation.addEventListener('duck', ({ detail: { turnId, on } }) => {
      this.#softly = on ? turnId : ''
      this.#loud()
    })
    conversation.addEventListener('ended', () => this.close())
  }

  /** Whether this conversation has sound. */
  get sounds() { return this.#audio !== null }

  /** Whether the browser keeps the sound back. */
  get blocked() { return this.#blocked }

  /** What is heard now: the turn, and the milliseconds from its first sample; null for nothing. */
  get position() {
    if (this.#track) return this.#track.position
    const turn = this.#turns[0]
    if (!turn || turn.origin === null) return null
    return { turnId: turn.id, ms: Math.min(this.#at(turn), turn.end) }
  }

  get volume() { return this.#volume }
  set volume(v) {
    this.#volume = Math.min(1, Math.max(0, v)) || 0
    this.#loud()
  }

  get muted() { return this.#muted }
  set muted(yes) {
    this.#muted = yes
    this.#loud()
  }

  /** Lets sound play: to be called while somebody presses something. */
  async resume() {
    if (!this.#context) return
    await Promise.all([this.#context.resume().catch(() => {}), this.#track?.resume()])
    this.#unblock()
  }

  /** Is quiet at once for somebody who interrupts; the server says whether the turn ends. */
  duck() {
    this.#ducked = this.#now() + duckFor
    this.#loud()
    setTimeout(() => this.#loud(), duckFor + 20)
  }

  /** Drops a turn, or all of them, and tells how far it was heard. */
  stop(turnId) {
    if (this.#track) {
      this.#tell()
      for (const turn of this.#track.stop(turnId)) this.#ceased(turn.turnId)
    }
    for (const turn of this.#turns.filter(({ id }) => !turnId || id === turnId)) {
      if (turn === this.#turns[0]) this.#tell()
      this.#drop(turn)
    }
    this.#ducked = 0
    this.#loud()
  }

  /** Ends for good. */
  close() {
    this.stop()
    clearInterval(this.#telling)
    this.#telling = 0
    this.#go(null)
    this.#devices?.removeEventListener?.('devicechange', this.#changed)
    this.#outlet?.close()
    this.#context?.close().catch(() => {})
    this.#outlet = this.#context = null
    this.#say(false)
  }

  #ready(audio) {
    this.stop() // what was under way went with the connection
    const same = audio?.sampleRate === this.#audio?.sampleRate
    this.#audio = audio
    if (!audio || this.#context && same) return
    this.#outlet?.close()
    this.#context?.close().catch(() => {})
    const context = this.#context = this.#makeContext(audio.sampleRate)
    this.#master = context.createGain()
    this.#outlet = new Outlet(context, this.#master)
    this.#loudspeaker = chosen().loudspeaker
    this.#lead()
    this.#devices?.addEventListener?.('devicechange', this.#changed)
    this.#loud()
    context.addEventListener('statechange', () => this.#unblock())
    context.resume().catch(() => {})
    // A browser that lets sound play does so soon.
    setTimeout(() => this.#unblock(), 300)
  }

  /** Leads the sound to the loudspeaker that was chosen. One that is not there today is none to speak of. */
  #lead() {
    if (!this.#loudspeaker) return
    this.#outlet?.choose(this.#loudspeaker)
    this.#track?.lead(this.#loudspeaker)
  }

  /** Sees whether the loudspeaker was unplugged, and goes on with the usual one then. */
  async #missing() {
    const device = this.#loudspeaker
    if (!device) return
    const there = await this.#devices.enumerateDevices().catch(() => null)
    if (!there || device !== this.#loudspeaker || there.some(({ kind, deviceId }) => kind === 'audiooutput' && deviceId === device)) return
    this.#loudspeaker = ''
    this.#outlet?.choose('')
    this.#track?.lead('')
    this.dispatchEvent(new CustomEvent('unplugged', { detail: {} }))
  }

  /** Goes over to a track, or, for null, back to frames. */
  #go(receiver) {
    this.stop()
    this.#track?.close()
    clearInterval(this.#looking)
    this.#looking = 0
    this.#track = receiver && this.#makeTrack(receiver, () => this.#unblock())
    if (this.#track) {
      this.#looking = setInterval(() => this.#look(), lookEvery)
      if (this.#loudspeaker) this.#track.lead(this.#loudspeaker)
      this.#loud()
    }
    this.#unblock()
  }

  /** Tells what is heard of the track. */
  #look() {
    const at = this.#track?.position
    if (!at) return
    if (at.turnId !== this.#hearing) {
      this.#hearing = at.turnId
      this.dispatchEvent(new CustomEvent('begun', { detail: { turnId: at.turnId } }))
    }
    if (at.whole || this.#now() - this.#toldAt >= tellEvery) {
      this.#toldAt = this.#now()
      this.#tell()
    }
    if (!at.whole) return
    this.#track?.shift()
    this.#ceased(at.turnId)
  }

  /** Notes that a turn of the track is not heard any more. */
  #ceased(turnId) {
    if (turnId === this.#softly) {
      this.#softly = ''
      this.#loud()
    }
    if (turnId !== this.#hearing) return
    this.#hearing = ''
    this.dispatchEvent(new CustomEvent('over', { detail: { turnId } }))
  }

  #running() { return this.#context?.state === 'running' }

  #say(blocked) {
    if (blocked === this.#blocked) return
    this.#blocked = blocked
    this.dispatchEvent(new CustomEvent('blocked', { detail: { blocked } }))
  }

  /** Goes over to the clock that runs now, where the other one has got to. */
  #unblock() {
    if (!this.#context) return
    this.#say(!(this.#track ? this.#track.playing : this.#running()))
    for (const turn of this.#turns) {
      if (turn.origin === null || turn.silent === !this.#running()) continue
      const ms = this.#at(turn)
      this.#silence(turn)
      turn.silent = !this.#running()
      turn.origin = this.#clock(turn) - ms / 1000
      for (const frame of turn.frames) this.#schedule(turn, frame)
    }
  }

  /** The clock of a turn, in seconds, as it is heard. */
  #clock(turn) { return turn.silent ? this.#now() / 1000 : this.#context?.currentTime ?? 0 }

  #at(turn) {
    // What is given to the loudspeaker now is heard a little later.
    const later = turn.silent ? 0 : this.#context?.outputLatency || this.#context?.baseLatency || 0
    return Math.max(0, (this.#clock(turn) - later - turn.origin) * 1000)
  }

  #loud() {
    if (!this.#master || !this.#context) return
    const quiet = this.#muted || this.#now() < this.#ducked
    const share = this.#softly && this.#softly === (this.#track ? this.#hearing : this.#turns[0]?.id) ? soft : 1
    if (this.#track) this.#track.volume = quiet ? 0 : this.#volume * share
    this.#master.gain.setTargetAtTime(quiet ? 0 : this.#volume * share, this.#context.currentTime, cut / 3)
  }

  #begin({ turnId, stream }) {
    if (this.#track) {
      this.#track.begin(turnId, stream)
      return
    }
    if (!this.#audio || !this.#context || !this.#master) return
    const gain = this.#context.createGain()
    gain.connect(this.#master)
    /** @type {Turn} */
    const turn = { id: turnId, stream, frames: [], playing: new Set(), origin: null, silent: !this.#running(), end: 0, whole: false, gain, decoder: null }
    turn.decoder = decoderOf(this.#audio, (sound) => this.#take(turn, sound), this.#Decoder)
    this.#turns.push(turn)
    if (!this.#telling) this.#telling = setInterval(() => this.#tick(), tellEvery)
  }

  #sound({ stream, t, last, data }) {
    this.#turns.find((turn) => turn.stream === stream)?.decoder.add(t, data, last)
  }

  /** @param {Turn} turn @param {import('./decoder.js').Sound} sound */
  #take(turn, { t, samples, rate, last }) {
    if (!this.#context || !this.#turns.includes(turn)) return
    if (last) turn.whole = true
    if (samples.length) {
      const buffer = this.#context.createBuffer(1, samples.length, rate)
      buffer.copyToChannel(samples, 0)
      const frame = { t: turn.frames.length && Math.abs(t - turn.end) < near ? turn.end : t, buffer }
      turn.end = frame.t + 1000 * samples.length / rate
      turn.frames.push(frame)
      if (turn === this.#turns[0]) this.#sounding(turn, frame)
    }
    this.#finish()
  }

  /** Plays a frame of the turn that sounds, which may begin with it. */
  #sounding(turn, frame) {
    if (turn.origin === null) {
      turn.silent = !this.#running()
      turn.origin = this.#clock(turn) + cushion - frame.t / 1000
      this.dispatchEvent(new CustomEvent('begun', { detail: { turnId: turn.id } }))
    } else if (turn.origin + frame.t / 1000 < this.#clock(turn)) {
      // It is late: everything is, from now on.
      turn.origin = this.#clock(turn) + cushion / 2 - frame.t / 1000
    }
    this.#schedule(turn, frame)
  }

  #schedule(turn, { t, buffer }) {
    if (turn.silent || !this.#context) return
    const rate = buffer.sampleRate
    const at = Math.round((turn.origin + t / 1000) * rate) / rate
    const missed = this.#context.currentTime - at
    if (missed > buffer.duration - 0.001) return
    const source = this.#context.createBufferSource()
    source.buffer = buffer
    source.connect(turn.gain)
    turn.playing.add(source)
    source.onended = () => {
      turn.playing.delete(source)
      this.#finish()
    }
    source.start(Math.max(at, this.#context.currentTime), Math.max(0, missed))
  }

  #silence(turn) {
    for (const source of turn.playing) {
      source.onended = null
      source.stop((this.#context?.currentTime ?? 0) + cut)
    }
    turn.playing.clear()
  }

  #tick() {
    this.#finish()
    if (this.#turns.length) this.#tell()
  }

  #tell() {
    const at = this.position
    if (at) this.#conversation?.played(at.turnId, at.ms)
  }

  /** Goes on to the next turn once one is played out. */
  #finish() {
    const [turn] = this.#turns
    if (!turn?.whole || turn.origin !== null && this.#at(turn) < turn.end - 1) return
    this.#conversation?.played(turn.id, turn.end)
    this.#drop(turn)
    const [next] = this.#turns
    if (next) for (const frame of next.frames) this.#sounding(next, frame)
  }

  #drop(turn) {
    turn.gain.gain.setTargetAtTime(0, this.#context?.currentTime ?? 0, cut / 3)
    this.#silence(turn)
    turn.decoder.close()
    this.#turns = this.#turns.filter((other) => other !== turn)
    if (!this.#turns.length) {
      clearInterval(this.#telling)
      this.#telling = 0
    }
    if (turn.id === this.#softly) {
      this.#softly = ''
      this.#loud()
    }
    if (turn.origin !== null) this.dispatchEvent(new CustomEvent('over', { detail: { turnId: turn.id } }))
  }
}

// What somebody says into a microphone, for a conversation whose server understands it.

import { askFor, chosen, reasonOf, release, unplugged } from './devices.js'
import { Downsampler } from './downsample.js'

/** The rate at which sound is sent, and how much a frame of 20 ms is. */
export const rate = 16_000
const frameSamples = rate / 50
/** A frame's header, what kind it is, and the flag of the last one before a silence. */
const headerBytes = 8
const userSound = 2
const lastFlag = 1

/** Why there is no microphone: `denied`, `none`, `busy`, `failed`, or `stopped` while the browser still asked for it. */
export class MicrophoneError extends Error {
  /** @param {string} reason @param {unknown} cause */
  constructor(reason, cause) {
    super(`the microphone cannot be used: ${reason}`, { cause })
    this.reason = reason
  }
}

/**
 * Microphone sends what is said to a conversation, once it is open and not muted. It is the one
 * that was chosen (devices.js), or else the browser's usual one, which also takes the place of one
 * that is unplugged. Its events are CustomEvents:
 *
 * - `level` {level}: how loud it is, of 1, some ten times a second;
 * - `replaced` {before, now}: it was unplugged, and another is heard from now on; by their names;
 * - `closed` {reason}: it is gone; the reason is empty where it was stopped, `unplugged` where it was and
 *   there is no other, or as a MicrophoneError has it.
 */
export class Microphone extends EventTarget {
  #conversation
  #worklet
  #devices
  #makeContext
  /** @type {MediaStream | null} */
  #stream = null
  /** @type {AudioContext | null} */
  #context = null
  #frame = new Int16Array(frameSamples)
  #filled = 0
  #sent = 0
  #muted = false
  #silent = true
  #loudest = 0
  #frames = 0
  /** Whether another is asked for in the place of one that was unplugged. */
  #replacing = false
  /** Counts starts and stops: who waited for the browser sees whether it is still wanted. */
  #wanted = 0

  /**
   * @param {import('./live.js').Conversation} conversation
   * @param {object} [options]
   * @param {string | URL} [options.worklet] where worklet.js is; without it an older way is taken
   * @param {any} [options.devices] for tests
   * @param {() => AudioContext} [options.makeContext] for tests
   */
  constructor(conversation, { worklet, devices = globalThis.navigator?.mediaDevices, makeContext = () => new AudioContext() } = {}) {
    super()
    this.#conversation = conversation
    this.#worklet = worklet
    this.#devices = devices
    this.#makeContext = makeContext
  }

  /** Whether this page may ask for a microphone at all. */
  static get exists() { return Boolean(globalThis.navigator?.mediaDevices?.getUserMedia) }

  get open() { return this.#stream !== null || this.#replacing }

  get muted() { return this.#muted }
  set muted(yes) {
    if (yes && !this.#muted) this.#pause()
    this.#muted = yes
    this.#lend()
  }

  /** Asks for the microphone and begins to send. To be called when somebody presses something. It throws a MicrophoneError. */
  async start() {
    if (!this.open) await this.#begin(chosen().microphone)
  }

  /** Releases the microphone, also one that the browser still asks for. */
  stop() { this.#close('') }

  /** @param {string} device */
  async #begin(device) {
    const wanted = ++this.#wanted
    let stream
    try {
      stream = await askFor(this.#devices, device)
    } catch (error) {
      throw new MicrophoneError(wanted === this.#wanted ? reasonOf(error) : 'stopped', error)
    }
    if (wanted !== this.#wanted) {
      release(stream)
      throw new MicrophoneError('stopped')
    }
    this.#stream = stream
    stream.getAudioTracks()[0].addEventListener('ended', () => { if (this.#stream === stream) this.#replace() })
    try {
      await this.#listen(stream)
    } catch (error) {
      if (wanted !== this.#wanted) throw new MicrophoneError('stopped', error)
      this.stop()
      throw new MicrophoneError('failed', error)
    }
  }

  /** Goes on with the browser's usual microphone where this one was unplugged. */
  async #replace() {
    const [track] = this.#stream?.getAudioTracks() ?? []
    const before = track.label
    const wanted = ++this.#wanted
    this.#replacing = true
    this.#release()
    const gone = await unplugged(this.#devices, track).catch(() => false)
    if (wanted !== this.#wanted) return // it was stopped meanwhile
    if (!gone) {
      this.#close('')
      return
    }
    try {
      await this.#begin('')
    } catch (error) {
      // Who stopped it meanwhile was told already.
      if (error.reason !== 'stopped') this.#close(error.reason === 'none' ? 'unplugged' : error.reason)
      return
    }
    this.#replacing = false
    const now = this.#stream?.getAudioTracks()[0].label ?? ''
    this.dispatchEvent(new CustomEvent('replaced', { detail: { before, now } }))
  }

  /** @param {string} reason */
  #close(reason) {
    this.#wanted++
    if (!this.open) return
    this.#replacing = false
    this.#release()
    this.dispatchEvent(new CustomEvent('closed', { detail: { reason } }))
  }

  #release() {
    if (!this.#stream) return
    this.#pause()
    release(this.#stream)
    this.#stream = null
    this.#lend()
    this.#context?.close().catch(() => {})
    this.#context = null
  }

  async #listen(stream) {
    const context = this.#context = this.#makeContext()
    const source = context.createMediaStreamSource(stream)
    const down = new Downsampler(context.sampleRate, rate)
    const take = (samples) => this.#take(down.push(samples))
    if (this.#worklet && context.audioWorklet) {
      await context.audioWorklet.addModule(this.#worklet)
      const node = new AudioWorkletNode(context, 'microphone', { numberOfOutputs: 0, channelCount: 1, channelCountMode: 'explicit' })
      node.port.onmessage = ({ data }) => take(data)
      source.connect(node)
    } else {
      const node = context.createScriptProcessor(1024, 1, 1)
      node.onaudioprocess = ({ inputBuffer }) => take(inputBuffer.getChannelData(0).slice())
      source.connect(node)
      node.connect(context.destination) // or it is not called; it is silent
    }
    await context.resume()
    this.#lend()
  }

  /** Lends the conversation the microphone's track, which it may send instead of frames. */
  #lend() { this.#conversation.microphone?.(this.#muted ? null : this.#stream?.getAudioTracks()[0] ?? null) }

  /** @param {Float32Array} samples */
  #take(samples) {
    for (const sample of samples) {
      this.#frame[this.#filled++] = Math.max(-1, Math.min(1, sample)) * 32767
      this.#loudest = Math.max(this.#loudest, Math.abs(sample))
      if (this.#filled < frameSamples) continue
      this.#filled = 0
      if (++this.#frames % 5 === 0) {
        this.dispatchEvent(new CustomEvent('level', { detail: { level: this.#muted ? 0 : this.#loudest } }))
        this.#loudest = 0
      }
      if (!this.#muted) this.#send(0, this.#frame)
    }
  }

  /** Says that nothing comes for now: what was said is over. */
  #pause() {
    this.#filled = 0
    if (!this.#silent) this.#send(lastFlag, new Int16Array(0))
    this.#silent = true
  }

  #send(flags, samples) {
    const data = new DataView(new ArrayBuffer(headerBytes + 2 * samples.length))
    data.setUint8(0, userSound)
    data.setUint8(1, flags)
    data.setUint32(4, Math.round(this.#sent * 1000 / rate))
    samples.forEach((sample, i) => data.setInt16(headerBytes + 2 * i, sample, true))
    this.#sent += samples.length
    this.#silent = false
    this.#conversation.sound(data.buffer)
  }
}

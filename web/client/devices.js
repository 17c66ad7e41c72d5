// Which microphone and loudspeaker somebody chose, and how loud they set it, as this browser
// remembers it; and the way of sound to that loudspeaker.

/** Under these a browser remembers. */
const choiceKey = 'visavis.devices'
const volumeKey = 'visavis.volume'

/** What is remembered of a key; null for nothing. A browser may refuse a memory, as in a frame. @param {string} key */
export function remembered(key) {
  try { return localStorage.getItem(key) } catch { return null }
}

/** Remembers a text, where the browser does. @param {string} key @param {string} text */
export function remember(key, text) {
  try { localStorage.setItem(key, text) } catch { /* then it is for now alone */ }
}

/** What counts where the browser remembers nothing, for every script of the page that has this module. */
const now = globalThis[Symbol.for(choiceKey)] ??= { microphone: '', loudspeaker: '', volume: 1 }

/** The ids of the devices that were chosen; empty for the browser's usual ones. @returns {{microphone: string, loudspeaker: string}} */
export function chosen() {
  let kept = {}
  try { kept = JSON.parse(remembered(choiceKey) ?? 'null') ?? now } catch { /* somebody else's */ }
  const text = (id) => typeof id === 'string' ? id : ''
  return { microphone: text(kept.microphone), loudspeaker: text(kept.loudspeaker) }
}

/** Chooses devices, by their ids. @param {{microphone?: string, loudspeaker?: string}} devices */
export function choose(devices) {
  const choice = { ...chosen(), ...devices }
  Object.assign(now, choice)
  remember(choiceKey, JSON.stringify(choice))
}

/** How loud it is to be, of 1. */
export function volume() {
  const kept = remembered(volumeKey)
  const value = kept === null || kept === '' ? now.volume : Number(kept)
  return value >= 0 && value <= 1 ? value : 1
}

/** Sets how loud it is to be. @param {number} value of 1 */
export function setVolume(value) {
  now.volume = value
  remember(volumeKey, String(value))
}

/** What a browser does to the sound: the avatar's voice is not to come back in it. */
const wanted = { echoCancellation: true, noiseSuppression: true, autoGainControl: true, channelCount: 1 }

/**
 * Asks for a microphone: the one with this id where it is there, or else the browser's usual one.
 * @param {any} devices navigator.mediaDevices
 * @param {string} device its id; empty for the usual one
 * @returns {Promise<MediaStream>}
 */
export async function askFor(devices, device) {
  if (device) {
    try {
      return await devices.getUserMedia({ audio: { ...wanted, deviceId: { exact: device } } })
    } catch (error) {
      if (reasonOf(error) !== 'none') throw error
    }
  }
  return devices.getUserMedia({ audio: wanted })
}

const reasons = {
  NotAllowedError: 'denied', SecurityError: 'denied', NotFoundError: 'none', OverconstrainedError: 'none', NotReadableError: 'busy',
}

/**
 * Whether a microphone that ended was unplugged. Else somebody stopped it or does not allow it any more, and is not
 * to be asked again.
 * @param {any} devices navigator.mediaDevices
 * @param {MediaStreamTrack} track
 */
export async function unplugged(devices, track) {
  const { deviceId, groupId } = track.getSettings()
  const there = (await devices.enumerateDevices()).filter(({ kind }) => kind === 'audioinput')
  // Who does not allow microphones gets no ids of them.
  if (there.some((device) => !device.deviceId)) return false
  return !there.some((device) => groupId ? device.groupId === groupId : device.deviceId === deviceId)
}

/** Why a browser gave no microphone, by its error: denied, none, busy or failed. */
export const reasonOf = (error) => reasons[error?.name] ?? 'failed'

/** Ends a microphone. @param {MediaStream} stream */
export const release = (stream) => { for (const track of stream.getTracks()) track.stop() }

/** Outlet leads a context's sound to the loudspeaker that was chosen, where the browser can. */
export class Outlet {
  #context
  #node
  #make
  /** Plays it where only elements have a loudspeaker of their own. @type {any} */
  #element = null
  #closed = false
  /** The loudspeaker that it goes to. */
  #device = ''

  /** Whether this browser lets a page choose. */
  static get chooses() {
    return Boolean(globalThis.AudioContext?.prototype?.setSinkId ?? globalThis.HTMLMediaElement?.prototype?.setSinkId)
  }

  /**
   * @param {AudioContext} context
   * @param {AudioNode} node what is to be heard
   * @param {() => any} [make] makes an element, for tests
   */
  constructor(context, node, make = () => new Audio()) {
    this.#context = context
    this.#node = node
    this.#make = make
    node.connect(context.destination)
  }

  /** Goes over to a loudspeaker, and says whether it is that one; the usual one it is else. @param {string} device */
  async choose(device) {
    if (device === this.#device) return true
    try {
      if (this.#context.setSinkId) await this.#context.setSinkId(device)
      else await this.#byElement(device)
      this.#device = device
      return true
    } catch {
      return false
    }
  }

  async #byElement(device) {
    const element = this.#element ?? this.#make()
    await element.setSinkId(device)
    if (this.#element || this.#closed) return
    const way = this.#context.createMediaStreamDestination()
    element.srcObject = way.stream
    await element.play()
    if (this.#closed) return
    this.#element = element
    this.#node.disconnect()
    this.#node.connect(way)
  }

  /** Ends with its context. */
  close() {
    this.#closed = true
    this.#element?.pause()
    if (this.#element) this.#element.srcObject = null
  }
}

// A conversation's WebRTC connection: the avatar's sound and the user's as tracks, and a
// channel for the messages, beside the socket that offers it (docs/live.md).

/** How long a connection may take to open before the socket has all, in milliseconds. */
const openWithin = 4000
/** How long a connection may be without an answer of the server's before it is given up. */
const silentFor = 2000
/** How many of the last messages are kept for a server that does not get them. */
const kept = 200

/**
 * Direct is one connection. It is told what comes over the socket by `signal`, and passes on
 * what comes over the channel in order with that. Its events are CustomEvents:
 *
 * - `open`: messages go over it from now on;
 * - `closed` {reason, missing}: it is over; `missing` are the messages that the server did not get.
 *   The reason is `unreachable` where it never was open, `lost` otherwise.
 */
export class Direct extends EventTarget {
  #tell
  #take
  #connection
  #channel
  #sender
  #receiver = null
  #late = 0
  #silent = 0
  #open = false
  #over = false
  #done = false
  /** Whether the server was told of it. */
  #offered = false
  /** @type {string[]} what the channel was not given */
  #unsent = []
  /** Whether all has come that was sent over the socket before the channel was open, and what came over that until then. */
  #marked = false
  #early = []
  #received = 0
  /** @type {string[]} the last messages, and how many there were in all */
  #sent = []
  #total = 0

  /** Whether this browser has what it takes. */
  static get exists() { return Boolean(globalThis.RTCPeerConnection?.prototype?.addTransceiver && globalThis.RTCRtpReceiver?.prototype?.getSynchronizationSources) }

  /**
   * @param {object} seams
   * @param {RTCIceServer[]} seams.iceServers
   * @param {(type: string, data?: object) => void} seams.tell sends a message over the socket
   * @param {(text: string) => void} seams.take takes a message of the channel
   * @param {any} [seams.Connection] for tests
   */
  constructor({ iceServers, tell, take, Connection = globalThis.RTCPeerConnection }) {
    super()
    this.#tell = tell
    this.#take = take
    const connection = this.#connection = new Connection({ iceServers, bundlePolicy: 'max-bundle' })
    const { sender, receiver } = connection.addTransceiver('audio', { direction: 'sendrecv' })
    this.#sender = sender
    this.#receiver = receiver
    const channel = this.#channel = connection.createDataChannel('visavis')
    channel.onopen = () => this.#opened()
    channel.onmessage = ({ data }) => this.#hear(data)
    channel.onclose = () => this.close()
    connection.onconnectionstatechange = () => this.#changed(connection.connectionState)
    this.#late = setTimeout(() => this.close(), openWithin)
    connection.createOffer().then(async (offer) => {
      await connection.setLocalDescription(offer)
      // No candidates are told: the server finds out where its checks come from.
      if (this.#over) return
      this.#offered = true
      tell('rtc-offer', { sdp: offer.sdp })
    }).catch(() => this.close())
  }

  get isOpen() { return this.#open && !this.#over }

  /** What receives the avatar's sound: its track, and where that is in its playing. @type {RTCRtpReceiver} */
  get receiver() { return this.#receiver }

  /** Sends what a microphone hears; null for nothing. @param {MediaStreamTrack | null} track */
  speak(track) { this.#sender.replaceTrack(track).catch(() => this.close()) }

  /** Sends a message; false where the socket is to. @param {string} text */
  send(text) {
    if (!this.#open || this.#done) return false
    this.#sent.push(text)
    if (this.#sent.length > kept) this.#sent.shift()
    this.#total++
    try {
      if (this.#over || this.#channel.readyState !== 'open') this.#unsent.push(text)
      else this.#channel.send(text)
    } catch { // nothing may follow what was left out
      this.#unsent.push(text)
      this.close()
    }
    return true // at the latest once the server has said what it got
  }

  /** What was sent since the channel ended: the server has it only once that has said what it got. */
  get unsent() { return this.#unsent }

  /** Takes a message of the socket that is about the connection. */
  signal({ type, data }) {
    if (type === 'rtc-answer') {
      if (!this.#over) this.#connection.setRemoteDescription({ type: 'answer', sdp: data.sdp }).catch(() => this.close())
    } else if (type === 'rtc-open') {
      this.#marked = true
      for (const text of this.#early.splice(0)) this.#take(text)
    } else if (type === 'rtc-closed') {
      const missing = this.#sent.slice(Math.max(0, this.#sent.length - (this.#total - data.received)))
      const reason = this.#open ? 'lost' : 'unreachable'
      this.close()
      this.#finish(reason, missing)
    }
  }

  #finish(reason, missing) {
    if (this.#done) return
    this.#done = true
    this.dispatchEvent(new CustomEvent('closed', { detail: { reason, missing } }))
  }

  /** Ends the connection; `closed` follows once the server has said what it got, or at once where it does not know of it. */
  close() {
    if (this.#over) return
    this.stop()
    if (this.#offered) this.#tell('rtc-closed', { received: this.#received })
    else this.#finish('unreachable', [])
  }

  /** Ends the connection with its socket: nothing follows. */
  stop() {
    this.#over = true
    this.#channel.onclose = null
    clearTimeout(this.#late)
    clearTimeout(this.#silent)
    this.#connection.close()
  }

  #opened() {
    if (this.#over) return
    clearTimeout(this.#late)
    this.#tell('rtc-open') // the last over the socket
    this.#open = true
    this.dispatchEvent(new CustomEvent('open'))
  }

  #hear(text) {
    if (this.#over) return
    this.#received++
    if (this.#marked) this.#take(text)
    else this.#early.push(text)
  }

  #changed(state) {
    clearTimeout(this.#silent)
    if (state === 'failed') this.close()
    // It may come back, as where a train leaves a tunnel.
    if (state === 'disconnected') this.#silent = setTimeout(() => this.close(), silentFor)
  }
}

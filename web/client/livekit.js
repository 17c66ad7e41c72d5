// A conversation in a room of a LiveKit server (docs/live.md): messages as data packets, sound as
// tracks, and the face as a video where a service renders it. The page brings livekit-client.

/** The topic of the packets, and who is in the room besides the visitor. */
const topic = 'visavis'
const persona = 'persona'
/** How often the persona is told that the client is ready until it hears it, in milliseconds. */
const readyEvery = 500
/** How long after that a persona that says that it is there is another one, in milliseconds. */
const readyAgain = 1000
/** How long sound is on its way to the ear, in milliseconds. */
const usual = 120
/** How often the server is told what was heard, in milliseconds. */
const tellEvery = 250
/** How loud a turn is played while somebody may be taking the floor. */
const soft = 0.15
/** Why the server sends somebody out whose identity came in again (DUPLICATE_IDENTITY). */
const takenOver = 2
/** How long sound stays away for somebody who interrupts, until the server has said that it ends, in milliseconds. */
const duckFor = 700

/**
 * Stay is a visitor's stay in the room of one session. Its events are CustomEvents:
 *
 * - `video` {on}: whether the element shows the face now, in the place of the drawn one;
 * - `blocked` {blocked}: whether the browser keeps the sound back until somebody presses something.
 */
export class Stay extends EventTarget {
  #room
  #renew
  #video
  /** Whether a service shows the face now. */
  #rendered = false
  /** @type {Map<string, {kind: string, track: any, identity: string, element: any}>} */
  #tracks = new Map()
  #makeAudio
  #volume = 1
  #muted = false
  #soft = false
  /** Whether nothing is heard until the next turn, or until the server has not said that this one ends. */
  #hushed = false
  #late = 0
  /** @type {MediaStreamTrack | null} */
  #microphone = null
  /** How the room has the microphone. @type {any} */
  #publication = null
  #speaks = Promise.resolve()

  /**
   * @param {{transport: {url: string, token: string}}} ticket
   * @param {object} seams
   * @param {any} seams.Room the class of livekit-client
   * @param {HTMLVideoElement} [seams.video] what shows a face that is rendered; none is shown unless given
   * @param {() => Promise<{url: string, token: string}>} [seams.renew] asks for a token of the room, each time before it is entered: the
   *   ticket's is good for a minute. Without it that is taken
   * @param {string} [seams.loudspeaker] what plays the sound; the browser's usual one unless given
   * @param {() => any} [seams.makeAudio] for tests
   */
  constructor(ticket, { Room, video, renew = async () => ticket.transport, loudspeaker, makeAudio = () => new Audio() }) {
    super()
    this.#renew = renew
    this.#video = video
    this.#makeAudio = makeAudio
    // A microphone is its owner's: a room that is lost does not stop it.
    const room = this.#room = new Room({ dynacast: false, adaptiveStream: false, stopLocalTrackOnUnpublish: false, ...(loudspeaker && { audioOutput: { deviceId: loudspeaker } }) })
    room.on('disconnected', () => { this.#publication = null })
    room.on('connected', () => this.#microphone && this.microphone(this.#microphone).catch(() => {}))
    room.on('trackSubscribed', (track, publication, { identity }) => this.#hear(track, publication.trackSid, identity))
    room.on('trackUnsubscribed', (_, { trackSid }) => this.#forget(trackSid))
    room.on('audioPlaybackChanged', () => this.#emit('blocked', { blocked: !room.canPlaybackAudio }))
  }

  #emit(type, detail) { this.dispatchEvent(new CustomEvent(type, { detail })) }

  /** What a Conversation connects with: a class like WebSocket, for its option `Socket`. */
  get Socket() {
    const stay = this
    return class { constructor() { return new Line(stay.#room, stay.#renew) } }
  }

  /** Follows a conversation that is held in the room. @param {import('./live.js').Conversation} conversation */
  follow(conversation) {
    conversation.addEventListener('microphone', ({ detail }) => this.microphone(detail.track).catch(() => {}))
    conversation.addEventListener('ready', ({ detail }) => this.#render(detail.video?.on ?? false))
    conversation.addEventListener('bot-video', ({ detail }) => this.#render(detail.on))
    conversation.addEventListener('duck', ({ detail }) => {
      this.#soft = detail.on
      this.#loud()
    })
    conversation.addEventListener('interrupted', () => {
      this.#soft = false
      this.#hush(!this.#rendered) // what is on its way still is of the turn that has ended; who renders was told itself
    })
    conversation.addEventListener('bot-track', ({ detail }) => { if (!detail.last) this.#hush(false) })
    conversation.addEventListener('bot-playback', ({ detail }) => { if (detail.playing) this.#hush(false) })
    conversation.addEventListener('ended', () => this.leave())
  }

  /** Whether the face is shown as a video. */
  get rendered() { return this.#rendered && Boolean(this.#video) }

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

  /** Whether the browser keeps the sound back. */
  get blocked() { return !this.#room.canPlaybackAudio }

  /** Lets sound play: to be called while somebody presses something. */
  async resume() { await this.#room.startAudio() }

  #hush(yes) {
    clearTimeout(this.#late)
    this.#hushed = yes
    this.#loud()
  }

  /** Is quiet at once for somebody who interrupts; the server says whether the turn ends. */
  duck() {
    this.#hush(true)
    this.#late = setTimeout(() => this.#hush(false), duckFor)
  }

  /**
   * Sends what a microphone hears; null for nothing. The persona alone may hear it.
   * @param {MediaStreamTrack | null} track
   */
  microphone(track) {
    this.#speaks = this.#speaks.catch(() => {}).then(async () => {
      this.#microphone = track
      const had = this.#publication
      if (!track) {
        await had?.mute() // it is soon on again where somebody holds a button to speak
      } else if (had) {
        if (had.track.mediaStreamTrack !== track) await had.track.replaceTrack(track, true)
        await had.unmute()
      } else {
        const { localParticipant } = this.#room
        localParticipant.setTrackSubscriptionPermissions(false, [{ participantIdentity: persona, allowAll: true }])
        this.#publication = await localParticipant.publishTrack(track, { source: 'microphone', dtx: false, red: false })
      }
    })
    return this.#speaks
  }

  /** Leaves the room. */
  leave() {
    this.#render(false)
    for (const sid of [...this.#tracks.keys()]) this.#forget(sid)
    this.#room.disconnect()
  }

  #hear(track, sid, identity) {
    const element = track.kind === 'video' ? null : this.#makeAudio()
    this.#tracks.set(sid, { kind: track.kind, track, identity, element })
    if (element) track.attach(element)
    this.#loud()
    this.#show()
  }

  #forget(sid) {
    const heard = this.#tracks.get(sid)
    if (!heard) return
    this.#tracks.delete(sid)
    heard.track.detach(heard.element ?? this.#video)
    this.#show()
  }

  #render(on) {
    this.#rendered = on
    this.#show()
    this.#loud()
  }

  /** Shows the video of who renders, once it is there. */
  #show() {
    if (!this.#video) return
    const face = [...this.#tracks.values()].find(({ kind, identity }) => kind === 'video' && identity === 'avatar')
    const on = this.#rendered && Boolean(face)
    if (on === !this.#video.hidden) return
    if (on) face.track.attach(this.#video)
    this.#video.hidden = !on
    this.#emit('video', { on })
  }

  #loud() {
    for (const { element, identity } of this.#tracks.values()) {
      if (!element) continue
      const ours = identity === persona || identity === 'avatar'
      element.volume = this.#volume * (ours && this.#soft ? soft : 1)
      // Who renders and was given up says nothing any more.
      element.muted = this.#muted || this.#hushed && ours || identity === 'avatar' && !this.#rendered
    }
  }
}

/** Line is a connection to the room, as a WebSocket is one to a server of ours. */
class Line {
  binaryType = ''
  bufferedAmount = 0
  readyState = 0
  /** @type {(() => void) | null} */ onopen = null
  /** @type {((e: {data: string}) => void) | null} */ onmessage = null
  /** @type {((e: {code: number}) => void) | null} */ onclose = null
  #room
  #ready = 0
  #over = false
  #code = 0
  #hear = (payload, from, _, about) => {
    // Whom the client does not know yet can be the persona only while it does not know that either.
    const ours = from ? from.identity === persona : !this.#room.remoteParticipants.has(persona)
    if (about !== topic || !ours) return
    const text = new TextDecoder().decode(payload)
    const { type, data } = JSON.parse(text)
    if (type === 'session-ready') this.#heard()
    if (type === 'session-ended') this.#code = 1000
    // The persona goes, and another process brings it back: the room is the same.
    if (type === 'error' && data.code === 'reconnect') this.#call()
    this.onmessage?.({ data: text })
  }
  // Who comes in elsewhere takes the place, and this one does not take it back.
  #gone = (reason) => this.#end(this.#code || (reason === takenOver ? 4003 : 1006))

  constructor(room, renew) {
    this.#room = room
    room.on('dataReceived', this.#hear)
    room.on('disconnected', this.#gone)
    // A stay that is there already goes on.
    Promise.resolve(room.state === 'connected' || renew().then(({ url, token }) => room.connect(url, token))).then(() => {
      if (this.#over) return
      this.readyState = 1
      this.onopen?.()
      this.#call()
    }, () => this.#end(1006))
  }

  /** Says that the client is ready until the persona hears it. */
  #call() {
    clearInterval(this.#ready)
    this.#ready = setInterval(() => this.#publish(this.#said), readyEvery)
  }
  /** @type {string} what said that the client is ready */
  #said = ''
  #saidAt = 0

  /** Takes that the persona is there: what was said before it may have been heard by nobody, or by one that is gone. */
  #heard() {
    const asked = this.#ready !== 0
    clearInterval(this.#ready)
    this.#ready = 0
    if (asked || Date.now() - this.#saidAt > readyAgain) this.#publish(this.#said)
  }

  /** @param {string | ArrayBuffer} data */
  send(data) {
    if (typeof data !== 'string') return // sound goes as a track
    if (JSON.parse(data).type === 'client-ready') this.#said = data
    this.#publish(data)
  }

  #publish(text) {
    if (!text) return
    if (text === this.#said) this.#saidAt = Date.now()
    this.#room.localParticipant.publishData(new TextEncoder().encode(text), { reliable: true, topic, destinationIdentities: [persona] }).catch(() => {})
  }

  close(code = 1005) {
    if (code === 1000) this.#room.disconnect()
    this.#end(code)
  }

  #end(code) {
    if (this.#over) return
    this.#over = true
    this.readyState = 3
    clearInterval(this.#ready)
    this.#room.off('dataReceived', this.#hear)
    this.#room.off('disconnected', this.#gone)
    this.onclose?.({ code })
  }
}

/**
 * RoomClock says what is heard now of a conversation in a room, as a Player does elsewhere: mouth and
 * captions go by its `position` (new Speech(clock)). Who renders tells the server what is heard; of our own track this tells it.
 */
export class RoomClock {
  #now
  #conversation = null
  /** @type {Map<number, string>} turns by their streams */
  #turns = new Map()
  #sounds = false
  /** What is heard: from where on, since when, and until when where that is known. */
  #at = null
  #telling = 0

  /** @param {() => number} [now] for tests */
  constructor(now = () => performance.now()) { this.#now = now }

  /** @param {import('./live.js').Conversation} conversation */
  follow(conversation) {
    this.#conversation = conversation
    conversation.addEventListener('ready', ({ detail }) => {
      this.#sounds = Boolean(detail.audio)
      this.#forget()
    })
    conversation.addEventListener('bot-audio', ({ detail: { turnId, stream } }) => this.#turns.set(stream, turnId))
    conversation.addEventListener('bot-track', ({ detail: { stream, t, last } }) => {
      const turnId = this.#turns.get(stream)
      if (!turnId) return
      if (last && this.#at?.turnId === turnId) this.#at.ends = t
      else if (!last) this.#at = { turnId, t, since: this.#now() + usual, ends: Infinity, ours: true }
      this.#telling ||= setInterval(() => this.#tell(), tellEvery)
    })
    conversation.addEventListener('bot-playback', ({ detail: { turnId, playedMs, playing } }) => {
      if (playing) this.#at = { turnId, t: playedMs, since: this.#now(), ends: Infinity, ours: false }
      else if (this.#at?.turnId === turnId) this.#at = null // else it is told late, and another turn is heard
    })
    conversation.addEventListener('interrupted', ({ detail: { turnId } }) => {
      if (this.#at?.turnId !== turnId) return
      this.#tell()
      this.#forget()
    })
    conversation.addEventListener('ended', () => this.#forget())
  }

  /** Whether this conversation has sound. */
  get sounds() { return this.#sounds }

  /** What is heard now: the turn, and the milliseconds from its first sample; null for nothing. */
  get position() {
    const at = this.#at
    if (!at || this.#now() < at.since) return null
    const ms = at.t + this.#now() - at.since
    return ms < at.ends ? { turnId: at.turnId, ms } : null
  }

  #tell() {
    const at = this.#at
    if (!at?.ours) return
    const ms = Math.min(at.t + Math.max(0, this.#now() - at.since), at.ends)
    this.#conversation.played(at.turnId, ms)
    if (ms === at.ends) this.#forget()
  }

  #forget() {
    this.#at = null
    clearInterval(this.#telling)
    this.#telling = 0
  }
}

// A conversation over the live protocol (docs/live.md).

/**
 * @typedef {object} Ticket what the mint of a session answers
 * @property {{id: string}} session
 * @property {string} token
 * @property {{kind?: string, url: string}} transport
 * @property {{assetsUrl: string}} [face]
 */

/**
 * @typedef {object} Options
 * @property {string} [url] the socket's address; the ticket's unless given
 * @property {string} [token] a resumeToken to come back with; the ticket's token unless given
 * @property {string} [ratingUrl] where a rating goes; the API that the ticket names unless given
 * @property {string[]} [audio] the formats of sound that are played, the preferred first; nothing is spoken unless given
 * @property {Record<string, (args: object) => unknown>} [tools] what the persona's tools of kind client do, by their names; a promise is waited for
 * @property {typeof import('./direct.js').Direct} [Direct] what connects over WebRTC, where the ticket's transport is `webrtc`; the socket has all unless given
 * @property {typeof WebSocket} [Socket] for tests
 */

/** How long a lost client may come back, in milliseconds. */
const comeBackWithin = 30_000
/** Pauses between attempts, in milliseconds; the last one repeats. */
const pauses = [0, 500, 1000, 2000, 4000]
/** How often a server is asked whether it is there, and how long it may be silent. */
const pingEvery = 10_000
const silentFor = 25_000
/** How much of the user's sound may wait to be sent, in bytes: two seconds. */
const mostWaiting = 64_000

/** Why a conversation is over, by the code that its socket closed with. */
const closings = {
  1000: 'left',
  4001: 'bad_token',
  4002: 'ended',
  4003: 'superseded',
  4008: 'idle',
  4029: 'concurrency_reclaimed',
}

/**
 * Conversation is one session. It connects again by itself whenever its socket is
 * lost. Its events are CustomEvents:
 *
 * - `ready` {turns, session, face, hosts, resumeToken}: on every connection; hosts where a duo speaks;
 * - `state` {state}: connecting, reconnecting, listening, thinking, speaking or idle;
 * - `turn` {id, speaker, text, final, name, host, sources, interrupted}: text is all that was
 *   said in the turn so far, speaker is avatar, user or staff, with their staffId; host is the seat of
 *   the host of a duo, with their name, or empty;
 * - `words`, `tool`, `bot-audio`, `visemes`, `gesture`, `interrupted`, `duck`, `user-started-speaking`,
 *   `user-stopped-speaking`: as the server sends them;
 * - `sound` {stream, t, last, data}: a frame of what the avatar says, from its t-th millisecond on;
 * - `direct` {receiver, reason}: the sound comes as a track of WebRTC from now on, or, where `receiver` is null, over
 *   the socket: the reason is `unreachable` where no connection could be had, `lost` where there was one;
 * - `microphone` {track}: what a microphone hears, where there is one, is to be sent; null for nothing any more;
 * - `bot-track`, `bot-video`, `bot-playback`: as the server sends them, the latter two in a media server's room alone;
 * - `recording` {state}: on, off or incomplete;
 * - `answer-time` {question, state, limitS, leftMs, all}: how much time there is to answer, as the server sends it;
 * - `pause` {on, endsInS}: a candidate's interview waits, or goes on;
 * - `notice` {kind, …};
 * - `error` {code, message, fatal};
 * - `ended` {endReason, ratingAllowed}: once, and nothing after it.
 */
export class Conversation extends EventTarget {
  #ticket
  #url
  #token
  #ratingUrl
  #audio
  #tools
  #Socket
  #Direct
  /** @type {import('./direct.js').Direct | null} */
  #direct = null
  /** Whether no WebRTC connection could be had on this network. */
  #unreachable = false
  /** Whether the server was told on this connection that the conversation may begin. */
  #begun = false
  /** What the microphone hears, as a track. @type {MediaStreamTrack | null} */
  #microphone = null
  /** @type {WebSocket | null} */
  #socket = null
  #sent = 0
  /** Words that wait for a connection. */
  #unsaid = []
  #ready = false
  #ended = false
  #attempt = 0
  /** When the connection was lost; 0 while there is one. */
  #lostAt = 0
  #heardAt = 0
  #retry = 0
  #pinging = 0
  /** The question that can be answered, as `answer-time` has it; empty for none. */
  #question = ''
  /** The question of the words that are being understood; undefined between them. @type {string | undefined} */
  #heardTo
  /** The texts of turns under way, by id. */
  #texts = new Map()
  #online = () => {
    this.#unreachable = false
    this.#again()
  }

  /**
   * @param {Ticket} ticket
   * @param {Options} [options]
   */
  constructor(ticket, { url, token, ratingUrl, audio, tools = {}, Direct, Socket = globalThis.WebSocket } = {}) {
    super()
    this.#ticket = ticket
    this.#url = url ?? ticket.transport.url
    this.#token = token ?? ticket.token
    this.#ratingUrl = ratingUrl
    this.#audio = audio
    this.#tools = tools
    this.#Socket = Socket
    this.#Direct = ticket.transport.kind === 'webrtc' && Direct?.exists ? Direct : null
  }

  /** The session's id. */
  get id() { return this.#ticket.session.id }

  /** What opens the session from now on: keep it to come back after a reload. */
  get resumeToken() { return this.#token }

  /** Opens the socket. */
  connect() {
    if (this.#ended || this.#socket) return
    if (!this.#lostAt) this.#lostAt = Date.now()
    this.#emit('state', { state: this.#ready ? 'reconnecting' : 'connecting' })
    globalThis.addEventListener?.('online', this.#online)
    const socket = new this.#Socket(this.#url, ['visavis.v1', 'token.' + this.#token])
    this.#socket = socket
    this.#heardAt = Date.now()
    socket.binaryType = 'arraybuffer'
    this.#begun = false
    socket.onopen = () => { if (!this.#Direct) this.#begin() }
    socket.onmessage = (e) => {
      this.#heardAt = Date.now()
      if (typeof e.data === 'string') this.#take(JSON.parse(e.data))
      else this.#hear(new DataView(e.data))
    }
    socket.onclose = (e) => this.#closed(socket, e.code)
    clearInterval(this.#pinging)
    this.#pinging = setInterval(() => this.#ping(socket), pingEvery)
  }

  /** The key of the question that can be answered, or is being asked; empty for none that has a limit. */
  get question() { return this.#question }

  /**
   * Says the user's typed words; they wait for the connection if there is none. question is the one that they answer: what
   * `question` was when the user began to write.
   */
  say(text, question = this.#question) {
    if (this.#ended || !text.trim()) return
    this.#saying({ text, ...question && { question } })
  }

  #saying(words) {
    if (!this.#begun || !this.#send('user-text', words)) this.#unsaid.push(words)
  }

  /** Says whether the user agrees to be recorded, where `recording` of `ready` asks for it. */
  agree(yes) { this.#send('recording', { agreed: yes }) }

  /** Puts a team member into another mode: listen, speak or takeover. */
  mode(name) { return this.#send('staff-mode', { mode: name }) }

  /** Leaves a conversation that goes on without this client, as a team member does. */
  leave() {
    this.#socket?.close(1000)
    this.#over({ endReason: 'left', ratingAllowed: false })
  }

  /** Has a candidate's interview wait, or go on; its time runs on. */
  pause(on) { return this.#send('pause', { on }) }

  /** Makes the avatar be quiet. */
  interrupt() { this.#send('interrupt') }

  /** Says that the user began or stopped to speak, and what was understood of it. */
  speaking(yes) { this.#send(yes ? 'user-started-speaking' : 'user-stopped-speaking') }
  heard(text, final) {
    const question = this.#heardTo ??= this.#question
    this.#send('user-transcript', { text, final, ...question && { question } })
    if (final) this.#heardTo = undefined
  }
  /** Says that what is heard from now on is nothing that was heard before: what understands it began anew, or ended. */
  hearAnew() { this.#heardTo = undefined }

  /** Sends what a microphone hears, where sound goes over WebRTC or in a room; null for nothing. @param {MediaStreamTrack | null} track */
  microphone(track) {
    this.#microphone = track
    this.#emit('microphone', { track })
    if (this.#direct?.isOpen) this.#direct.speak(track)
  }

  /** Sends a frame of what the user says (microphone.js); on a slow connection it is left out. */
  sound(frame) {
    const socket = this.#socket
    // The track has it; a frame without sound says that it has ended.
    if (this.#direct?.isOpen && this.#microphone && frame.byteLength > 8) return
    if (socket?.readyState === 1 && !this.#lostAt && !this.#ended && socket.bufferedAmount < mostWaiting) socket.send(frame)
  }

  /** Says how much of a turn was played, in milliseconds. */
  played(turnId, playedMs) { this.#send('playback', { turnId, playedMs: Math.max(0, Math.round(playedMs)) }) }

  /** Ends the conversation; `ended` follows. */
  end() {
    if (this.#ended || this.#send('end')) return
    this.#socket?.close(1000)
    this.#over({ endReason: 'left', ratingAllowed: this.#ready })
  }

  /**
   * Rates the conversation. It throws where the rating is not taken.
   * @param {{score: number, scale: number, comment?: string}} rating
   */
  async rate({ score, scale, comment }) {
    const url = this.#ratingUrl ?? new URL(`/v1/sessions/${this.id}/rating`, this.#ticket.face?.assetsUrl ?? this.#url.replace(/^ws/, 'http'))
    const answer = await fetch(url, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'X-Session-Token': this.#token },
      body: JSON.stringify(comment ? { score, scale, comment } : { score, scale }),
    })
    if (!answer.ok) throw new Error(`the rating was not taken (${answer.status})`)
  }

  #emit(type, detail) { this.dispatchEvent(new CustomEvent(type, { detail })) }

  #send(type, data) {
    const socket = this.#socket
    if (!socket || socket.readyState !== 1) return false
    // What the user says before the server is ready would be lost with the connection.
    if (type !== 'client-ready' && this.#lostAt) return false
    const text = JSON.stringify({ id: String(++this.#sent), type, data, t: Date.now() })
    if (type.startsWith('rtc-') || !this.#direct?.send(text)) socket.send(text)
    return true
  }

  /** Lets the conversation begin, or go on. */
  #begin() {
    if (this.#begun) return
    this.#begun = this.#send('client-ready', this.#audio?.length ? { audio: this.#audio } : undefined)
  }

  /** Tries to have sound and messages go over WebRTC. The conversation begins once that is known. */
  #goDirect({ iceServers }) {
    const Direct = this.#Direct
    /** @type {import('./direct.js').Direct} */
    let direct
    try {
      direct = this.#direct = new Direct({
        iceServers, tell: (type, data) => this.#direct === direct && this.#send(type, data),
        take: (text) => {
          this.#heardAt = Date.now()
          if (this.#direct === direct) this.#take(JSON.parse(text))
        },
      })
    } catch { // where this browser does not understand the servers, for one
      this.#goneDirect('unreachable')
      return
    }
    direct.addEventListener('open', () => {
      if (this.#microphone) direct.speak(this.#microphone)
      this.#emit('direct', { receiver: direct.receiver, reason: '' })
      this.#begin()
      this.#sayUnsaid()
    })
    direct.addEventListener('closed', ({ detail: { reason, missing } }) => {
      if (this.#direct !== direct) return
      this.#direct = null
      for (const text of missing) this.#socket?.send(text)
      this.#goneDirect(reason)
    })
  }

  /** Goes on over the socket. */
  #goneDirect(reason) {
    this.#unreachable = reason === 'unreachable'
    this.#emit('direct', { receiver: null, reason })
    this.#begin()
    this.#sayUnsaid()
  }

  #sayUnsaid() { for (const words of this.#unsaid.splice(0)) this.#saying(words) }

  /** Ends the WebRTC connection with its socket. */
  #partDirect() {
    if (!this.#direct) return
    this.#direct.stop()
    // Words for which the channel was gone already wait for the next connection.
    for (const { type, data } of this.#direct.unsent.map((text) => JSON.parse(text))) {
      if (type === 'user-text') this.#unsaid.push(data)
    }
    this.#direct = null
    this.#emit('direct', { receiver: null, reason: 'lost' })
  }

  // A browser does not notice a network that went away: only silence tells.
  #ping(socket) {
    if (Date.now() - this.#heardAt > silentFor) {
      this.#closed(socket, 1006)
      socket.close()
      return
    }
    this.#send('ping')
  }

  /** Takes a frame of sound apart: kind, flags, stream and time, then the sound. */
  #hear(frame) {
    if (frame.byteLength < 8 || frame.getUint8(0) !== 1) return
    this.#emit('sound', { last: (frame.getUint8(1) & 1) === 1, stream: frame.getUint16(2), t: frame.getUint32(4), data: frame.buffer.slice(frame.byteOffset + 8) })
  }

  #take({ type, data }) {
    switch (type) {
      case 'session-ready':
        this.#token = data.resumeToken ?? this.#token
        this.#ready = true
        this.#lostAt = this.#attempt = 0
        // What was said meanwhile is in the turns, and a turn under way goes on from there.
        this.#texts = new Map(data.turns.filter((t) => t.speaker === 'avatar').map((t) => [t.id, t.text]))
        this.#question = data.answerTime?.question ?? ''
        this.#emit('ready', data)
        if (this.#Direct && !this.#begun && data.rtc && !this.#unreachable) {
          if (!this.#direct) this.#goDirect(data.rtc)
          break
        }
        this.#begin()
        this.#sayUnsaid()
        break
      case 'rtc-answer': case 'rtc-open': case 'rtc-closed':
        this.#direct?.signal({ type, data })
        break
      case 'bot-text': {
        const text = join(this.#texts.get(data.turnId) ?? '', data.text)
        if (data.final) this.#texts.delete(data.turnId)
        else this.#texts.set(data.turnId, text)
        this.#turn('avatar', data.turnId, { text, final: data.final, sources: data.sources ?? [], host: data.host ?? '', name: data.name ?? '' })
        break
      }
      case 'interrupted':
        this.#texts.delete(data.turnId)
        this.#emit(type, data)
        this.#turn('avatar', data.turnId, { text: data.spokenText, final: true, interrupted: true })
        break
      case 'user-transcription':
        this.#turn('user', data.turnId, { text: data.text, final: data.final })
        break
      case 'staff-text':
        this.#turn('staff', data.turnId, { text: data.text, final: true, name: data.name, staffId: data.staffId })
        break
      case 'answer-time':
        this.#question = data.question ?? ''
        this.#emit(type, data)
        break
      case 'llm-function-call':
        this.#use(data)
        break
      case 'session-ended':
        this.#over(data)
        break
      case 'error':
        // A process that ends says so; the client goes on elsewhere.
        if (data.code !== 'reconnect') this.#emit('error', data)
        break
      case 'state': case 'words': case 'tool': case 'notice': case 'bot-audio': case 'bot-track': case 'bot-video': case 'bot-playback': case 'visemes': case 'gesture':
      case 'duck': case 'recording': case 'pause': case 'user-started-speaking': case 'user-stopped-speaking':
        this.#emit(type, data)
    }
  }

  /** Uses a tool, and says what came of it. */
  async #use({ callId, name, arguments: args }) {
    try {
      if (!Object.hasOwn(this.#tools, name)) throw new Error('this client has no such tool')
      this.#send('llm-function-call-result', { callId, result: (await this.#tools[name](args)) ?? null })
    } catch (error) {
      this.#send('llm-function-call-result', { callId, error: String(error?.message ?? error) || 'it failed' })
    }
  }

  #turn(speaker, id, detail) {
    this.#emit('turn', { id, speaker, name: '', host: '', sources: [], interrupted: false, ...detail })
  }

  #closed(socket, code) {
    if (socket !== this.#socket) return
    this.#socket = null
    this.#partDirect()
    clearInterval(this.#pinging)
    if (this.#ended) return
    if (code in closings) {
      this.#over({ endReason: closings[code], ratingAllowed: this.#ready && code !== 4003 })
      return
    }
    if (!this.#lostAt) this.#lostAt = Date.now()
    if (Date.now() - this.#lostAt >= comeBackWithin) {
      this.#over({ endReason: 'connection_lost', ratingAllowed: this.#ready })
      return
    }
    this.#emit('state', { state: this.#ready ? 'reconnecting' : 'connecting' })
    const pause = pauses[Math.min(this.#attempt++, pauses.length - 1)]
    this.#retry = setTimeout(() => this.#again(), pause * (0.75 + Math.random() / 2))
  }

  #again() {
    clearTimeout(this.#retry)
    if (!this.#ended && !this.#socket) this.connect()
  }

  #over(detail) {
    if (this.#ended) return
    this.#ended = true
    clearTimeout(this.#retry)
    clearInterval(this.#pinging)
    globalThis.removeEventListener?.('online', this.#online)
    this.#emit('ended', detail)
  }
}

// Scripts that are written without spaces join their sentences without one.
const wide = /[\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef]$/u

/** join puts a sentence after a text. */
export function join(text, sentence) {
  if (!text || !sentence) return text || sentence
  return /\s$/.test(text) || wide.test(text) ? text + sentence : text + ' ' + sentence
}

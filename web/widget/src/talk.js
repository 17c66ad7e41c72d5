// The panel during a conversation and after it.

import { Conversation } from '../../client/live.js'
import { Transcript } from '../../client/transcript.js'
import { h, icon, portrait } from './dom.js'
import { fill } from './language.js'
import { Rating } from './rating.js'
import { Speak } from './speak.js'
import { Stage } from './stage.js'

/** What to say of an end, by its reason; of any other that it ended. */
const endings = {
  idle: 'endedIdle', max_duration: 'endedTime', minutes_exhausted: 'endedTime', connection_lost: 'endedLost', concurrency_reclaimed: 'endedBusy',
  bad_token: 'endedFault', upstream_error: 'endedFault', engine_error: 'endedFault',
}

export class Talk {
  name = 'talk'
  element
  actions
  #words
  #config
  /** @type {Conversation | null} */
  #conversation = null
  #connect
  /** Who speaks; null where all is text. @type {Stage | null} */
  #stage = null
  #speak
  #serverState = ''
  #transcript
  #log
  #input
  #composer
  #thinking = h('div', { className: 'thinking', hidden: true, 'aria-hidden': 'true' }, h('i'), h('i'), h('i'))
  #status = h('p', { className: 'status', role: 'status' })
  #rating
  #end
  #over = false
  /** Whether somebody is there to talk with: what another page kept may be over. */
  #met
  #on

  /** @param {{ticket: object, token?: string, words: object, config: object, language: string, channel: string, ratingUrl: string, onready: (resumeToken: string) => void, onended: () => void, onstate: (state: string) => void, onwords: () => void, onagain: () => void, onmissed: () => void}} options */
  constructor({ ticket, token, words, config, language, channel, ratingUrl, ...on }) {
    this.#words = words
    this.#config = config
    this.#on = on
    this.#met = !token
    if (channel !== 'chat') {
      this.#stage = new Stage({ words, persona: config.persona, channel, onspeaking: () => this.#state(this.#serverState), onstop: () => this.#hush(), onunplugged: () => this.#transcript.notice(words.soundUnplugged) })
    }
    this.#connect = async () => new Conversation(ticket, { token, ratingUrl, audio: await this.#stage?.formats })
    this.#log = h('div', { className: config.transcriptVisible ? 'log' : 'log latest', tabIndex: 0, 'aria-label': words.title },
      this.#stage ? null : h('div', { className: 'stage', 'aria-hidden': 'true' }, portrait(config.persona, 'large')))
    this.#transcript = new Transcript(this.#log, {
      language, words: { user: words.you, avatar: config.persona.name, staff: words.team, sources: words.sources, interrupted: words.interrupted },
    })
    this.#speak = new Speak({
      words, name: config.persona.name, complain: (text) => { if (text) this.#transcript.notice(text) },
      hush: () => this.#stage?.hush(), onhearing: () => this.#state(this.#serverState),
    })
    this.#composer = this.#makeComposer()
    this.#rating = h('div', { className: 'rating', onchange: () => this.#toEnd() })
    const tools = []
    if (config.rating.mode === 'during') {
      tools.push(h('button', { type: 'button', className: 'quiet', onclick: () => this.#askRating() }, words.rate))
    }
    this.#end = h('button', { type: 'button', className: 'quiet', onclick: () => this.#conversation?.end() }, words.end)
    this.actions = [...tools, this.#end]
    this.element = h('div', { className: 'talk' }, this.#stage?.element, this.#log, this.#thinking, this.#status, this.#rating, this.#speak.element, this.#composer)
  }

  get first() { return this.#over ? this.#rating.querySelector('input, button') ?? this.#composer.querySelector('button') : this.#input }

  /** Whether the panel is closed, behind which the conversation goes on in silence, and hears nobody. */
  set hidden(yes) {
    if (this.#stage) this.#stage.hidden = yes
    if (yes) this.#speak.ear.stop()
  }

  /** Ends what lives in it, once another view takes its place. */
  close() {
    this.#stage?.close()
    this.#speak.ear.stop()
  }

  async begin() {
    const c = this.#conversation = await this.#connect()
    this.#transcript.follow(c)
    this.#stage?.follow(c)
    this.#speak.ear.follow(c)
    c.addEventListener('ready', ({ detail }) => {
      this.#met = true
      this.#on.onready(detail.resumeToken)
    })
    c.addEventListener('state', ({ detail }) => this.#state(detail.state))
    c.addEventListener('turn', ({ detail }) => { if (detail.speaker !== 'user') this.#on.onwords() })
    c.addEventListener('notice', ({ detail }) => this.#notice(detail))
    c.addEventListener('error', ({ detail }) => this.#transcript.notice(this.#speak.ear.explain(detail.code) || this.#words.failed))
    c.addEventListener('ended', ({ detail }) => this.#ended(detail))
    c.connect()
  }

  // A microphone may be refused, and where nothing understands sound there is no other
  // way to speak than to write: the field is there even where textInput is off.
  #makeComposer() {
    const { placeholder, send } = this.#words
    this.#input = h('textarea', { rows: 1, maxLength: 4000, placeholder, 'aria-label': placeholder, dir: 'auto', enterKeyHint: 'send', onkeydown: (e) => this.#key(e) })
    return h('form', { className: 'composer', onsubmit: (e) => this.#say(e) }, this.#input,
      this.#speak.button, h('button', { type: 'submit', className: 'send', 'aria-label': send }, icon('send')))
  }

  #key(event) {
    // Enter also ends the choice of a character that is put together.
    if (event.key === 'Enter' && !event.shiftKey && !event.isComposing) this.#say(event)
  }

  #say(event) {
    event.preventDefault()
    const text = this.#input.value.trim()
    // What is typed before there is a conversation stays in the field.
    if (!text || !this.#conversation) return
    this.#conversation.say(text)
    this.#input.value = ''
    this.#input.focus()
  }

  #hush() {
    this.#stage?.hush()
    this.#conversation?.interrupt()
    this.#input.focus()
  }

  #state(state) {
    this.#serverState = state
    // Sound comes ahead of its time: somebody speaks for as long as they are heard.
    if (this.#stage) {
      if (this.#stage.speaking && (state === 'listening' || state === 'idle')) state = 'speaking'
      this.#stage.state = state
    }
    if (state === 'listening' && this.#speak.ear.hearing) state = 'hearing'
    this.#on.onstate(state)
    this.#thinking.hidden = state !== 'thinking'
    // What waits is told; whose turn it is everybody hears.
    this.#status.textContent = state === 'reconnecting' || state === 'connecting' ? this.#words[state] : ''
  }

  #notice({ kind, endsInS, name }) {
    const text = {
      idle_warning: this.#words.idleWarning, time_left: this.#words.timeLeft, handoff_requested: this.#words.handoff,
      staff_joined: this.#words.staffJoined, staff_left: this.#words.staffLeft,
    }[kind]
    if (text) this.#transcript.notice(fill(text, { seconds: endsInS, name: name || this.#words.team }))
  }

  #ended({ endReason, ratingAllowed }) {
    const held = this.element.contains(this.element.getRootNode().activeElement) || this.#end.matches(':focus')
    this.#over = true
    this.#on.onended()
    if (!this.#met) {
      this.#on.onmissed()
      return
    }
    this.#state('')
    this.#status.textContent = this.#words[endings[endReason]] ?? this.#words.ended
    for (const action of this.actions) action.remove()
    const again = h('button', { type: 'button', className: 'secondary', onclick: this.#on.onagain }, this.#words.again)
    const after = h('div', { className: 'after' }, again)
    this.#composer.replaceWith(after)
    this.#composer = after
    if (!ratingAllowed) this.#rating.replaceChildren()
    else if (this.#config.rating.mode !== 'off') this.#askRating()
    this.#toEnd()
    // What had the focus is gone.
    if (held) this.first.focus()
  }

  // What grows below takes room from what was said last.
  #toEnd() { this.#log.scrollTop = this.#log.scrollHeight }

  #askRating() {
    if (this.#rating.childElementCount) return
    const rating = new Rating({ words: this.#words, scale: this.#config.rating.scale, send: (r) => this.#conversation?.rate(r) })
    this.#rating.replaceChildren(rating.element)
    this.#toEnd()
    if (!this.#over) rating.first.focus()
  }
}

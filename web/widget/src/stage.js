// Who speaks, seen and heard: the face, its sound, captions, and what a visitor sets of
// these.

import { formats } from '../../client/decoder.js'
import { setVolume, volume } from '../../client/devices.js'
import { Face } from '../../client/face.js'
import { named, Pair } from '../../client/pair.js'
import { Player } from '../../client/player.js'
import { loadFace } from '../../client/rig.js'
import { Speech } from '../../client/speech.js'
import { h, icon, portrait } from './dom.js'

/** How often captions and what is shown of the state are brought up to date, in milliseconds. */
const often = 80
/** How high the face is shown at most, in pixels of the page. */
const height = 320

export class Stage {
  element
  #words
  #onspeaking
  #player = new Player()
  #speech = new Speech(this.#player)
  /** Who is seen: one face, or two. @type {Face | Pair | null} */
  #face = null
  /** @type {Pair | null} */
  #pair = null
  #canvas = h('canvas', { id: 'face', hidden: true })
  #caption = h('p', { className: 'caption', id: 'caption', hidden: true, 'aria-hidden': 'true', dir: 'auto' })
  #blocked
  #tools
  #stop
  #mute
  #volume
  #state = ''
  #speaking = false
  #captioned = true
  #ticking = 0
  #muted = false
  #hidden = false
  #closed = false
  /** The formats of sound that this browser plays. */
  formats = formats()

  /** @param {{words: any, persona: any, channel: string, onspeaking: () => void, onstop: () => void, onunplugged: () => void}} options */
  constructor({ words, persona, channel, onspeaking, onstop, onunplugged }) {
    this.#words = words
    this.#onspeaking = onspeaking
    this.#speech.ongesture = (name, host) => this.#face?.gesture(name, host)
    this.#mute = this.#tool('sound', words.mute, false, () => this.#setMuted(!this.#muted))
    this.#player.volume = volume()
    this.#player.addEventListener('unplugged', onunplugged)
    this.#volume = h('input', {
      type: 'range', id: 'volume', min: '0', max: '100', value: String(Math.round(100 * this.#player.volume)), 'aria-label': words.soundVolume, title: words.soundVolume,
      oninput: () => this.#setVolume(Number(this.#volume.value) / 100),
    })
    const captions = this.#tool('captions', words.captions, true, () => {
      this.#captioned = !this.#captioned
      this.#tick()
      return this.#captioned
    })
    this.#stop = h('button', { type: 'button', className: 'quiet', id: 'stop', hidden: true, onclick: onstop }, words.stop)
    this.#tools = h('div', { className: 'tools', role: 'group', 'aria-label': words.soundTitle, hidden: true }, this.#mute, this.#volume, captions, this.#stop)
    this.#blocked = h('p', { className: 'blocked', role: 'status', hidden: true },
      h('button', { type: 'button', className: 'primary', onclick: () => this.#player.resume() }, words.soundOn))
    this.#player.addEventListener('blocked', ({ detail }) => { this.#blocked.hidden = !detail.blocked })
    const likeness = persona.hosts?.length
      ? h('div', { className: 'likeness two' }, this.#seat(persona.hosts, channel))
      : h('div', { className: 'likeness', role: 'img', 'aria-label': persona.name }, portrait(persona, 'whole'), this.#canvas)
    this.element = h('div', { className: 'scene' }, likeness, this.#caption, this.#blocked, this.#tools)
    if (!this.#pair && channel === 'video' && persona.layersUrl) this.#live(persona.layersUrl)
  }

  /** Shows the two hosts of a duo side by side. */
  #seat(hosts, channel) {
    const pair = this.#pair = this.#face = new Pair(hosts, this.#speech)
    for (const host of hosts) {
      pair.picture(host.seat, portrait(host, 'whole'))
      if (channel === 'video' && host.layersUrl) this.#loaded(host.layersUrl, (loaded) => pair.live(host.seat, loaded))
    }
    return pair.element
  }

  /** Whether something is said now. */
  get speaking() { return this.#speaking }

  /** The name of the host of a duo who is heard now; empty for nobody, and where one alone speaks. */
  get speaker() { return this.#pair?.speaker ?? '' }

  /** What the face shows. */
  set state(name) {
    this.#state = name
    if (this.#face) this.#face.state = name === 'speaking' && !this.#speaking ? 'idle' : name
    // What held the focus must not vanish under it.
    const show = name === 'speaking' || this.#stop.matches(':focus')
    this.#stop.hidden = !show
  }

  /** Whether nobody looks: then nothing is heard either. */
  set hidden(yes) {
    this.#hidden = yes
    this.#player.muted = this.#muted || yes
  }

  /** @param {import('../../client/live.js').Conversation} conversation */
  follow(conversation) {
    this.#player.follow(conversation)
    this.#speech.follow(conversation)
    conversation.addEventListener('ready', ({ detail }) => {
      this.#tools.hidden = false
      this.#mute.hidden = this.#volume.hidden = !detail.audio
      this.#ticking ||= setInterval(() => this.#tick(), often)
    })
    conversation.addEventListener('ended', () => this.#over())
  }

  /** Is quiet for somebody who interrupts. */
  hush() { this.#player.duck() }

  /** Ends for good. */
  close() {
    this.#closed = true
    this.#face?.stop()
  }

  #over() {
    clearInterval(this.#ticking)
    this.#ticking = 0
    this.#tick()
    this.#tools.hidden = this.#caption.hidden = this.#blocked.hidden = true
  }

  #tool(picture, label, pressed, act) {
    const button = h('button', { type: 'button', className: 'round', 'aria-label': label, title: label, 'aria-pressed': String(pressed) }, icon(picture))
    button.addEventListener('click', () => button.setAttribute('aria-pressed', String(act())))
    return button
  }

  #setMuted(yes) {
    this.#muted = yes
    this.#player.muted = yes || this.#hidden
    return yes
  }

  #setVolume(value) {
    this.#player.volume = value
    setVolume(value)
    if (this.#muted && value > 0) this.#mute.click()
  }

  /** Has a face come to life, once it is loaded. */
  async #loaded(where, live) {
    try {
      const loaded = await loadFace(where, height * Math.min(2, devicePixelRatio))
      if (!this.#closed) live(loaded)
    } catch {
      // The picture stays.
    }
  }

  #live(where) {
    return this.#loaded(where, (loaded) => {
      this.#face = new Face(this.#canvas, loaded)
      this.#canvas.hidden = false
      this.#face.speech = () => this.#speech.mouth()
      this.#face.state = this.#state
      this.#face.start()
    })
  }

  #tick() {
    const { speaking } = this.#speech
    const other = this.#pair?.look()
    if (speaking !== this.#speaking || other) {
      this.#speaking = speaking
      this.#onspeaking()
    }
    const { text, said, by } = this.#captioned ? this.#speech.caption() : { text: '', said: 0, by: '' }
    this.#caption.hidden = !text
    this.#caption.replaceChildren(...named(by), text.slice(0, said), h('span', {}, text.slice(said)))
  }
}

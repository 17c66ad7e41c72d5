// Who speaks, as the conversation's page shows and plays them: the face, the sound,
// the captions, and what people set of these.

import { formats } from './decoder.js'
import { remember, remembered, setVolume, volume } from './devices.js'
import { Face } from './face.js'
import { named, Pair } from './pair.js'
import { Player } from './player.js'
import { loadFace } from './rig.js'
import { Speech } from './speech.js'
import { BrowserVoice } from './voice.js'

/** How often captions and what is shown of the state are brought up to date, in milliseconds. */
const often = 80

/** Stage is the part of the page where somebody speaks. */
export class Stage {
  #at
  #onspeaking
  #player = new Player()
  /** What is heard: the player, or the room of a media server. @type {Player | import('./livekit.js').Stay} */
  #sound = this.#player
  #speech = new Speech(this.#player)
  #voice = new BrowserVoice()
  /** Who is seen: one face, or two. @type {Face | Pair | null} */
  #face = null
  /** @type {Pair | null} */
  #pair = null
  #speaking = false
  #ticking = 0
  #captions = remembered('captions') !== 'off'
  /** The formats of sound that this browser plays. */
  formats = formats()

  /**
   * @param {(id: string) => any} at finds an element
   * @param {{face?: string, hosts?: any[], onspeaking: () => void, onunplugged: () => void}} seams where the face is, if it is known
   *   already, or who the two of a duo are; what is called when the avatar, or another host, begins or ends to be heard, and when the
   *   chosen loudspeaker is unplugged
   */
  constructor(at, { face, hosts, onspeaking, onunplugged }) {
    this.#at = at
    this.#onspeaking = onspeaking
    this.#speech.ongesture = (name, host) => this.#face?.gesture(name, host)
    this.#player.addEventListener('blocked', ({ detail }) => { at('unheard').hidden = !detail.blocked })
    this.#player.addEventListener('unplugged', onunplugged)
    this.#set()
    if (hosts?.length) this.seat(hosts)
    else if (face) this.show(face)
  }

  /** Whether something is said now. */
  get speaking() { return this.#speaking }

  /** The name of the host of a duo who is heard now; empty for nobody, and where one alone speaks. */
  get speaker() { return this.#pair?.speaker ?? '' }

  /** What the face shows. */
  set state(name) {
    if (this.#face) this.#face.state = name === 'speaking' && !this.#speaking ? 'idle' : name
    this.#shown = name
  }
  #shown = ''

  /**
   * Shows and plays a conversation.
   * @param {import('./live.js').Conversation} conversation
   * @param {{stay: import('./livekit.js').Stay, clock: import('./livekit.js').RoomClock} | null} [room] where it is held in one
   */
  follow(conversation, room) {
    if (room) this.#enter(room)
    else this.#player.follow(conversation)
    room?.stay.follow(conversation)
    room?.clock.follow(conversation)
    this.#speech.follow(conversation)
    this.#voice.follow(conversation)
    conversation.addEventListener('ready', ({ detail }) => {
      this.#voice.language = detail.session.language
      this.#at('mute').hidden = this.#at('volume').hidden = !detail.audio
      this.#at('voice').hidden = !!detail.audio || !this.#voice.exists
      this.#ticking ||= setInterval(() => this.#tick(), often)
    })
    conversation.addEventListener('ended', () => {
      clearInterval(this.#ticking)
      this.#ticking = 0
      this.#tick()
      this.#at('unheard').hidden = this.#at('caption').hidden = true
    })
  }

  /** Has the sound, and where a service shows the face that too, come from a room. */
  #enter({ stay, clock }) {
    const { volume, muted } = this.#sound
    this.#sound = Object.assign(stay, { volume, muted })
    this.#speech.player = clock
    stay.addEventListener('blocked', ({ detail }) => { this.#at('unheard').hidden = !detail.blocked })
    stay.addEventListener('video', ({ detail }) => {
      if (!this.#face) return
      this.#at('face').hidden = detail.on
      if (detail.on) this.#face.stop()
      else this.#face.start()
    })
  }

  /** How loud it is, of 1. */
  set volume(value) {
    this.#sound.volume = value
    this.#at('volume').value = String(Math.round(100 * value))
  }

  /** Is quiet for somebody who interrupts. */
  hush() {
    this.#sound.duck()
    this.#voice.stop()
  }

  /**
   * Brings a face to life in the place of the picture.
   * @param {string} where
   * @param {Record<string, string>} [headers] what the server must be told to send it
   */
  async show(where, headers) {
    const canvas = this.#at('face')
    const { width, height } = canvas.parentElement.getBoundingClientRect()
    try {
      this.#face = new Face(canvas, await loadFace(where, Math.max(height, width * 0.8) * devicePixelRatio, headers))
    } catch {
      return // the picture stays
    }
    canvas.hidden = false
    this.#face.speech = () => this.#speech.mouth()
    this.#face.state = this.#shown
    this.#face.start()
    this.#watch()
  }

  /**
   * Shows the two hosts of a duo side by side: their pictures, and then their faces.
   * @param {{seat: string, name: string, role: string, portrait: string, face: string}[]} hosts
   * @param {{headers?: Record<string, string>, living?: boolean}} [options] what the server must be told to send them; whether they move
   */
  async seat(hosts, { headers, living = true } = {}) {
    const likeness = this.#at('likeness')
    const pair = this.#pair = this.#face = new Pair(hosts, this.#speech)
    likeness.removeAttribute('role') // each has a name of its own
    likeness.removeAttribute('aria-label')
    likeness.replaceChildren(pair.element)
    likeness.classList.add('two')
    pair.state = this.#shown
    this.#watch()
    await Promise.all(hosts.map(async ({ seat, portrait, face }) => {
      await this.#picture(seat, portrait, headers).catch(() => {}) // the face may come all the same
      if (!living || !face) return
      try {
        pair.live(seat, await loadFace(face, pair.sizeOf(seat) * devicePixelRatio, headers))
      } catch {
        // The picture stays.
      }
    }))
  }

  async #picture(seat, portrait, headers) {
    const picture = new Image()
    picture.alt = ''
    if (headers) {
      const answer = await fetch(portrait, { headers })
      if (!answer.ok) return // there is none to show
      picture.src = URL.createObjectURL(await answer.blob())
    } else {
      picture.src = portrait
    }
    this.#pair.picture(seat, picture)
  }

  /** Has the eyes follow what the visitor does. */
  #watch() {
    addEventListener('pointermove', ({ clientX, clientY, pointerType }) => {
      if (pointerType === 'mouse') this.#face.follow(clientX, clientY)
    }, { passive: true })
    // What one writes is looked at a little, too.
    this.#at('message').addEventListener('input', ({ target }) => {
      const { left, top, width, height } = target.getBoundingClientRect()
      this.#face.follow(left + width / 2, top + height / 2)
    })
  }

  #set() {
    const at = this.#at
    const press = (id, pressed, act) => {
      const show = (yes) => at(id).setAttribute('aria-pressed', String(yes))
      show(pressed)
      at(id).addEventListener('click', () => show(act()))
    }
    press('captions', this.#captions, () => {
      this.#captions = !this.#captions
      remember('captions', this.#captions ? 'on' : 'off')
      this.#tick()
      return this.#captions
    })
    press('mute', false, () => this.#sound.muted = !this.#sound.muted)
    press('voice', false, () => this.#voice.on = !this.#voice.on)
    this.volume = volume()
    at('volume').addEventListener('input', ({ target }) => {
      const sound = this.#sound
      sound.volume = target.value / 100
      setVolume(sound.volume)
      if (sound.muted && sound.volume > 0) at('mute').click()
    })
    // The first thing that somebody presses may turn the sound on.
    for (const type of ['pointerdown', 'keydown']) addEventListener(type, () => this.#sound.blocked && this.#sound.resume(), { passive: true })
    at('hear').addEventListener('click', () => this.#sound.resume())
  }

  #tick() {
    const { speaking } = this.#speech
    const other = this.#pair?.look()
    if (speaking !== this.#speaking || other) {
      this.#speaking = speaking
      this.#onspeaking()
    }
    const { text, said, by } = this.#captions ? this.#speech.caption() : { text: '', said: 0, by: '' }
    const caption = this.#at('caption')
    const key = `${said}/${by}/${text}`
    if (caption.dataset.shown === key) return
    caption.dataset.shown = key
    caption.hidden = !text
    const rest = document.createElement('span')
    rest.textContent = text.slice(said)
    caption.replaceChildren(...named(by), text.slice(0, said), rest)
  }
}

// Somebody sees before a conversation whether they can be heard and can hear: they choose a
// microphone and a loudspeaker, watch how loud they are, and have a sound played. Nothing that
// is heard leaves the browser. Pages load this only where somebody opens it.

import { askFor, choose, chosen, Outlet, reasonOf, release, setVolume, unplugged, volume } from './devices.js'
import { BrowserRecognition } from './recognition.js'

/** How often is looked how loud it is, in milliseconds. */
const lookEvery = 60
/** From where on something is a voice, is loud enough, and is too loud, in decibels of full scale. */
const voice = -52
const enough = -36
const much = -9
/** A sample that is cut off, and how many of them in a look are a fault. */
const full = 0.985
const manyFull = 4
/** What the meter shows, in decibels, and in how many steps. */
const lowest = -60
const steps = 24
/** How long it is as it is before that is told, and how long what was told stays, in milliseconds. */
const steady = 420
const calm = 2200
/** After how long without a voice is asked whether this is the right microphone, in milliseconds. */
const patience = 7000
/** The notes of the test sound, in Hertz, and how long each is, in seconds. */
const notes = [523.25, 659.25, 783.99]
const noteLength = 0.42

/** How loud samples are: decibels of full scale, and whether they were cut off. @param {Float32Array} samples */
export function measure(samples) {
  let sum = 0, cut = 0
  for (const sample of samples) {
    sum += sample * sample
    if (Math.abs(sample) >= full) cut++
  }
  return { level: Math.max(-100, 10 * Math.log10(sum / samples.length + 1e-10)), cut: cut >= manyFull }
}

/**
 * Judge says how somebody is heard, calmly: what is so only for a moment is not told, and who
 * pauses is not told that they are too quiet.
 */
export class Judge {
  #since
  #candidate = ''
  #from = 0
  #told = 0
  #last = 0
  #heard = false
  /** How it is: '' before there is anything to say, quiet, good, loud, or silent. */
  state = ''

  /** @param {number} now in milliseconds */
  constructor(now) { this.#since = now }

  /** Takes how loud it is now, and says whether the state is another. @param {{level: number, cut: boolean}} measured @param {number} now */
  take({ level, cut }, now) {
    if (level < voice) {
      if (now - this.#last > steady) this.#candidate = ''
      return !this.#heard && now - this.#since > patience && this.#tell('silent', now)
    }
    this.#last = now
    const is = cut || level > much ? 'loud' : level > enough ? 'good' : 'quiet'
    // A voice goes up and down: the loudest of it counts.
    const rank = ['', 'quiet', 'good', 'loud']
    if (rank.indexOf(is) > rank.indexOf(this.#candidate)) {
      if (!this.#candidate) this.#from = now
      this.#candidate = is
    }
    if (now - this.#from < steady) return false
    this.#heard = true
    const told = this.#candidate
    if (now - this.#from > calm) { // and then it is judged anew
      this.#candidate = is
      this.#from = now
    }
    return this.#tell(told, now)
  }

  #tell(state, now) {
    if (state === this.state || this.state && this.state !== 'silent' && now - this.#told < calm) return false
    this.state = state
    this.#told = now
    return true
  }
}

/** Makes an element with properties, attributes (whose names have a hyphen, and `role`) and children. */
function make(name, properties = {}, ...children) {
  const element = document.createElement(name)
  for (const [key, value] of Object.entries(properties)) {
    if (key.includes('-') || key === 'role') element.setAttribute(key, value)
    else element[key] = value
  }
  element.append(...children.filter(Boolean))
  return element
}

/** SoundCheck is the check; its element stands where its host puts it. */
export class SoundCheck {
  element
  #say
  #hears
  #onvolume
  #mic = { status: make('p', { role: 'status', className: 'told' }), button: make('button'), choice: make('select', { id: 'check-microphone' }), meter: make('div'), field: make('p') }
  #sound = { status: make('p', { role: 'status', className: 'told' }), play: make('button'), choice: make('select', { id: 'check-loudspeaker' }), field: make('p'), asked: make('p') }
  #done
  #classes
  #steps = Array.from({ length: steps }, () => make('i'))
  /** @type {MediaStream | null} */
  #stream = null
  /** @type {AudioContext | null} */
  #listening = null
  #looking = 0
  /** @type {AudioContext | null} */
  #playing = null
  /** @type {GainNode | null} */
  #gain = null
  /** @type {Outlet | null} */
  #outlet = null
  #asking = false
  #closed = false
  #good = false
  #heard = false
  /** Counts the microphones that were asked for. */
  #wanted = 0
  #changed = () => this.#list()

  /**
   * @param {{say: (key: string) => string, hears: string, level?: number, classes: {main: string, other: string}, ondone: () => void, onvolume?: (value: number) => void}} seams
   *   say finds a text by its key; hears is who is to understand what is said, as session-ready has it: `server`, `client` or nobody;
   *   level is that of the heading; classes are those of buttons; ondone is called when somebody wants to go on, and onvolume with how
   *   loud they set it, of 1
   */
  constructor({ say, hears, level = 2, classes, ondone, onvolume = () => {} }) {
    this.#say = say
    this.#hears = hears === 'server' ? 'server' : hears && BrowserRecognition.exists ? 'client' : ''
    this.#onvolume = onvolume
    this.#classes = classes
    const heading = (deep, id, key) => make(`h${level + deep}`, { id, textContent: say(key) })
    this.#done = make('button', { type: 'button', className: classes.other, textContent: say('check.skip'), onclick: () => ondone() })
    this.element = make('div', { className: 'soundcheck' },
      heading(0, 'check-title', 'check.title'), make('p', { textContent: say('check.intro') }),
      make('section', { 'aria-labelledby': 'check-mic' }, heading(1, 'check-mic', 'mic.title'), ...this.#speaking(classes)),
      make('section', { 'aria-labelledby': 'check-sound' }, heading(1, 'check-sound', 'check.sound'), ...this.#hearing(classes)),
      make('p', { className: 'acts' }, this.#done))
  }

  /** Where the focus begins. */
  get first() { return this.#mic.button.hidden ? this.#sound.play : this.#mic.button }

  /** Begins: where the microphone is allowed already, and somebody has pressed something on the page, it is heard at once. */
  async begin() {
    navigator.mediaDevices?.addEventListener?.('devicechange', this.#changed)
    this.#list()
    const why = this.#impossible()
    if (why) {
      this.#tell(why)
      this.#mic.button.hidden = true
      return
    }
    if (navigator.userActivation?.hasBeenActive === false) return // then no sound is to be had yet
    const { state } = await navigator.permissions?.query({ name: 'microphone' }).catch(() => ({})) ?? {}
    if (state === 'granted' && !this.#closed) this.#open(chosen().microphone)
  }

  /** Ends: microphone and sound are released. */
  close() {
    this.#closed = true
    this.#wanted++
    navigator.mediaDevices?.removeEventListener?.('devicechange', this.#changed)
    this.#quiet()
    this.#outlet?.close()
    this.#playing?.close().catch(() => {})
    this.#playing = null
  }

  /** Why nobody can be heard here, whatever they do; empty where they can. */
  #impossible() {
    if (!this.#hears) return 'check.deaf'
    if (!globalThis.isSecureContext) return 'check.insecure'
    if (!navigator.mediaDevices?.getUserMedia) return 'check.none'
    return document.featurePolicy?.allowsFeature?.('microphone') === false ? 'check.frame' : ''
  }

  /* The microphone */

  #speaking({ main }) {
    const { status, button, choice, meter, field } = this.#mic, say = this.#say
    Object.assign(button, { type: 'button', className: main, textContent: say('check.test'), onclick: () => this.#open(chosen().microphone, true) })
    choice.onchange = () => {
      choose({ microphone: choice.value })
      this.#open(choice.value)
    }
    field.append(make('label', { htmlFor: 'check-microphone', textContent: say('check.device') }), choice)
    for (const [name, value] of Object.entries({ role: 'meter', 'aria-label': say('check.level'), 'aria-valuemin': '0', 'aria-valuemax': '100', 'aria-valuenow': '0' })) meter.setAttribute(name, value)
    meter.className = 'level'
    meter.append(...this.#steps)
    field.hidden = meter.hidden = true
    status.textContent = say('check.ask')
    const note = this.#hears === 'client' ? make('p', { textContent: say('check.browser') }) : null
    return [note, field, meter, status, button].filter(Boolean)
  }

  /** Says how it stands with the microphone. @param {string} key */
  #tell(key) {
    const text = this.#say(key)
    if (this.#mic.status.textContent !== text) this.#mic.status.textContent = text
    this.#mic.meter.setAttribute('aria-valuetext', text)
  }

  /** Listens to a microphone. @param {string} device @param {boolean} [pressed] whether somebody pressed the button */
  async #open(device, pressed = false) {
    if (this.#asking && pressed) return
    this.#quiet()
    const wanted = ++this.#wanted
    this.#asking = true
    this.#tell('check.asking')
    let stream
    try {
      stream = await askFor(navigator.mediaDevices, device)
      if (wanted !== this.#wanted) {
        release(stream)
        return
      }
      this.#stream = stream
      this.#listen(stream)
      await this.#listening?.resume()
    } catch (error) {
      if (wanted === this.#wanted) this.#fail(error)
      return
    } finally {
      if (wanted === this.#wanted) this.#asking = false
    }
    if (wanted !== this.#wanted) return
    const [track] = stream.getAudioTracks(), { field, meter, button, choice } = this.#mic
    track.addEventListener('ended', () => { if (this.#stream === stream) this.#ended(track) })
    await this.#list()
    if (wanted !== this.#wanted) return
    const real = track.getSettings?.().deviceId ?? ''
    const absent = device && real && real !== device
    if (absent) choice.value = '' // and it is remembered for when it is there again
    const focused = button.getRootNode().activeElement === button
    field.hidden = meter.hidden = false
    button.hidden = true
    if (focused) choice.focus()
    this.#tell(absent ? 'check.absent' : 'check.speak')
  }

  #fail(error) {
    this.#quiet()
    const reason = reasonOf(error), { button } = this.#mic
    this.#mic.meter.hidden = true
    this.#mic.field.hidden = reason !== 'busy' // then another may do
    button.textContent = this.#say('check.again')
    button.hidden = false
    this.#tell(`check.${reason === 'failed' ? 'busy' : reason}`)
  }

  /** Goes on with the usual microphone where this one was unplugged. */
  async #ended(track) {
    this.#quiet()
    const wanted = this.#wanted
    const gone = await unplugged(navigator.mediaDevices, track).catch(() => false)
    if (wanted !== this.#wanted) return
    if (!gone) {
      this.#fail({ name: 'NotAllowedError' })
      return
    }
    await this.#open('')
    if (this.#stream) this.#tell('mic.replaced')
  }

  /** Shows how loud it is. @param {MediaStream} stream */
  #listen(stream) {
    const context = this.#listening = new AudioContext()
    const analyser = context.createAnalyser()
    analyser.fftSize = 2048
    context.createMediaStreamSource(stream).connect(analyser)
    const samples = new Float32Array(analyser.fftSize)
    const judge = new Judge(performance.now())
    let shown = 0, looks = 0
    this.#looking = setInterval(() => {
      analyser.getFloatTimeDomainData(samples)
      const now = performance.now(), measured = measure(samples)
      const height = Math.min(1, Math.max(0, 1 - measured.level / lowest))
      shown = Math.max(height, shown - 0.08) // it rises at once, and sinks slowly
      this.#steps.forEach((step, i) => { step.className = i < Math.round(shown * steps) ? 'on' : '' })
      if (++looks % 4 === 0) this.#mic.meter.setAttribute('aria-valuenow', String(Math.round(100 * shown)))
      if (!judge.take(measured, now)) return
      this.#mic.meter.dataset.state = judge.state
      this.#tell(`check.${judge.state}`)
      if (judge.state === 'good') {
        this.#good = true
        this.#ready()
      }
    }, lookEvery)
  }

  #quiet() {
    clearInterval(this.#looking)
    if (this.#stream) release(this.#stream)
    this.#stream = null
    this.#listening?.close().catch(() => {})
    this.#listening = null
    for (const step of this.#steps) step.className = ''
    delete this.#mic.meter.dataset.state
  }

  /* The sound */

  #hearing({ main, other }) {
    const { status, play, choice, field, asked } = this.#sound, say = this.#say
    Object.assign(play, { type: 'button', className: main, textContent: say('check.play'), onclick: () => this.#play() })
    choice.onchange = () => {
      choose({ loudspeaker: choice.value })
      if (this.#outlet) this.#lead()
    }
    field.append(make('label', { htmlFor: 'check-loudspeaker', textContent: say('check.loudspeaker') }), choice)
    field.hidden = true
    const loud = make('input', { id: 'check-volume', type: 'range', min: '0', max: '100', value: String(Math.round(100 * volume())) })
    loud.oninput = () => {
      const value = Number(loud.value) / 100
      setVolume(value)
      if (this.#gain && this.#playing) this.#gain.gain.setTargetAtTime(value, this.#playing.currentTime, 0.02)
      this.#onvolume(value)
    }
    const answer = (key, yes) => make('button', { type: 'button', className: other, textContent: say(key), onclick: () => this.#answer(yes) })
    asked.append(answer('check.yes', true), ' ', answer('check.no', false))
    asked.className = 'asked'
    asked.hidden = true
    return [field, make('p', {}, make('label', { htmlFor: 'check-volume', textContent: say('sound.volume') }), loud), play, status, asked]
  }

  /** Plays three notes. */
  async #play() {
    const { status, asked } = this.#sound
    try {
      if (!this.#playing) {
        const context = this.#playing = new AudioContext()
        this.#gain = context.createGain()
        this.#gain.gain.value = volume()
        this.#outlet = new Outlet(context, this.#gain)
        await this.#lead()
      }
      await this.#playing?.resume()
      if (this.#closed || !this.#playing) return
      notes.forEach((hertz, i) => this.#note(hertz, this.#playing.currentTime + 0.05 + 0.7 * noteLength * i))
    } catch {
      status.textContent = this.#say('check.unheard')
      return
    }
    status.textContent = this.#say('check.hear')
    asked.hidden = false
  }

  #note(hertz, from) {
    const context = this.#playing, tone = context.createOscillator(), shape = context.createGain()
    tone.type = 'triangle'
    tone.frequency.value = hertz
    shape.gain.setValueAtTime(0, from)
    shape.gain.linearRampToValueAtTime(0.5, from + 0.03)
    shape.gain.exponentialRampToValueAtTime(0.001, from + noteLength)
    tone.connect(shape).connect(this.#gain)
    tone.start(from)
    tone.stop(from + noteLength)
  }

  /** Leads the sound to the chosen loudspeaker; where that is not to be had, to the usual one. */
  async #lead() {
    const { loudspeaker } = chosen()
    if (await this.#outlet?.choose(loudspeaker) || !loudspeaker) return
    this.#sound.choice.value = ''
    await this.#outlet?.choose('')
  }

  #answer(yes) {
    const { status, asked, play } = this.#sound
    this.#heard = yes
    this.#ready()
    ;(yes && this.#done.textContent === this.#say('check.done') ? this.#done : play).focus()
    asked.hidden = true
    status.textContent = this.#say(yes ? 'check.heard' : 'check.unheard')
  }

  /** Once all is well one need not skip it any more. */
  #ready() {
    const well = this.#heard && (this.#good || Boolean(this.#impossible()))
    this.#done.textContent = this.#say(well ? 'check.done' : 'check.skip')
    this.#done.className = well ? this.#classes.main : this.#classes.other
  }

  /** Shows what there is to choose from. Before the microphone is allowed, browsers do not tell. */
  async #list() {
    const all = await navigator.mediaDevices?.enumerateDevices().catch(() => []) ?? []
    if (this.#closed) return
    const { microphone, loudspeaker } = chosen()
    this.#fill(this.#mic.choice, all.filter(({ kind }) => kind === 'audioinput'), microphone, 'mic.title')
    const outputs = all.filter(({ kind, deviceId }) => kind === 'audiooutput' && deviceId)
    this.#fill(this.#sound.choice, outputs, loudspeaker, 'check.loudspeaker')
    this.#sound.field.hidden = !Outlet.chooses || !outputs.length
  }

  /** @param {HTMLSelectElement} choice @param {MediaDeviceInfo[]} devices @param {string} current @param {string} kind */
  #fill(choice, devices, current, kind) {
    const known = devices.filter(({ deviceId }) => deviceId && deviceId !== 'default' && deviceId !== 'communications')
    choice.replaceChildren(make('option', { value: '', textContent: this.#say('check.usual') }),
      ...known.map(({ deviceId, label }, i) => make('option', { value: deviceId, textContent: label || `${this.#say(kind)} ${i + 1}` })))
    choice.value = known.some(({ deviceId }) => deviceId === current) ? current : ''
  }
}

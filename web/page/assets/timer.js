// How much time there is to answer, as the conversation's page shows it: a figure that counts down quietly, and words at
// the beginning, at half of the time and ten seconds before its end, which screen readers read out.

/** Under so many seconds nothing is told of half of the time, or of ten seconds that are left. */
const short = 15
/** How many seconds before the end it is told once more. */
const soon = 10
/** How often the figure is brought up to date, in milliseconds. */
const often = 200

/** Clock is a time that counts down. */
class Clock {
  #left = 0
  #since = 0
  #runs = false
  #told = new Set()
  limit = 0

  /** Takes what the server says. @param {number} limitS @param {number} leftMs @param {boolean} runs */
  set(limitS, leftMs, runs) {
    this.limit = limitS
    this.#left = leftMs
    this.#since = performance.now()
    this.#runs = runs
  }

  /** How many seconds are left: a whole number, rounded up. */
  get left() {
    const past = this.#runs ? performance.now() - this.#since : 0
    return Math.max(0, Math.ceil((this.#left - past) / 1000))
  }

  get runs() { return this.#runs }

  /** What is to be told now, once each: `begins`, `half`, `soon`; empty for nothing. */
  news() {
    if (!this.#runs) return ''
    const all = ['begins']
    if (this.limit >= short && this.left <= this.limit / 2) all.push('half')
    if (this.limit >= short && this.left <= soon) all.push('soon')
    const fresh = all.filter((name) => !this.#told.has(name))
    for (const name of all) this.#told.add(name)
    return fresh.at(-1) ?? ''
  }
}

/** Timer shows the time of the question that can be answered, and that of all questions. */
export class Timer {
  #at
  #say
  #duration
  #onup
  /** @type {Clock | null} */
  #one = null
  /** @type {Clock | null} */
  #all = null
  #question = ''
  #state = ''
  #ticking = 0

  /**
   * @param {(id: string) => any} at finds an element
   * @param {{say: (key: string, value?: string) => string, duration: (seconds: number) => string, onup: () => void}} seams
   *   onup is called when the time is up, while the last words are waited for
   */
  constructor(at, { say, duration, onup }) {
    this.#at = at
    this.#say = say
    this.#duration = duration
    this.#onup = onup
  }

  /** Shows the time of a conversation. */
  follow(conversation) {
    this.#one = this.#all = null
    this.#question = this.#state = ''
    conversation.addEventListener('ready', ({ detail }) => this.#take(detail.answerTime))
    conversation.addEventListener('answer-time', ({ detail }) => this.#take(detail))
    conversation.addEventListener('state', ({ detail }) => {
      if (detail.state === 'reconnecting') this.#stop()
    })
    conversation.addEventListener('ended', () => this.#take(null))
  }

  #take(time) {
    const { question, state, limitS, leftMs, all } = time ?? {}
    if (question !== this.#question) {
      this.#question = question ?? ''
      this.#one = null
    }
    if (question && limitS) {
      this.#one ??= new Clock()
      this.#one.set(limitS, leftMs, state === 'running')
    }
    if (all) {
      this.#all ??= new Clock()
      this.#all.set(all.limitS, all.leftMs, all.running)
    } else {
      this.#all = null
    }
    const up = state === 'up' && this.#state !== 'up'
    this.#state = state ?? ''
    if (up) {
      this.#tell(this.#say('time.up'))
      this.#onup()
    }
    clearInterval(this.#ticking)
    this.#ticking = this.#one?.runs || this.#all?.runs ? setInterval(() => this.#tick(), often) : 0
    this.#tick()
  }

  /** Stands still while nobody can say how the time goes on. */
  #stop() {
    for (const clock of [this.#one, this.#all]) clock?.set(clock.limit, clock.left * 1000, false)
    if (this.#state === 'running') this.#state = 'paused'
    clearInterval(this.#ticking)
    this.#tick()
  }

  #tick() {
    this.#show('time', this.#one, this.#state === 'paused' ? 'time.paused' : 'time.left')
    this.#show('time-all', this.#all, 'time.all')
    for (const clock of [this.#all, this.#one]) {
      const news = clock?.news()
      if (news) this.#tell(this.#say(`time.${news}`, this.#duration(clock.left)))
    }
  }

  #show(id, clock, key) {
    const box = this.#at(id)
    box.hidden = !clock
    if (!clock) return
    const figure = figureOf(clock.left)
    const text = key === 'time.paused' ? `${this.#say('time.left', figure)} ${this.#say(key)}` : this.#say(key, figure)
    if (box.textContent !== text) box.textContent = text
  }

  #tell(text) { this.#at('time-told').textContent = text }
}

/** Minutes and seconds, as clocks show them. */
function figureOf(seconds) { return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}` }

// What a face does by itself: it blinks, looks, breathes, sways, nods and feels.

import { ease } from './visemes.js'

/**
 * @typedef {object} Pose how a face stands; angles and shifts from -1 to 1 are parts of what looks natural
 * @property {number} shut the upper lids: from -0.3 (wide) to 1 (closed)
 * @property {number} squint
 * @property {number} gazeX
 * @property {number} gazeY
 * @property {number} yaw the head, as the two after it
 * @property {number} pitch
 * @property {number} roll
 * @property {number} brow how far the brows are up
 * @property {number} worry how far their inner ends are
 * @property {number} smile from -1 to 1
 * @property {number} breath
 * @property {number} shrug
 */

/** How a state looks: what the face feels, and where it looks. */
const moods = {
  listening: { smile: 0.30, brow: 0.18, worry: 0.14, squint: 0.12, tilt: 0.35 },
  thinking: { smile: 0.02, brow: 0.25, worry: 0.18, squint: 0.18, tilt: -0.3 },
  speaking: { smile: 0.22, brow: 0.08, worry: 0.08, squint: 0.10, tilt: 0 },
  idle: { smile: 0.22, brow: 0.04, worry: 0.1, squint: 0.06, tilt: 0 },
}

/** What a gesture adds, and for how long, in milliseconds. */
const gestures = {
  nod: { for: 900, nod: 1 },
  smile: { for: 2400, smile: 0.75, squint: 0.5, brow: 0.12 },
  think: { for: 2000, brow: 0.3, worry: 0.2, away: 1 },
  surprise: { for: 1300, brow: 1, wide: 0.26, smile: 0.1 },
  concern: { for: 2400, worry: 0.85, smile: -0.4, brow: 0.1, tilt: 0.4 },
  shrug: { for: 1300, shrug: 1, brow: 0.6, tilt: 0.7, smile: -0.12 },
  wave: { for: 1500, smile: 0.9, squint: 0.5, brow: 0.5, tilt: 0.9, nod: 0.5 },
}

/** How soon a feeling shows, in milliseconds. */
const soon = 170

/** Life is the movements of one face. */
export class Life {
  /** Whether nothing sways (prefers-reduced-motion); lids and lips still move. */
  still = false
  state = 'idle'
  /** Where somebody pointed last, from -1 to 1 each, and when; null for nowhere. @type {{x: number, y: number, at: number} | null} */
  pointer = null
  /** Where the face is turned to beside the visitor, from -1 to 1: another face. */
  turn = 0
  #random
  #last = 0
  /** @type {Pose} */
  #pose = { shut: 0, squint: 0, gazeX: 0, gazeY: 0, yaw: 0, pitch: 0, roll: 0, brow: 0, worry: 0, smile: 0.2, breath: 0, shrug: 0 }
  #head = { yaw: 0, pitch: 0 }
  #blinkAt = 0
  #blinkFrom = -1e9
  #slow = 1
  #glance = { x: 0, y: 0, at: 0 }
  #aside = -1
  #nods = []
  #nodAt = 0
  /** @type {{what: any, from: number}[]} */
  #felt = []
  #stress = 0
  #emphasis = 0
  #began

  /** @param {() => number} random from 0 to 1, for tests */
  constructor(random = Math.random) {
    this.#random = random
    this.#began = random() * 1000
  }

  /** Shows a gesture. @param {string} name @param {number} now in milliseconds */
  gesture(name, now) {
    const what = gestures[name]
    if (!what) return
    this.#felt.push({ what, from: now })
    if (what.nod) this.#nods.push({ from: now, size: what.nod })
  }

  /** Closes the lids for a moment. */
  blink(now) {
    this.#blinkFrom = now
    this.#slow = 0.9 + 0.35 * this.#random()
    // Most people blink every three to six seconds, sometimes twice.
    this.#blinkAt = now + (this.#random() < 0.13 ? 330 : 2200 + 3600 * this.#random())
  }

  /**
   * The pose at a time, which must not go back.
   * @param {number} now in milliseconds
   * @param {number} open how open the speaking mouth is, from 0 to 1
   * @returns {Pose}
   */
  at(now, open = 0) {
    const d = Math.min(100, this.#last ? now - this.#last : 16)
    this.#last = now
    const mood = moods[this.state] ?? moods.idle
    const add = this.#feelings(now)
    const p = this.#pose
    const toward = (name, goal, within = soon) => { p[name] += (goal - p[name]) * (1 - Math.exp(-d / within)) }
    this.#listen(now)
    this.#stressed(open, d)
    toward('smile', mood.smile + add.smile)
    toward('brow', mood.brow + add.brow + 0.45 * this.#emphasis)
    toward('worry', mood.worry + add.worry)
    toward('squint', mood.squint + add.squint + 0.25 * Math.max(0, p.smile - 0.3))
    toward('shrug', add.shrug, 120)
    this.#look(now, d, add.away || this.state === 'thinking')
    this.#turnHead(now, d, mood.tilt + add.tilt)
    p.shut = this.#lids(now) - add.wide
    // Lids follow where the eyes look.
    p.shut = Math.min(1, p.shut + 0.16 * Math.max(0, p.gazeY) - 0.06 * Math.max(0, -p.gazeY))
    p.breath = this.still ? 0 : 0.5 - 0.5 * Math.cos((now + this.#began) / 4100 * 2 * Math.PI)
    return { ...p }
  }

  #feelings(now) {
    const sum = { smile: 0, brow: 0, worry: 0, squint: 0, wide: 0, tilt: 0, shrug: 0, away: 0 }
    this.#felt = this.#felt.filter(({ what, from }) => now - from < what.for)
    for (const { what, from } of this.#felt) {
      const t = now - from
      const share = ease(t / 200) * ease((what.for - t) / 350)
      for (const name of Object.keys(sum)) sum[name] += share * (what[name] ?? 0)
    }
    return sum
  }

  #lids(now) {
    if (!this.#blinkAt) this.#blinkAt = now + 800 + 2500 * this.#random()
    if (now >= this.#blinkAt) this.blink(now)
    const t = (now - this.#blinkFrom) / this.#slow
    if (t < 75) return ease(t / 75)
    return t < 105 ? 1 : ease(1 - (t - 105) / 150)
  }

  /** Stressed syllables move brows and head a little. */
  #stressed(open, d) {
    const before = this.#stress
    this.#stress += (open - this.#stress) * (1 - Math.exp(-d / 90))
    const rising = Math.max(0, open - before - 0.25)
    this.#emphasis += (Math.min(1, rising * 1.6) - this.#emphasis) * (1 - Math.exp(-d / (rising > this.#emphasis ? 70 : 380)))
  }

  /** Who listens nods now and then. */
  #listen(now) {
    if (this.state !== 'listening' || this.still) {
      this.#nodAt = 0
      return
    }
    if (!this.#nodAt) this.#nodAt = now + 2600 + 3500 * this.#random()
    if (now < this.#nodAt) return
    this.#nods.push({ from: now, size: 0.35 + 0.3 * this.#random() })
    this.#nodAt = now + 4500 + 5500 * this.#random()
  }

  #look(now, d, away) {
    const g = this.#glance, p = this.#pose
    if (now >= g.at) {
      const r = this.#random
      if (away) {
        if (r() < 0.3) this.#aside = -this.#aside
        Object.assign(g, { x: this.#aside * (0.45 + 0.3 * r()), y: -0.35 - 0.3 * r(), at: now + 700 + 900 * r() })
      } else if (this.state === 'speaking' && r() < 0.12) {
        Object.assign(g, { x: (r() - 0.5) * 0.9, y: (r() - 0.3) * 0.4, at: now + 260 + 420 * r() })
      } else {
        // Eyes that look at somebody go from one of their eyes to the other, and to their mouth.
        Object.assign(g, { x: (r() - 0.5) * 0.11, y: (r() - 0.4) * 0.09, at: now + 500 + 1500 * r() })
      }
    } else if (away && Math.hypot(g.x, g.y) < 0.2) {
      g.at = now // thinks from now on
    } else if (!away && Math.hypot(g.x, g.y) > 0.6) {
      g.at = now
    }
    let { x, y } = this.still && !away ? { x: 0, y: 0 } : g
    if (!away && this.pointer && !this.still) {
      // A pointer that rests is soon let be: eyes come back to who is spoken with.
      const share = ease(1 - (now - this.pointer.at - 1200) / 900)
      x += 0.34 * share * this.pointer.x
      y += 0.26 * share * this.pointer.y
    }
    x += this.turn * 0.75
    // Eyes jump; they do not slide.
    const jump = Math.hypot(x - p.gazeX, y - p.gazeY)
    const share = 1 - Math.exp(-d / 26)
    if (jump > 0.5 && now - this.#blinkFrom > 1500 && this.#random() < 0.08) this.blink(now)
    p.gazeX += (x - p.gazeX) * share
    p.gazeY += (y - p.gazeY) * share
  }

  #turnHead(now, d, tilt) {
    const p = this.#pose, head = this.#head
    const s = (now + this.#began * 1000) / 1000
    const wave = (period, phase) => Math.sin(2 * Math.PI * s / period + phase)
    const share = 1 - Math.exp(-d / 340)
    head.yaw += (p.gazeX * 0.42 + this.turn * 0.5 - head.yaw) * share
    head.pitch += (p.gazeY * 0.34 - head.pitch) * share
    if (this.still) {
      Object.assign(p, { yaw: this.turn * 0.4, pitch: 0, roll: 0 })
      return
    }
    const lively = this.state === 'speaking' ? 1.5 : 1
    p.yaw = head.yaw + lively * (0.13 * wave(7.3, 0) + 0.07 * wave(3.1, 1) + 0.04 * wave(1.7, 2))
    p.pitch = head.pitch + lively * (0.09 * wave(5.9, 2) + 0.05 * wave(2.3, 0)) + this.#nodding(now) + 0.22 * this.#emphasis
    const roll = 0.35 * tilt + lively * (0.14 * wave(9.7, 1) + 0.08 * wave(4.3, 3))
    p.roll += (roll - p.roll) * (1 - Math.exp(-d / 420))
  }

  #nodding(now) {
    this.#nods = this.#nods.filter(({ from }) => now - from < 1100)
    return this.#nods.reduce((sum, { from, size }) => {
      const t = (now - from) / 1000
      return sum + size * 0.9 * Math.sin(2 * Math.PI * t / 0.52) * Math.exp(-t * 2.6) * ease(t / 0.12)
    }, 0)
  }
}

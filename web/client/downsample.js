// Brings a microphone's sound to the rate at which speech is recognized.

/** How far the filter reaches, in samples that are made. */
const reach = 8
/** What lies above this share of the new band is left out: it would fold back. */
const band = 0.92

/** Downsampler brings samples to a lower rate, piece by piece. */
export class Downsampler {
  #ratio
  #half
  /** @type {Float32Array} samples that are still needed; the first #half are past */
  #past
  /** Where the next sample that is made lies in them. */
  #at

  /** @param {number} from @param {number} to both in Hz; from is not lower */
  constructor(from, to) {
    this.#ratio = from / to
    this.#half = Math.ceil(reach * this.#ratio)
    this.#past = new Float32Array(this.#half)
    this.#at = this.#half
  }

  /** Takes the next samples, and answers those that can be made. @param {Float32Array} samples @returns {Float32Array} */
  push(samples) {
    const all = new Float32Array(this.#past.length + samples.length)
    all.set(this.#past)
    all.set(samples, this.#past.length)
    const made = []
    while (this.#at + this.#half < all.length) {
      made.push(this.#sample(all))
      this.#at += this.#ratio
    }
    const drop = Math.max(0, Math.floor(this.#at) - this.#half)
    this.#past = all.slice(drop)
    this.#at -= drop
    return Float32Array.from(made)
  }

  /** The sample at #at: what is around it, weighed by a windowed sinc. */
  #sample(all) {
    let sum = 0, weight = 0
    const first = Math.ceil(this.#at - this.#half), last = Math.floor(this.#at + this.#half)
    for (let i = Math.max(0, first); i <= last; i++) {
      const x = (i - this.#at) / this.#ratio * band
      const sinc = Math.abs(x) < 1e-6 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x)
      const w = sinc * (0.5 + 0.5 * Math.cos(Math.PI * (i - this.#at) / this.#half))
      sum += all[i] * w
      weight += w
    }
    return sum / weight
  }
}

// Turns frames of sound into samples: PCM always, Opus where the browser can.

/** @typedef {{t: number, samples: Float32Array, rate: number, last: boolean}} Sound */

const opus = { codec: 'opus', sampleRate: 48_000, numberOfChannels: 1 }

/**
 * The formats that this browser plays, the preferred first.
 * @param {any} [Decoder] for tests
 * @returns {Promise<string[]>}
 */
export async function formats(Decoder = globalThis.AudioDecoder) {
  try {
    const { supported } = await Decoder.isConfigSupported(opus)
    if (supported) return ['opus', 'pcm']
  } catch { /* a browser without WebCodecs */ }
  return ['pcm']
}

/**
 * Makes what decodes one turn.
 * @param {{format: string, sampleRate: number}} audio what session-ready said
 * @param {(sound: Sound) => void} take gets the sound in the order it came
 * @param {any} [Decoder] for tests
 */
export function decoderOf(audio, take, Decoder = globalThis.AudioDecoder) {
  return audio.format === 'opus' ? new OpusDecoder(take, Decoder) : new PcmDecoder(audio.sampleRate, take)
}

class PcmDecoder {
  #rate
  #take
  constructor(rate, take) {
    this.#rate = rate
    this.#take = take
  }

  add(t, data, last) {
    const view = new DataView(data)
    const samples = Float32Array.from({ length: data.byteLength >> 1 }, (_, i) => view.getInt16(2 * i, true) / 32768)
    this.#take({ t, samples, rate: this.#rate, last })
  }

  close() {}
}

class OpusDecoder {
  #take
  #decoder
  #closed = false

  constructor(take, Decoder) {
    this.#take = take
    this.#decoder = new Decoder({ output: (decoded) => this.#output(decoded), error: () => this.close() })
    this.#decoder.configure(opus)
  }

  add(t, data, last) {
    if (this.#closed) return
    if (data.byteLength) this.#decoder.decode(new EncodedAudioChunk({ type: 'key', timestamp: t * 1000, data }))
    if (!last) return
    this.#decoder.flush().then(() => this.#closed || this.#take({ t, samples: new Float32Array(0), rate: opus.sampleRate, last }), () => {})
  }

  #output(decoded) {
    const samples = new Float32Array(decoded.numberOfFrames)
    decoded.copyTo(samples, { planeIndex: 0, format: 'f32-planar' })
    if (!this.#closed) this.#take({ t: decoded.timestamp / 1000, samples, rate: decoded.sampleRate, last: false })
    decoded.close()
  }

  close() {
    if (this.#closed) return
    this.#closed = true
    if (this.#decoder.state !== 'closed') this.#decoder.close()
  }
}

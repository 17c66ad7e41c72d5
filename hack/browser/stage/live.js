// A live server that speaks, as far as a page needs one: tones instead of a voice, with
// their visemes, by the live protocol (docs/live.md).

const rate = 24_000
/** How long a frame of sound is, in milliseconds, and how far ahead of its time it is sent. */
const frameLength = 40
const ahead = 1500

/** The pitch of each viseme's tone, in Hertz; what is closed is silent. */
const tones = { aa: 220, E: 262, I: 330, O: 196, U: 175, SS: 880, PP: 0, sil: 0 }

/**
 * Answers a page's socket in the place of the server.
 * @param {import('playwright-core').Page} page
 * @param {object} [options]
 * @param {boolean} [options.sounds] whether the server makes sound
 * @param {Buffer[]} [options.opus] packets of 20 ms that are sent instead, in the order of their time
 * @returns {Promise<{received: {type: string, data: any}[], say: (items: {t: number, v: string}[], words?: any[]) => string, interrupt: (turnId: string) => void, state: (s: string) => void, send: (type: string, data: any) => void}>}
 */
export async function speaking(page, { sounds = true, opus } = {}) {
  const received = []
  let socket, stream = 0
  const timers = new Map()
  const send = (type, data) => socket.send(JSON.stringify({ id: 'x', type, data, t: Date.now() }))
  await page.routeWebSocket(/\/live\//, (ws) => {
    socket = ws
    ws.onMessage((text) => {
      const { type, data } = JSON.parse(text)
      received.push({ type, data, at: Date.now() })
      if (type === 'client-ready') {
        const format = opus ? 'opus' : 'pcm'
        const audio = sounds && data?.audio?.includes(format) ? { format, sampleRate: opus ? 48_000 : rate, channels: 1 } : null
        send('session-ready', { session: { id: 'sess_1', language: 'en' }, resumeToken: 'again', turns: [], audio })
        send('state', { state: 'listening' })
      }
      if (type === 'ping') send('pong')
      if (type === 'interrupt') for (const turnId of timers.keys()) interrupt(turnId)
    })
  })

  /** Says a track of visemes, and what it means in words. */
  function say(items, words = []) {
    const turnId = `turn_${++stream}`
    const own = stream
    const end = items.at(-1).t
    send('state', { state: 'speaking' })
    if (sounds) send('bot-audio', { turnId, stream: own })
    if (sounds) send('visemes', { turnId, items: items.map((item) => ({ w: 1, ...item })) })
    send('bot-text', { turnId, text: words.map(({ text }) => text).join(' '), final: false })
    send('words', { turnId, items: words })
    if (!sounds) return turnId
    const began = Date.now()
    if (opus) {
      opus.forEach((packet, i) => socket.send(Buffer.concat([head(i === opus.length - 1, own, 20 * i), packet])))
      return turnId
    }
    let t = 0, phase = 0
    const more = () => {
      for (; t < end && t < Date.now() - began + ahead; t += frameLength) {
        const last = t + frameLength >= end
        const frame = Buffer.concat([head(last, own, t), Buffer.alloc(2 * rate * frameLength / 1000)])
        for (let i = 0; i < rate * frameLength / 1000; i++) {
          const at = t + 1000 * i / rate
          const { v } = items.findLast((item) => item.t <= at) ?? { v: 'sil' }
          phase += 2 * Math.PI * (tones[v] ?? 150) / rate
          frame.writeInt16LE(tones[v] === 0 ? 0 : Math.round(9000 * Math.sin(phase)), 8 + 2 * i)
        }
        socket.send(frame)
      }
      if (t < end) return
      clearInterval(timers.get(turnId))
      timers.delete(turnId)
      send('bot-text', { turnId, text: '', final: true, sources: [] })
      send('state', { state: 'listening' })
    }
    timers.set(turnId, setInterval(more, 50))
    more()
    return turnId
  }

  function interrupt(turnId) {
    clearInterval(timers.get(turnId))
    timers.delete(turnId)
    send('interrupted', { turnId, spokenText: 'This much.' })
    send('state', { state: 'listening' })
  }

  return { received, say, interrupt, send, state: (state) => send('state', { state }) }
}

/** What a frame of sound begins with. */
function head(last, stream, t) {
  const bytes = Buffer.alloc(8)
  bytes.writeUInt8(1, 0)
  bytes.writeUInt8(last ? 1 : 0, 1)
  bytes.writeUInt16BE(stream, 2)
  bytes.writeUInt32BE(t, 4)
  return bytes
}

/** Words of a text with their times, each as long as is given, in milliseconds. */
export const words = (text, each = 300) => text.split(' ').map((word, i) => ({ t: i * each, d: each - 20, text: word }))

/** A track of vowels and closed lips, in milliseconds. */
export function track(length) {
  const items = [{ t: 0, v: 'sil' }], vowels = ['aa', 'O', 'E', 'aa', 'U', 'aa', 'I']
  for (let t = 200, i = 0; t < length - 400; t += 240, i++) items.push({ t, v: vowels[i % vowels.length] }, { t: t + 150, v: 'PP' })
  return [...items, { t: length - 300, v: 'sil' }, { t: length, v: 'sil' }]
}

/** How much two series go together, from -1 to 1. */
export function correlation(a, b) {
  const mean = (v) => v.reduce((sum, x) => sum + x, 0) / v.length
  const [ma, mb] = [mean(a), mean(b)]
  let ab = 0, aa = 0, bb = 0
  a.forEach((x, i) => { ab += (x - ma) * (b[i] - mb); aa += (x - ma) ** 2; bb += (b[i] - mb) ** 2 })
  return ab / Math.sqrt(aa * bb)
}

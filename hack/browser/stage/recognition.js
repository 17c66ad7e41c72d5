// A service that recognizes speech, with an OpenAI-compatible address: it knows what will
// be said to it. And what is said, as a file for a browser's microphone.

import { Buffer } from 'node:buffer'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { base, call } from './api.js'

/**
 * Serves on loopback. Each recording is understood as the next of the texts, and then as nothing.
 * @returns {Promise<{url: string, expect: (text: string) => void, heard: {language: string, seconds: number, level: number}[], close: () => void}>}
 */
export async function recognition(texts) {
  const left = [...texts], heard = []
  const server = createServer(async (request, answer) => {
    const parts = []
    for await (const part of request) parts.push(part)
    const form = await new Response(Buffer.concat(parts), { headers: { 'Content-Type': request.headers['content-type'] } }).formData()
    const samples = new Int16Array((await form.get('file').arrayBuffer()).slice(44))
    const level = Math.sqrt(samples.reduce((sum, v) => sum + (v / 32768) ** 2, 0) / samples.length)
    heard.push({ language: form.get('language'), seconds: samples.length / 16_000, level })
    answer.setHeader('Content-Type', 'application/json')
    answer.end(JSON.stringify({ text: left.shift() ?? '' }))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    expect: (text) => left.push(text),
    url: `http://127.0.0.1:${server.address().port}/v1`, heard,
    close: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}

/** Writes a file in which somebody is silent for so many seconds, says a text, and is silent again. */
export async function utterance(file, text, before) {
  const voices = await call('GET', '/voices?limit=2')
  const answer = await fetch(`${base}/voices/${voices.at(-1).id}/speak`, {
    method: 'POST', body: JSON.stringify({ text, language: 'en' }),
    headers: { Authorization: `Bearer ${process.env.VISAVIS_KEY}`, 'Content-Type': 'application/json', Accept: 'audio/wav' },
  })
  const wav = Buffer.from(await answer.arrayBuffer())
  const silence = (seconds) => Buffer.alloc(2 * 24_000 * seconds)
  const data = Buffer.concat([silence(before), wav.subarray(44), silence(4)])
  const header = Buffer.from(wav.subarray(0, 44))
  header.writeUInt32LE(36 + data.length, 4)
  header.writeUInt32LE(data.length, 40)
  await writeFile(file, Buffer.concat([header, data]))
}

// Starts a visavis with a folder of its own, runs the tests against it, and ends
// it. The arguments are the files to run; all of them unless given. With --bench it
// measures instead (bench.js).

import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const here = dirname(fileURLToPath(import.meta.url))
const program = join(here, '../../bin/visavis')
const output = join(here, 'output')
/** How long the program may take to be ready, and everything together, in milliseconds. */
const readyWithin = 60_000
const allWithin = 1_200_000

/** Ends a process in order, else at once, and waits for it. */
async function stop(child) {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  const patience = setTimeout(() => child.kill('SIGKILL'), 20_000)
  await ended
  clearTimeout(patience)
}

/** Resolves once a program has greeted, which it does when it serves. */
function ready(child) {
  return new Promise((resolve, reject) => {
    let greeting = ''
    const patience = setTimeout(() => reject(new Error('visavis dev does not become ready')), readyWithin)
    child.once('exit', (code) => reject(new Error(`visavis dev ended with ${code}`)))
    child.stdout.on('data', (text) => {
      greeting += text
      if (!greeting.includes('/preview\n')) return
      clearTimeout(patience)
      resolve()
    })
  })
}

const folder = await mkdtemp(join(tmpdir(), 'visavis-browser-'))
await rm(output, { recursive: true, force: true })
await mkdir(output)
// What a LiveKit server of the tests shows to whoever connects, which must be over TLS.
const [certificate, certificateKey] = ['certificate.pem', 'key.pem'].map((name) => join(folder, name))
execFileSync('openssl', ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2', '-subj', '/CN=127.0.0.1',
  '-addext', 'subjectAltName=IP:127.0.0.1', '-keyout', certificateKey, '-out', certificate], { stdio: 'pipe' })
const dev = spawn(program, ['dev', '--data-dir', folder, '--addr', '127.0.0.1:0', '--admin-addr', '127.0.0.1:0', '--shards', '1',
  // Where the tests' own recognition of speech is.
  '--allow-address', '127.0.0.1/32',
  // The tests are all of a day's visitors behind one address, and make no pause.
  '--address-limit', '6000'], {
  stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, SSL_CERT_FILE: certificate },
})
const log = []
dev.stderr.on('data', (text) => log.push(text))
try {
  await ready(dev)
  const { baseUrl, organizations } = JSON.parse(await readFile(join(folder, 'credentials.json'), 'utf8'))
  const given = process.argv.slice(2)
  const measures = given[0] === '--bench'
  const files = given.length ? given : (await readdir(here)).filter((name) => name.endsWith('_test.js'))
  const what = measures ? [join(here, 'bench.js')] : ['--test', '--test-concurrency=1', '--test-reporter=spec', ...files.map((name) => join(here, name))]
  const tests = spawn(process.execPath, what, {
    stdio: 'inherit', env: {
      ...process.env, VISAVIS_BASE: baseUrl, VISAVIS_MAIL: join(folder, 'mail'), VISAVIS_KEY: organizations[0].keys['2026-10-01'],
      VISAVIS_CERTIFICATE: certificate, VISAVIS_CERTIFICATE_KEY: certificateKey,
    },
  })
  const patience = setTimeout(() => {
    console.error(`the tests are not over after ${allWithin / 1000} s, and are ended`)
    tests.kill('SIGTERM')
  }, allWithin)
  const [code] = await once(tests, 'exit')
  clearTimeout(patience)
  process.exitCode = code ?? 1
} finally {
  await stop(dev)
  await writeFile(join(output, 'visavis.log'), Buffer.concat(log))
  await rm(folder, { recursive: true, force: true })
}

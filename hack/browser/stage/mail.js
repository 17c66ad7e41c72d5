// The mails that the program laid into its folder.

import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { until } from './api.js'

/** The texts of all mails to an address, without the encoding of their lines. */
async function mailsTo(address) {
  const folder = process.env.VISAVIS_MAIL
  const names = await readdir(folder).catch(() => [])
  const texts = await Promise.all(names.filter((name) => name.endsWith('.eml')).map((name) => readFile(join(folder, name), 'utf8')))
  const plain = (text) => text.replace(/=\r\n/g, '').replace(/=3D/g, '=')
  return texts.filter((text) => text.includes(`To: <${address}>`)).map(plain)
}

/** Waits for as many mails to an address, and answers the links in them. */
export async function linksTo(address, count = 1) {
  const mails = await until(() => mailsTo(address), (found) => found.length === count)
  return mails.map((text) => text.match(/https?:\/\/\S+\/link#\S+/)[0])
}

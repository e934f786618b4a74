import { readFileSync } from 'node:fs'
import type { Test } from 'tap'
import { type Dispatcher, request } from 'undici'

interface Step {
  command: string
  /** Answer in the text; undefined if it goes to a file. */
  answer: string | undefined
}

/** Every `curl` line of a text with the comment under it. */
export const tourOf = (file: string): Step[] =>
  [...readFileSync(file, 'utf8').matchAll(/^(curl .*)\n(?:# (.*)\n)?/gm)].map(([, command, answer]) => ({
    command: command!,
    answer,
  }))

/** Sends the requests of the lines to another server, and compares the answers. */
export async function followTour(t: Test, url: string, tour: readonly Step[]): Promise<void> {
  const files = new Map<string, Buffer>()
  for (const { command, answer } of tour) {
    const [, path] = /'http:\/\/127\.0\.0\.1:8080([^']*)'/.exec(command)!
    const file = / --data-binary @(\S+)/.exec(command)?.[1]
    const body = / -d '([^']*)'/.exec(command)?.[1] ?? (file && files.get(file))
    const method = / -X (\w+)/.exec(command)?.[1] ?? (body === undefined ? 'GET' : 'POST')
    // A header with `…` stands for a key that the reader has.
    const given = [...command.matchAll(/ -H '([^:]+): ([^'…]*)'/g)]
    const headers = Object.fromEntries(given.map(([, name, value]) => [name, value]))
    const response = await request(`${url}${path}`, { method: method as Dispatcher.HttpMethod, headers, body })
    const bytes = Buffer.from(await response.body.arrayBuffer())
    files.set(/ -o (\S+)/.exec(command)?.[1] ?? '', bytes)
    if (answer === undefined) t.ok(bytes.length > 0, command)
    else t.match(bytes.toString().replaceAll('\n', '…'), pattern(answer), command)
  }
}

/** `…` stands for anything. */
const pattern = (answer: string): RegExp =>
  new RegExp(
    `^${answer
      .split('…')
      .map(part => part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'))
      .join('[^]*')}`,
  )

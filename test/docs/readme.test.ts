import { existsSync, readFileSync } from 'node:fs'
import t from 'tap'
import { type Dispatcher, request } from 'undici'
import { startDemo } from '../support/demo-server.ts'

const readme = readFileSync('README.md', 'utf8')

interface Step {
  command: string
  /** What the README shows; undefined when the answer goes to a file. */
  answer: string | undefined
}

/** Every `curl` line of the README with the comment under it. */
const tour: Step[] = [...readme.matchAll(/^(curl .*)\n(?:# (.*)\n)?/gm)].map(([, command, answer]) => ({
  command: command!,
  answer,
}))

t.test('the tour of the README answers as it says', async t => {
  t.ok(tour.length > 10)
  const server = await startDemo(t)
  const files = new Map<string, Buffer>()
  for (const { command, answer } of tour) {
    const [, path] = /'http:\/\/127\.0\.0\.1:8080([^']*)'/.exec(command)!
    const file = / --data-binary @(\S+)/.exec(command)?.[1]
    const body = / -d '([^']*)'/.exec(command)?.[1] ?? (file && files.get(file))
    const method = / -X (\w+)/.exec(command)?.[1] ?? (body === undefined ? 'GET' : 'POST')
    const response = await request(`${server.url}${path}`, { method: method as Dispatcher.HttpMethod, body })
    const bytes = Buffer.from(await response.body.arrayBuffer())
    files.set(/ -o (\S+)/.exec(command)?.[1] ?? '', bytes)
    if (answer === undefined) t.ok(bytes.length > 0, command)
    else t.match(bytes.toString(), pattern(answer), command)
  }
})

t.test('every file that the README links to is there', async t => {
  for (const [, target] of readme.matchAll(/\]\(([^)#:]+)\)/g)) t.ok(existsSync(target!), target!)
})

/** `…` stands for anything. */
const pattern = (answer: string): RegExp =>
  new RegExp(
    `^${answer
      .split('…')
      .map(part => part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'))
      .join('[^]*')}`,
  )

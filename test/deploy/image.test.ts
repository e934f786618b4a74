/** The commands of the first stage of the image build a package that serves. Long runs only: they install packages and build. */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import t from 'tap'
import { request } from 'undici'
import { isLong } from '../support/runner/rounds.ts'
import { temporaryFolder } from '../support/base/temporary-folder.ts'
import { modelWith } from '../support/fixtures/model-with.ts'

const ADDRESS = /"url":"(http:[^"]+)"/
const model = modelWith({ Note: {} })

t.test('the image', { skip: isLong ? false : 'it is built in long runs' }, async t => {
  const folder = temporaryFolder(t)
  const tracked = execFileSync('git', ['ls-files', '-z'], { encoding: 'utf8' }).split('\0').filter(Boolean)
  for (const file of tracked) cpSync(file, join(folder, file))

  const [, stage] = /^FROM \S+ AS build\n(.*?)^FROM /ms.exec(readFileSync('config/deploy/Dockerfile', 'utf8'))!
  const commands = stage!.replaceAll('\\\n', '').match(/^RUN .*/gm)!
  t.equal(commands.length, 3)
  for (const command of commands) {
    execFileSync('sh', ['-ec', command.slice('RUN '.length)], { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] })
  }

  writeFileSync(join(folder, 'model.json'), JSON.stringify(model))
  const words = ['start', '--model', 'model.json', '--data', 'store', '--port', '0']
  const server = spawn(process.execPath, [join(folder, 'package/dist/kernel/cli/main.js'), ...words], { cwd: folder })
  const ended = once(server, 'exit')
  t.teardown(() => server.kill('SIGKILL'))
  let url: string | undefined
  for await (const line of createInterface(server.stdout)) {
    url = ADDRESS.exec(line)?.[1]
    if (url !== undefined) break
  }
  for (const [method, path] of [
    ['POST', '/rest/Note?$method=update'],
    ['GET', '/rest/Note(1)'],
    ['GET', '/docs/'],
    ['GET', '/rest/$client'],
  ] as const) {
    const answer = await request(`${url}${path}`, { method, body: method === 'POST' ? '{"ID":1}' : null })
    await answer.body.dump()
    t.equal(answer.statusCode, 200, path)
  }
  server.kill('SIGTERM')
  t.same(await ended, [0, null])
})

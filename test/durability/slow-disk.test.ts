import { execFileSync, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { survey, withLog } from './world.ts'

/**
 * The library that delays a sync, or the reason why it cannot be used here. LD_PRELOAD separates paths by blanks, so it has the name
 * alone, and the folder is that of the process.
 */
function compile(folder: string): { preload: string } | { missing: string } {
  if (process.platform !== 'linux') return { missing: 'libraries are preloaded on Linux only' }
  try {
    const source = join(process.cwd(), 'test/durability/slow-disk.c')
    execFileSync('cc', ['-shared', '-fPIC', '-o', 'slow-disk.so', source, '-ldl'], { cwd: folder, stdio: 'pipe' })
    return { preload: './slow-disk.so' }
  } catch (error) {
    return { missing: `there is no C compiler (cc): ${(error as Error).message.split('\n')[0]}` }
  }
}

t.test('a disk that hangs for longer than the stall watch waits loses no answer and no process', async t => {
  const path = t.testdir()
  const compiled = compile(path)
  if ('missing' in compiled) {
    t.pass(`skipped: ${compiled.missing}`)
    return
  }
  const child = fork(fileURLToPath(new URL('slow-disk.child.js', import.meta.url)), [join(path, 'store')], {
    silent: true,
    cwd: path,
    env: {
      ...process.env,
      LD_PRELOAD: compiled.preload,
      SLOW_SYNC_FILE: join(path, 'hang'),
      SLOW_SYNC_MS: '3000',
    },
  })
  let output = ''
  child.stdout!.on('data', data => {
    output += data
  })
  child.stderr!.on('data', data => {
    output += data
  })
  const [code] = await once(child, 'exit')
  t.same(output.trim().split('\n'), [
    'the disk of the store has not answered a commit for 800 ms; reading goes on, writes are refused until it does',
    'WRITER.DISK_SILENT 10',
    'the writer goes on after n ms, and takes writes again',
    'hanging and waiting 1 2',
    'after 3',
    'closed',
  ])
  t.equal(code, 0)
  const { stamps, problems } = await survey(join(path, 'store'))
  t.same([...stamps.keys()].sort(), ['Bern', 'Oslo', 'Rome', 'Wien'])
  t.same(problems, [])
})

t.test('with a log, a failing disk is answered with 503, and nothing that was acknowledged is lost', async t => {
  const path = t.testdir()
  const compiled = compile(path)
  if ('missing' in compiled) {
    t.pass(`skipped: ${compiled.missing}`)
    return
  }
  const child = fork(fileURLToPath(new URL('failing-disk.child.js', import.meta.url)), [join(path, 'store')], {
    silent: true,
    cwd: path,
    env: { ...withLog(true), LD_PRELOAD: compiled.preload, FAILING_SYNC_FILE: join(path, 'failing') },
  })
  let output = ''
  for (const stream of [child.stdout!, child.stderr!]) {
    stream.on('data', data => {
      output += data
    })
  }
  await once(child, 'exit')
  const refused = 'logged: Error: EIO: i/o error, fdatasync'
  const answer = (name: string) => `${name} 503 `
  const lines = output
    .trim()
    .split('\n')
    .map(line => line.replace(/^(\w+ 503 ).*full or failing.*/, '$1'))
  t.same(lines, [
    ...[refused, answer('Oslo'), refused, answer('Rome')],
    ...['Bern written', 'Oslo written'],
    ...[refused, answer('Wien')],
    'closed',
  ])
  const { stamps, problems } = await survey(join(path, 'store'))
  t.same([...stamps.keys()].sort(), ['Bern', 'Oslo'])
  t.same(problems, [])
})

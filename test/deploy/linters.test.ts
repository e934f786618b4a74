/** The production files pass the linters of the programs that read them, where these are installed, and match their schemas. */
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import t, { type Test } from 'tap'
import { configuration } from '../support/servers/nginx.ts'
import { needs, programOf } from '../support/base/programs.ts'
import { temporaryFolder } from '../support/base/temporary-folder.ts'

const FOLDER = resolve('config/deploy')
const read = (name: string) => readFileSync(join(FOLDER, name), 'utf8')

/** Runs a linter with a folder of the test as its home. @returns its output */
function passes(t: Test, program: string, ...words: string[]): string {
  const env = { PATH: process.env.PATH, HOME: temporaryFolder(t), NO_COLOR: '1' }
  const { status, stdout, stderr } = spawnSync(programOf(program)!, words, { encoding: 'utf8', env })
  t.equal(status, 0, `${program} ${words[0]}: ${stdout}${stderr}`)
  return `${stdout}${stderr}`
}

t.test('systemd', needs('systemd-analyze'), async t => {
  const unit = join(temporaryFolder(t), 'tesser.service')
  // A program that exists on this machine.
  writeFileSync(unit, read('tesser.service').replace('/usr/bin/node', process.execPath))
  t.equal(passes(t, 'systemd-analyze', 'verify', unit), '', 'verify finds nothing')
  const [, version] = /^systemd (\d+)/.exec(passes(t, 'systemd-analyze', '--version'))!
  const skip = Number(version) < 250 && `systemd ${version} rates no unit that is not installed`
  t.test('its rating', { skip }, async t => {
    // In tenths.
    const rated = passes(t, 'systemd-analyze', 'security', '--no-pager', '--offline=true', '--threshold=25', unit)
    t.match(rated, /exposure level for tesser\.service: [12]\.\d/)
  })
})

t.test('nginx', needs('nginx'), async t => {
  const folder = temporaryFolder(t)
  const file = join(folder, 'nginx.conf')
  writeFileSync(file, configuration(folder, 8080, { redirect: 8081, tls: 8082, plain: 8083 }))
  passes(t, 'nginx', '-t', '-e', 'stderr', '-c', file)
})

t.test('caddy', needs('caddy'), async t => {
  passes(t, 'caddy', 'validate', '--adapter', 'caddyfile', '--config', join(FOLDER, 'Caddyfile'))
})

t.test('promtool', needs('promtool'), async t => {
  const folder = temporaryFolder(t)
  for (const name of ['prometheus.yml', 'alerts.yml']) writeFileSync(join(folder, name), read(name))
  passes(t, 'promtool', 'check', 'config', join(folder, 'prometheus.yml'))
  passes(t, 'promtool', 'check', 'rules', join(folder, 'alerts.yml'))
})

interface Linters {
  // biome-ignore lint/suspicious/noExplicitAny: files of every shape
  readYaml(text: string): any[]
  promqlProblems(expression: string): string[]
  dockerfileProblems(text: string): string[]
  composeProblems(file: object): string[]
  kubernetesProblems(object: object): Promise<string[]>
}

const isInstalled = existsSync('test/deploy/node_modules/installed-lock.json')
const skip = isInstalled ? false : 'linters of npm are not installed: node test/deploy/install.mjs'
t.test('linters of npm', { skip }, async t => {
  const linters: Linters = await import(pathToFileURL(resolve('test/deploy/linters.mjs')).href)
  const { readYaml, promqlProblems, dockerfileProblems, composeProblems, kubernetesProblems } = linters

  t.test('expressions of Prometheus', async t => {
    const rules = readYaml(read('alerts.yml'))[0].groups.flatMap(({ rules }: { rules: { expr: string }[] }) => rules)
    const dashboard = JSON.parse(read('grafana-dashboard.json'))
    const targets = dashboard.panels.flatMap(({ targets = [] }: { targets?: { expr: string }[] }) => targets)
    const expressions: string[] = [...rules, ...targets].map(({ expr }) => expr)
    t.ok(rules.length > 10 && targets.length > 20)
    t.same(expressions.flatMap(promqlProblems), [])
    t.match(promqlProblems('sum by (le (rate(x[5m]))'), [/is wrong at 11/])
  })

  t.test('the image', async t => {
    t.same(dockerfileProblems(read('Dockerfile')), [])
    t.match(dockerfileProblems('FROM x\nRUNN y'), [/line 2: Unknown instruction/])
  })

  t.test('compose', async t => {
    const [file] = readYaml(read('compose.yaml'))
    t.same(composeProblems(file), [])
    const mounted = Object.values<{ volumes?: string[] }>(file.services).flatMap(({ volumes = [] }) => volumes)
    const files = mounted
      .map(volume => volume.split(':')[0]!)
      .filter(path => path.startsWith('./') && path !== './tesser')
    t.ok(files.length >= 5)
    for (const path of files) t.ok(existsSync(join(FOLDER, path)), path)
    file.services.tesser.memory = '8g'
    t.match(composeProblems(file), [/tesser must NOT have additional properties/])
  })

  t.test('the files for Grafana and Prometheus fit together', async t => {
    const { services } = readYaml(read('compose.yaml'))[0]
    const port = services.tesser.environment.TESSER_METRICS_PORT
    t.same(readYaml(read('prometheus.yml'))[0].scrape_configs, [
      { job_name: 'tesser', static_configs: [{ targets: [`tesser:${port}`] }] },
    ])
    const [{ path }] = readYaml(read('grafana/dashboards.yaml'))[0].providers.map(
      (each: { options: object }) => each.options,
    )
    t.ok(services.grafana.volumes.some((volume: string) => volume.startsWith(`./grafana-dashboard.json:${path}/`)))
    t.match(readYaml(read('grafana/datasources.yaml'))[0].datasources, [
      { type: 'prometheus', url: 'http://prometheus:9090' },
    ])
  })

  t.test('Kubernetes', async t => {
    const objects = readYaml(read('kubernetes.yaml'))
    t.same(
      objects.map(({ kind }) => kind),
      ['ConfigMap', 'Service', 'StatefulSet'],
    )
    for (const object of objects) t.same(await kubernetesProblems(object), [], object.kind)
    const [, service] = objects
    service.spec.ports[0].targetPorts = 'http'
    t.match(await kubernetesProblems(service), [/'"targetPorts"' does not exist/])
    service.spec.ports = 80
    t.ok((await kubernetesProblems(service)).length > 1, 'by its type and by its schema')
  })
})

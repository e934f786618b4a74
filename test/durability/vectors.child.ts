/** A server that uses its indexes of vectors whatever they cost: sends its port. */
import { join } from 'node:path'
import { loadConfig } from '../../config/load-config.ts'
import { readParts, startServer } from '../../kernel/main.ts'
import { ModuleBundler } from '../../kernel/module-bundler.ts'

const [folder] = process.argv.slice(2) as [string]
const config = loadConfig({ file: join(folder, 'tesser.config.json'), env: {}, flags: {} })
const { engine, ...parts } = await readParts(config, new ModuleBundler())
const server = await startServer({
  ...parts,
  engine: { ...engine, vectorIndex: { ...engine.vectorIndex!, always: true } },
})
server.engine.warmUp()

process.on('message', async () => {
  await server.close()
  process.disconnect()
})
process.send!(server.port)

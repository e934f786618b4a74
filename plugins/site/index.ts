import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { definePlugin, Type } from '../../kernel/api.ts'

/**
 * Your own web app, as its bundler has built it, served next to the data that it shows:
 *
 *   "plugins": [{ "plugin": "tesser/plugins/site", "options": { "folder": "./web/dist" } }]
 *
 *   GET /app/                →  index.html
 *   GET /app/assets/main.js  →  the file
 *   GET /app/orders/17       →  index.html, for a browser that opens a page; 404 for everything else
 *
 * `folder` is relative to the folder of the config file. Its files are read at the start (64 MiB at most); a new version of the app is
 * served after a restart. `path` is the address of the app, `/` for the whole server: `/rest`, `/explorer/` and the addresses of other
 * plugins remain theirs. The app must be built for this path, with `server.basePath` before it (`base` of Vite). With `"fallback": false`
 * unknown paths are 404 for browsers, too. `policy` is the `Content-Security-Policy` of all files, by default scripts, styles, images and
 * data of this server only, nothing inline. Every client may read the files: they must hold no secrets.
 */
export default definePlugin({
  name: 'site',
  kernel: '^1.0.0',
  options: Type.Object({
    folder: Type.String({ minLength: 1 }),
    path: Type.String({ default: '/app/', pattern: '^/(?!rest/)(?:(?!\\.{1,2}/)[A-Za-z0-9._~-]+/)*$' }),
    fallback: Type.Boolean({ default: true }),
    policy: Type.Optional(Type.String({ pattern: '^[ -~]+$' })),
  }),
  register: ({ assets, configFolder }, { folder, path, fallback, policy }) =>
    assets(path as '/', pathToFileURL(`${resolve(configFolder, folder)}/`), { fallback, policy }),
})

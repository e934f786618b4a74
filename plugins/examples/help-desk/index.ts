import { definePlugin, json, Type, verifyWebhook, webhookSecretProblem } from 'tesser'

/** A help desk: tickets with comments and files, mails in and out, search by meaning, and a page. */
export default definePlugin({
  name: 'tesser-example-help-desk',
  kernel: '^1.0.0',
  options: Type.Object({
    /** Server that sends mails. */
    smtp: Type.Object({
      host: Type.String(),
      port: Type.Integer({ default: 587 }),
      secure: Type.Boolean({ default: false }),
      user: Type.String(),
      password: Type.String(),
    }),
    /** Sender of all mails, and recipient of the announcements of tickets. */
    address: Type.String(),
    agents: Type.String(),
    /** Secrets with which the gateway signs incoming mails: the current one, and the previous one while it is being replaced. */
    mailSecrets: Type.Array(Type.String(), { minItems: 1 }),
  }),
  classes: ['tickets', 'comments', 'mails', 'gateway'].map(name => new URL(`./${name}.ts`, import.meta.url)),
  async register(scope, { mailSecrets }) {
    // At the start, not when the first mail comes.
    const problem = mailSecrets.map(webhookSecretProblem).find(Boolean)
    if (problem) throw new Error(`option mailSecrets: one of them ${problem}`)

    await scope.assets('/desk/', new URL('./page/', import.meta.url))

    scope.route(
      '/hooks/mail',
      { verbs: ['POST'], bodyBytes: 1_000_000, doc: 'Takes mails from the gateway.' },
      async request => {
        const body = await request.body()
        const event = verifyWebhook({ secret: mailSecrets }, name => request.header(name), body)
        return json(await scope.call('Gateway.receive', [request.header('webhook-id'), event], { as: 'plugin' }))
      },
    )
  },
})

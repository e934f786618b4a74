const byId = id => document.getElementById(id)

/** The client for this user; a guest gets none, so it is loaded after the login. */
let db
let shown

async function ask(path, body) {
  const answer = await fetch(`/rest/$directory/${path}`, body && { method: 'POST', body: JSON.stringify(body) })
  if (!answer.ok)
    throw new Error(answer.status === 401 ? 'The user name or the password is wrong.' : await answer.text())
  return (await answer.json()).result
}

async function start() {
  const { createClient } = await import('/rest/$client/client.js')
  db = createClient()
  const { user, privileges } = await db.$session.whoami()
  byId('user').textContent = user?.userName ?? ''
  byId('internal').hidden = !privileges.includes('serve')
  byId('open').hidden = privileges.includes('serve')
  byId('desk').hidden = byId('logout').hidden = false
  await listTickets()
}

async function listTickets(text = '') {
  const tickets = text
    ? (await db.Ticket.call('search', [text])).entities
    : await db.Ticket.all.select('number', 'subject', 'status').orderBy('number desc').list()
  byId('tickets').replaceChildren(...tickets.map(itemOf))
}

function itemOf({ number, subject, status }) {
  const button = element('button', `#${number} ${subject} (${status})`)
  button.type = 'button'
  button.addEventListener('click', () => act(() => showTicket(number)))
  return element('li', button)
}

async function showTicket(number) {
  const [ticket, comments, files] = await Promise.all([
    db.Ticket.get(number, ['number', 'subject', 'text', 'status', 'assignee']),
    db.Comment.query`ticket.number = ${number}`.select('text', 'author', 'internal').orderBy('created').list(),
    db.Attachment.query`ticket.number = ${number}`.select('name', 'content').orderBy('ID').list(),
  ])
  shown = number
  byId('ticket').hidden = false
  byId('subject').textContent = `#${number} ${ticket.subject}`
  byId('state').textContent = `${ticket.status}, ${ticket.assignee ?? 'not assigned'}`
  byId('text').textContent = ticket.text
  byId('comments').replaceChildren(...comments.map(commentOf))
  byId('files').replaceChildren(...files.map(fileOf))
}

function commentOf({ text, author, internal }) {
  const item = element('li', element('strong', internal ? `${author}, for agents alone` : author), element('p', text))
  if (internal) item.className = 'internal'
  return item
}

function fileOf({ name, content }) {
  const link = element('a', name)
  link.href = content.url
  link.download = name
  return element('li', link)
}

/** Texts stay texts: nothing that a customer writes becomes HTML. */
function element(name, ...content) {
  const made = document.createElement(name)
  made.append(...content)
  return made
}

/** Runs an action, and shows why it has failed. */
async function act(action) {
  byId('message').textContent = ''
  try {
    await action()
  } catch (error) {
    byId('message').textContent = error.message
  }
}

const onSubmit = (id, action) =>
  byId(id).addEventListener('submit', event => {
    event.preventDefault()
    const form = event.target
    act(() => action(new FormData(form), form))
  })

onSubmit('login', async fields => {
  await ask('login', [fields.get('user'), fields.get('password')])
  byId('login').hidden = true
  await start()
})
onSubmit('search', fields => listTickets(fields.get('text')))
onSubmit('open', async (fields, form) => {
  const { number } = await db.Ticket.call('open', [fields.get('subject'), fields.get('text')])
  form.reset()
  await Promise.all([listTickets(), showTicket(number)])
  byId('subject').focus()
})
onSubmit('reply', async (fields, form) => {
  await db.Ticket.at(shown).call('reply', [fields.get('text'), fields.has('internal')])
  form.reset()
  await Promise.all([listTickets(), showTicket(shown)])
})
onSubmit('attach', async (fields, form) => {
  const file = fields.get('file')
  const content = await db.$upload(file, { image: false })
  await db.Attachment.create({ name: file.name, content, ticket: { __KEY: String(shown) } })
  form.reset()
  await showTicket(shown)
})
byId('close').addEventListener('click', () =>
  act(async () => {
    await db.Ticket.at(shown).call('close', [])
    await Promise.all([listTickets(), showTicket(shown)])
  }),
)
byId('logout').addEventListener('click', () =>
  act(async () => {
    await ask('logout', [])
    location.reload()
  }),
)

await act(async () => {
  if (await ask('currentUser')) await start()
  else byId('login').hidden = false
})

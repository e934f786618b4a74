// The server writes this module for the user of the session: nothing is built and nothing installed.
import { createClient, imageUrl, ValidationError } from '/rest/$client/client.js'

const db = createClient()
const byId = id => document.getElementById(id)
const fieldOf = (form, name) => new FormData(form).get(name)

let running = new AbortController()

async function search() {
  // An earlier search is of no interest now.
  running.abort()
  running = new AbortController()
  const { count, entities } = await db.City.query`country.name = ${fieldOf(byId('search'), 'country')}`
    .select('name', 'country.name', 'country.flag', 'country.region.name')
    .orderBy('name')
    .top(20)
    .page({ signal: running.signal })
  byId('count').textContent = `${count} cities`
  byId('cities').replaceChildren(...entities.map(itemOf))
}

function itemOf({ name, country }) {
  const item = document.createElement('li')
  if (country?.flag) {
    const flag = document.createElement('img')
    flag.src = imageUrl(country.flag, { height: 16 })
    flag.alt = ''
    item.append(flag, ' ')
  }
  item.append(`${name}, ${country?.region?.name}`)
  return item
}

async function create() {
  try {
    const genre = await db.Genre.create({ name: fieldOf(byId('genre'), 'name') || null })
    byId('outcome').textContent = `${genre.name} has the number ${genre.ID}`
  } catch (error) {
    if (!(error instanceof ValidationError)) throw error
    byId('outcome').textContent = error.byAttribute.name
  }
}

const onSubmit = (id, act) =>
  byId(id).addEventListener('submit', event => {
    event.preventDefault()
    act().catch(error => {
      if (error.name !== 'AbortError') byId('outcome').textContent = error.message
    })
  })
onSubmit('search', search)
onSubmit('genre', create)
await search()

import { useState } from 'react'
import type { createClient } from './client.ts'
import { useEntities } from './hooks.ts'

export type Db = ReturnType<typeof createClient>

/** Films of a director, found while the name is typed. */
export function Films({ db }: { db: Db }) {
  const [name, setName] = useState('Kurosawa')
  const query = db.Movie.query`director.name = ${`@${name}@`}`
    .select('title', 'releaseDate', 'director.name', 'genre.name')
    .orderBy('releaseDate')
    .top(10)
  const { data = [], error } = useEntities(query)
  return (
    <section aria-label="Films">
      <h2>Films</h2>
      <label>
        Director <input value={name} onChange={event => setName(event.target.value)} />
      </label>
      {error && <p role="alert">{error.message}</p>}
      <ul>
        {data.map(({ __KEY, title, releaseDate, director }) => (
          <li key={__KEY}>
            {title} ({director?.name}
            {releaseDate && `, ${releaseDate.slice(0, 4)}`})
          </li>
        ))}
      </ul>
    </section>
  )
}

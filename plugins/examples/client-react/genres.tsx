import { type FormEvent, useState } from 'react'
import { type Entity, ValidationError } from './client.ts'
import type { Db } from './films.tsx'
import { useEntities, useWrite } from './hooks.ts'

type Genre = Entity<'Genre', 'name'>

/** A list whose entries can be renamed; shows conflicts with changes of other clients. */
export function Genres({ db }: { db: Db }) {
  const { data = [] } = useEntities(db.Genre.all.select('name').orderBy('name'))
  const [edited, setEdited] = useState<Genre>()
  const save = useWrite('Genre', (genre: Genre) => db.Genre.save(genre))
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    if (edited) save.mutate(edited, { onSuccess: () => setEdited(undefined) })
  }
  const { error } = save
  return (
    <section aria-label="Genres">
      <h2>Genres</h2>
      <ul>
        {data.map(genre => (
          <li key={genre.__KEY}>
            {genre.name}{' '}
            <button type="button" onClick={() => setEdited(genre)}>
              Rename {genre.name}
            </button>
          </li>
        ))}
      </ul>
      {edited && (
        <form onSubmit={submit}>
          <label>
            Name <input value={edited.name} onChange={event => setEdited({ ...edited, name: event.target.value })} />
          </label>
          <button type="submit">Save</button>
          {error instanceof ValidationError && <p role="alert">{error.byAttribute.name}</p>}
          {db.Genre.isConflict(error) && (
            <p role="alert">
              It is called {error.current.name} now.{' '}
              <button type="button" onClick={() => setEdited({ ...error.current, name: edited.name })}>
                Rename it all the same
              </button>
            </p>
          )}
        </form>
      )}
    </section>
  )
}

import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { createRoot } from 'react-dom/client'
import { createClient } from './client.ts'
import { Films } from './films.tsx'
import { Genres } from './genres.tsx'

const db = createClient('/rest')

// The client itself repeats requests that are worth repeating.
const queries = new QueryClient({ defaultOptions: { queries: { retry: false } } })

createRoot(document.getElementById('root')!).render(
  <QueryClientProvider client={queries}>
    <Genres db={db} />
    <Films db={db} />
  </QueryClientProvider>,
)

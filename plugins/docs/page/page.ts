/** Search box of the documents, the only part of the pages that needs scripts. */
import MiniSearch, { type SearchResult } from 'minisearch'
import './page.css'
import { SEARCH } from './search-options.mjs'

const MAX_RESULTS = 20

const { root = './', index = '' } = document.body.dataset
const input = document.querySelector<HTMLInputElement>('#search')!
const list = document.querySelector<HTMLOListElement>('#results')!
const found = document.querySelector<HTMLElement>('#found')!

let loading: Promise<MiniSearch> | undefined
/** Loads the index once, when the search box is first used. */
function load(): Promise<MiniSearch> {
  loading ??= fetch(index)
    .then(response => response.text())
    .then(text => MiniSearch.loadJSON(text, SEARCH))
  return loading
}

/** Sections with all words, or else with some of them. */
function find(index: MiniSearch, text: string): SearchResult[] {
  const results = index.search(text)
  return results.length > 0 ? results : index.search(text, { combineWith: 'OR' })
}

async function search(): Promise<void> {
  const text = input.value.trim()
  const results = text === '' ? [] : find(await load(), text)
  // Another character may have been typed meanwhile.
  if (text !== input.value.trim()) return
  list.replaceChildren(...results.slice(0, MAX_RESULTS).map(itemOf))
  list.hidden = results.length === 0
  found.textContent = text === '' ? '' : results.length === 1 ? '1 place' : `${results.length} places`
}

function itemOf(result: SearchResult): HTMLLIElement {
  const link = document.createElement('a')
  link.href = root + result.id
  const title = document.createElement('strong')
  title.textContent = result.title
  const page = document.createElement('small')
  page.textContent = result.page
  const excerpt = document.createElement('span')
  excerpt.textContent = result.excerpt
  link.append(title, page, excerpt)
  const item = document.createElement('li')
  item.append(link)
  return item
}

/** Moves the focus between the box and the results. */
function move(step: number): void {
  const stops = [input, ...list.querySelectorAll('a')]
  const at = stops.indexOf(document.activeElement as HTMLInputElement)
  stops[Math.min(stops.length - 1, Math.max(0, at + step))]?.focus()
}

function close(): void {
  input.value = ''
  void search()
}

input.addEventListener('focus', () => void load())
input.addEventListener('input', () => void search())
list.addEventListener('click', close)
document.addEventListener('keydown', event => {
  const isInside = input === document.activeElement || list.contains(document.activeElement)
  if (event.key === '/' && !isInside && !event.ctrlKey && !event.metaKey) input.focus()
  else if (event.key === 'Escape' && isInside) close()
  else if (event.key === 'ArrowDown' && isInside) move(1)
  else if (event.key === 'ArrowUp' && isInside) move(-1)
  else if (event.key === 'Enter' && input === document.activeElement) list.querySelector('a')?.click()
  else return
  event.preventDefault()
})

/** Loads the languages that the installation adds to the page. They are files next to it, not data. */
import { readAnswer, respond } from './rest.ts'
import { offerLanguages, type Text } from './texts.ts'

export async function loadLanguages(): Promise<void> {
  const names = await load<Record<string, string>>('languages.json')
  if (Object.keys(names).length > 0) offerLanguages(names, code => load<Record<string, Text>>(`languages/${code}.json`))
}

async function load<Content>(file: string): Promise<Content> {
  const response = await respond(file)
  return readAnswer(response, await response.text()) as Content
}

import { chooseLanguage, language, languages } from '../base/texts.ts'
import { SessionMenu } from './session-menu.tsx'
import { chooseTheme, THEMES, theme } from './theme.ts'
import { text } from './texts.ts'

export function Header() {
  return (
    <header class="top">
      <a class="home" href="#/">
        Tesser
      </a>
      <span class="gap" />
      <select
        aria-label={text('theme')}
        value={theme.value}
        onChange={({ currentTarget }) => chooseTheme(currentTarget.value)}
      >
        {THEMES.map(each => (
          <option key={each} value={each}>
            {text(each)}
          </option>
        ))}
      </select>
      <select
        aria-label={text('language')}
        value={language.value}
        onChange={({ currentTarget }) => chooseLanguage(currentTarget.value)}
      >
        {Object.entries(languages.value).map(([code, name]) => (
          <option key={code} value={code} lang={code}>
            {name}
          </option>
        ))}
      </select>
      <a href="../docs/">{text('documents')}</a>
      <SessionMenu />
    </header>
  )
}

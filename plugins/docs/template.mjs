/** HTML page of a document. */
export function documentOf({ title, html, links, headings, root, script, style, index }) {
  const navigation = links
    .map(({ name, pages }) => `<h2>${escaped(name)}</h2><ul>${pages.map(linkItem).join('')}</ul>`)
    .join('\n')
  const contents = headings
    .filter(({ depth }) => depth === 2 || depth === 3)
    .map(({ id, depth, title }) => `<li class="depth-${depth}"><a href="#${id}">${escaped(title)}</a></li>`)
    .join('')
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)} · Tesser</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${style}">
<script type="module" src="${script}"></script>
</head>
<body data-root="${root}" data-index="${index}">
<a class="skip" href="#content">To the text</a>
<header>
<a class="home" href="${root}index.html">Tesser</a>
<search><label for="search">Search</label><input id="search" type="search" placeholder="Search ( / )" autocomplete="off" spellcheck="false"
 aria-controls="results" aria-describedby="found"><p id="found" role="status"></p><ol id="results" hidden></ol></search>
</header>
<nav class="pages" aria-label="Documents">${navigation}</nav>
<main id="content" tabindex="-1">${html}</main>
<nav class="contents" aria-label="On this page">${contents && `<h2>On this page</h2><ul>${contents}</ul>`}</nav>
</body>
</html>
`
}

const linkItem = ({ title, href, isCurrent }) =>
  `<li><a href="${href}"${isCurrent ? ' aria-current="page"' : ''}>${escaped(title)}</a></li>`

const ENTITIES = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }
export const escaped = text => text.replace(/[&<>"]/g, sign => ENTITIES[sign])

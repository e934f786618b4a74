import type { Scenarios } from '../harness.ts'

/** Views, each with a part that is present when the view is complete. */
const VIEWS: readonly (readonly [place: string, sign: string])[] = [
  ['', 'main h1'],
  ['City', 'td'],
  ['Country?columns=name,flag,info,region,borders', 'td img'],
  ['Passage', 'td svg'],
  ['City?filter=nme+%3D+1', '.fault'],
  ['Country?entity=IS', 'aside h2'],
  ['Country?entity=IS&edit=1', 'aside form'],
  ['Country?edit=new', 'aside form[aria-label="New Country"]'],
  ['Movie?tab=chart&chart=imdbRating', 'canvas, svg'],
  ['Country?tab=chart&chart=$map', '.map canvas'],
  ['City?tab=plan&filter=country.name+%3D+France', 'main ol, main svg'],
  ['$model', 'main svg'],
]

/** Accessibility errors, and views on a narrow screen. */
export const access: Scenarios = {
  'narrow screens do not scroll sideways': {
    context: { viewport: { width: 360, height: 740 } },
    run: async ({ page, open, sees, settled, t, expect }) => {
      expect(/status of 404.*\$filter/)
      for (const [place, sign] of VIEWS) {
        await open(place)
        await sees(page.locator(sign))
        await settled()
        t.equal(await page.evaluate('document.documentElement.scrollWidth'), 360, place)
      }
    },
  },
  'no view has an error': async ({ page, open, sees, settled, accessible, expect }) => {
    expect(/status of 404.*\$filter/)
    for (const [place, sign] of VIEWS) {
      await open(place)
      await sees(page.locator(sign))
      await settled()
      await accessible()
    }
  },
}

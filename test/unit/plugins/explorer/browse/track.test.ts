import fc from '../../../../support/runner/fast-check.ts'
import t from 'tap'
import { MAX_HEIGHT, Track } from '../../../../../plugins/explorer/page/browse/track.ts'

t.test('a list that fits scrolls with the bar', async t => {
  const track = new Track(10_000, 500)
  track.moveBar(7_000)
  t.equal(track.top, 7_000)
  t.equal(track.shift, 0)
  t.equal(track.moveTo(20_000), 9_500, 'not beyond its end')
})

t.test('a list that is higher than an element may be', async t => {
  const height = 28_000_000
  const track = new Track(height, 600)
  t.equal(track.barHeight, MAX_HEIGHT)

  track.moveBar(300)
  t.equal(track.top, 300, 'a step of the bar is the same step of the list')
  track.moveBar(MAX_HEIGHT / 2)
  t.ok(Math.abs(track.top - height / 2) < 1_000, 'a drag scrolls to the same share')
  const { top } = track
  track.moveBar(MAX_HEIGHT / 2 + 120)
  t.equal(track.top, top + 120)
  track.moveBar(MAX_HEIGHT - 600)
  t.equal(track.top, height - 600, 'the ends are the ends')
  track.moveBar(0)
  t.equal(track.top, 0)
})

t.test('a position has a place of the bar that leads back to it', async () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 2 ** 36 }),
      fc.integer({ min: 0, max: 2_000 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (height, view, share) => {
        const track = new Track(height, view)
        const target = Math.floor(share * Math.max(0, height - view))
        const bar = track.moveTo(target)
        track.moveBar(bar)
        const isAtEnd = bar <= 0 || bar >= track.barHeight - view
        return bar >= 0 && bar <= track.barHeight && (track.top === target || isAtEnd)
      },
    ),
  )
})

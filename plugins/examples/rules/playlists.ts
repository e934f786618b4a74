import { ds, Entity, event } from 'tesser/classes'

export class TrackEntity extends Entity('Track') {
  /** Adds the track to the count of its playlist, and removes it from the count of its previous playlist. */
  @event('saving') count() {
    const before = this.isNew() ? null : ds.Track.get(this.ID)
    if (before) add(before.playlistID, -1, -before.seconds)
    add(this.playlistID, 1, this.seconds)
  }

  @event('dropping') uncount() {
    add(this.playlistID, -1, -this.seconds)
  }
}

function add(playlistID: number | null, count: number, seconds: number): void {
  const playlist = playlistID === null ? null : ds.Playlist.get(playlistID)
  // The save of the track is refused if it names none that exists.
  if (!playlist) return
  playlist.trackCount += count
  playlist.seconds += seconds
  playlist.saveOrThrow()
}

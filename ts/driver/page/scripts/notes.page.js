/** Gives what `aim` has noted since, as the text of a JSON object, and lets go of the page where asked to. */
function notes(given) {
  const aim = globalThis.backlotAim
  if (aim === undefined) return 'null'
  const noted = JSON.stringify(aim.notes())
  if (JSON.parse(given).stop) {
    aim.stop()
    delete globalThis.backlotAim
  }
  return noted
}

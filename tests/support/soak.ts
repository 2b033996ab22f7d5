/** How much a soak group does: its usual numbers, which fit in a few minutes, times the factor of `--soak-scale`. */

const most = 1000

/** The factor that the variable `BACKLOT_SOAK_SCALE` holds; without it 1. */
export const scaleOf = (env: Readonly<Record<string, string | undefined>>): number => {
  const { BACKLOT_SOAK_SCALE: text } = env
  if (text === undefined || text === '') return 1
  const scale = Number(text)
  if (scale > 0 && scale <= most) return scale
  throw new Error(`BACKLOT_SOAK_SCALE is "${text}"; give a number above 0 and up to ${most}`)
}

const scale = scaleOf(process.env)

/** How often a group does what it usually does `usual` times: at least once. */
export const rounds = (usual: number): number => Math.max(1, Math.round(usual * scale))

/** The time limit in milliseconds of a test whose usual one is `usual`; smaller numbers do not shorten it. */
export const limitMs = (usual: number): number => usual * Math.max(1, scale)

/**
 * Which failed tests are tried a second time, and how.
 *
 * Tests here use real servers, window managers and applications; on a loaded machine one of them is now and then too
 * late. Such a test is run once more by itself and counts as passed if it passes then; the run names it as flaky, so
 * that it is seen and mended. Many failures at once are no such accident and are not tried again, nor are soak tests
 * and tests without real parts.
 */
import type { BunStep } from './plan.ts'

/** With more failures than this nothing is tried again. */
export const mostFlaky = 4

/** The names of tests that failed, and the commands that run just them, one for each test program that had any. */
export interface SecondTry {
  readonly names: readonly string[]
  readonly commands: readonly (readonly string[])[]
}

/**
 * How the failed tests of `cargo test --quiet --no-fail-fast` are run again. Names and programs come through two pipes,
 * in no sure order; so each program is asked for all the names, and runs those that it has.
 */
export function failedOfCargo(output: string): SecondTry {
  const names = [...output.matchAll(/^(\S+) --- FAILED$/gm)].map((match) => match[1] ?? '')
  const programs = [...output.matchAll(/^error: test failed, to rerun pass `([^`]+)`/gm)].map((match) => match[1] ?? '')
  const wanted = ['--', '--exact', '--test-threads=1', ...names]
  const commands = programs.map((program) => ['cargo', 'test', '--quiet', ...program.split(' '), ...wanted])
  return { names, commands: names.length > 0 ? commands : [] }
}

/** The names of the failed tests of a run of `bun test`. */
export const failedOfBun = (output: string): string[] =>
  [...output.matchAll(/^\(fail\) (.+?)(?: \[[\d.]+ ?m?s\])?$/gm)].map((match) => match[1] ?? '')

/** True for the runs that are worth a second try: one file of tests with real parts, and no soak. */
export const worthAgain = ({ files }: BunStep): boolean =>
  files.length === 1 && files.every((file) => file.startsWith('tests/e2e/'))

/** Who may have sandboxes with a root of their own; the roots themselves are built in tests/soak/local-root.test.ts. */
import { describe, expect, test } from 'bun:test'
import { chmodSync, mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { homeOf, type TestHome } from '../support/local.ts'

const patience = 60_000

const refusalsOf = async (home: TestHome): Promise<{ code: string; message: string }[]> => {
  const answers = [await home.run('build'), await home.run('start', '--isolation', 'own-root', '--network', 'loopback')]
  return answers.map(({ output }) => (output as { error: { code: string; message: string } }).error)
}

const ownRootOf = async (home: TestHome): Promise<object | undefined> => {
  const { levels } = (await home.run('levels')).output as { levels: { level: string }[] }
  return levels.find(({ level }) => level === 'own-root')
}

describe.skipIf(process.getuid?.() !== 0)('an own root of an ordinary user', () => {
  test(
    'is refused to whom the system has no name for',
    async () => {
      await using home = homeOf('user')
      const [build, start] = await refusalsOf(home)
      expect(build?.code).toBe('unsupported')
      expect(build?.message).toContain('stands not in /etc/passwd')
      expect(start?.code).toBe('unsupported')
      expect(await ownRootOf(home)).toMatchObject({ works: false, remedy: null })
    },
    patience,
  )

  test(
    'is refused to who has too few ids, with the command that gives it some nobody has',
    async () => {
      await using home = homeOf('user-with-ids', '# taken\nother:200000:65536\ntester:900000000:1000\n')
      const [build] = await refusalsOf(home)
      const range = '900001000-900066535'
      const remedy = `as root: usermod --add-subuids ${range} --add-subgids ${range} tester`
      expect(build).toMatchObject({ code: 'unsupported', data: { isolation: 'own-root', remedy } })
      expect(build?.message).toEndWith(remedy)
      expect(await ownRootOf(home)).toMatchObject({ works: false, remedy })
    },
    patience,
  )

  test(
    'needs the programs that give ids, which are named',
    async () => {
      await using home = homeOf('user-with-ids')
      const bin = join(home.folder, 'bin')
      mkdirSync(bin)
      for (const name of ['bwrap', 'unshare', 'nsenter', 'setpriv', 'mount', 'sh']) {
        symlinkSync(Bun.which(name) ?? name, join(bin, name))
      }
      chmodSync(bin, 0o755)
      const path = home.environment.PATH
      home.environment.PATH = bin
      expect(await ownRootOf(home)).toMatchObject({
        works: false,
        reason: 'The program "newuidmap" is not installed.',
        remedy: 'apt-get install uidmap',
      })
      const [build] = await refusalsOf(home)
      expect(build).toMatchObject({ code: 'missing_program', data: { packages: ['uidmap'] } })
      home.environment.PATH = path ?? ''
      expect(await ownRootOf(home)).toMatchObject({
        works: false,
        remedy: expect.stringContaining('backlot local build'),
      })
    },
    patience,
  )
})

import { expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { serviceAt } from '../host/service.ts'
import { withOwnKey } from './ssh.ts'

test('a login that is ended by a signal takes its key back, and removes it here', async () => {
  const commands: string[] = []
  await using server = Bun.serve({
    ...{ hostname: '127.0.0.1', port: 0 },
    async fetch(request) {
      commands.push(((await request.json()) as { command: string }).command)
      return Response.json({ stdout: '', stderr: '', stdoutTruncated: false, stderrTruncated: false, exitCode: 0 })
    },
  })
  const service = serviceAt(`http://127.0.0.1:${server.port}`)
  let file = ''
  const login = withOwnKey(service, { name: 'one' }, 'root', async ({ keyFile, signal }) => {
    file = keyFile
    expect(existsSync(file)).toBe(true)
    process.emit('SIGTERM')
    return signal.aborted
  })
  expect(await login).toBe(true)
  const [, mark = 'none'] = /(backlot-[\w-]+)'/.exec(commands[0] ?? '') ?? []
  expect(commands).toEqual([expect.stringContaining('authorized_keys'), expect.stringContaining(`/ ${mark}$/d`)])
  expect([existsSync(file), process.listenerCount('SIGTERM')]).toEqual([false, 0])
})

test('a key is not written through the link of a user, and stands in a file of their own', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'backlot-ssh-'))
  try {
    const home = join(folder, 'home')
    const other = join(folder, 'other')
    await mkdir(home)
    await mkdir(other)
    // What looks the user up finds that home.
    await Bun.write(join(folder, 'bin', 'awk'), `#!/bin/sh\necho ${home}\n`)
    await chmod(join(folder, 'bin', 'awk'), 0o755)
    await using server = Bun.serve({
      ...{ hostname: '127.0.0.1', port: 0 },
      async fetch(request) {
        const { command } = (await request.json()) as { command: string }
        const ran = Bun.spawnSync(['/bin/sh', '-c', command], {
          env: { PATH: `${join(folder, 'bin')}:${process.env.PATH ?? ''}` },
        })
        return Response.json({
          ...{ stdout: '', stderr: ran.stderr.toString(), exitCode: ran.exitCode },
          ...{ stdoutTruncated: false, stderrTruncated: false },
        })
      },
    })
    const service = serviceAt(`http://127.0.0.1:${server.port}`)
    const login = () => withOwnKey(service, { name: 'one' }, 'someone', () => Bun.file(keys).text())
    const keys = join(home, '.ssh', 'authorized_keys')
    await symlink(other, join(home, '.ssh'))
    await expect(login()).rejects.toThrow('a symbolic link stands in place of')
    await rm(join(home, '.ssh'))
    await mkdir(join(home, '.ssh'))
    await symlink(join(other, 'authorized_keys'), keys)
    await expect(login()).rejects.toThrow('a symbolic link stands in place of')
    expect(existsSync(join(other, 'authorized_keys'))).toBe(false)
    await rm(keys)
    expect(await login()).toMatch(/^ssh-ed25519 \S+ backlot-/)
    expect(await Bun.file(keys).text()).toBe('')
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})

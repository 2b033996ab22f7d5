import { expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { startComputer } from '../support/computer.ts'
import { startSlirpNetwork, whyNoSlirp } from '../support/slirp.ts'

const reason = whyNoSlirp()
if (reason !== undefined) console.log(`skipped: ${reason}`)

test.skipIf(reason !== undefined)(
  'a program behind slirp4netns, whose network leads to loopback, cannot use the computer',
  async () => {
    await using computer = await startComputer(['--port', '0'])
    await using network = await startSlirpNetwork()
    const { port } = new URL(computer.url)
    const written = join(computer.home, 'written')
    const command = JSON.stringify({ command: 'run_command', params: { command: `echo x > ${written}` } })
    const ask = (path: string, ...more: string[]) => {
      const request = ['--silent', '--header', `Host: 127.0.0.1:${port}`, '--write-out', ' %{http_code}', ...more]
      return network.run('curl', ...request, `http://10.0.2.2:${port}${path}`)
    }
    const json = ['--header', 'Content-Type: application/json', '--data', command]
    for (const [path, ...more] of [
      ['/status'],
      ['/commands'],
      ['/cmd', ...json],
      ['/files?path=/etc/passwd'],
      ['/view'],
    ]) {
      const { stdout } = await ask(String(path), ...more)
      expect([path, stdout]).toEqual([path, expect.stringMatching(/"from_guest".* 403$/s)])
    }
    expect(existsSync(written)).toBe(false)
    // The same from here is answered, and done.
    expect(await (await fetch(`${computer.url}/cmd`, { method: 'POST', body: command })).text()).toContain(
      '"success":true',
    )
    expect(existsSync(written)).toBe(true)
  },
)

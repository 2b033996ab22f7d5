import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Containers } from './container.ts'
import { home, label } from './labels.ts'

test('a key file that its sandbox has made long is not read to its end', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'backlot-container-'))
  const found = {
    ...{ Id: '1', State: { Status: 'paused' } },
    Config: { Labels: { [label.home]: home(), [label.sandbox]: 'one' } },
  }
  const server = createServer((request, answer) => {
    if (request.url?.includes('/archive')) answer.end(Buffer.alloc(2 ** 20))
    else answer.end(request.method === 'GET' ? JSON.stringify(found) : '')
  })
  await new Promise<void>((settle) => server.listen(join(folder, 'engine'), settle))
  const containers = new Containers({} as never, `unix://${folder}/engine`, {} as never)
  await expect(containers.resume('one', {})).rejects.toMatchObject({
    code: 'unreachable',
    message: expect.stringContaining('of the container is longer than a key'),
  })
  server.closeAllConnections()
  server.close()
  rmSync(folder, { recursive: true })
})

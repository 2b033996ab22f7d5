import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { Sandbox } from '@backlot/sdk'
import { backlotCommand } from '../support/backlot.ts'
import { proving } from '../support/proves.ts'
import { sandboxHome } from '../support/sandbox-home.ts'
import { nodeProgram } from '../support/sdk/node.ts'

test(
  'a program under Node does with a sandbox what one under Bun does, and each finds those of the other',
  proving(['sandbox.resume', 'sandbox.delete'], async () => {
    const { folder, runtime } = sandboxHome()
    const built = await Bun.build({
      entrypoints: [join(import.meta.dir, '../support/sandbox-program.ts')],
      target: 'node',
      outdir: join(folder, 'bundle'),
      naming: '[name].mjs',
      splitting: true,
    })
    expect(built.logs).toEqual([])
    const node = await nodeProgram()
    const program = (verb: string, name: string) =>
      Bun.spawn(
        [node, join(folder, 'bundle', 'sandbox-program.mjs'), verb, runtime.folder, name, ...backlotCommand()],
        {
          env: { ...process.env, BACKLOT_HOME: folder },
          stdout: 'pipe',
          stderr: 'inherit',
        },
      )
    const life = program('life', 'lived')
    const lines = (await new Response(life.stdout).text()).trim().split('\n')
    expect(lines).toEqual(['runs', 'suspended', 'lived running', '0'])
    expect(await life.exited).toBe(0)

    const created = program('create', 'crossed')
    expect((await new Response(created.stdout).text()).trim()).toBe('created')
    await using sandbox = await Sandbox.connect('crossed', { runtime })
    expect((await sandbox.shell.run('echo crossed')).stdout).toBe('crossed\n')
    const again = program('create', 'crossed')
    expect((await new Response(again.stdout).text()).trim()).toBe('sandbox_exists')

    const holder = program('hold', 'held')
    await holder.stdout.getReader().read()
    holder.kill('SIGTERM')
    await holder.exited
    expect(holder.signalCode).toBe('SIGTERM')
    expect((await runtime.list()).map(({ name }) => name)).toEqual(['crossed'])
  }),
)

/** LibreOffice: how Writer is started, and what would stay behind of it. */
import { readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs'
import type { TestDesktop } from './desktop.ts'
import type { ListedWindow, Target } from './look.ts'
import type { McpClient } from './mcp-client.ts'
import { until } from './until.ts'

/**
 * Removes the files of the sockets that a running LibreOffice listens on. It makes them in `/tmp` whatever it is told,
 * others use them only while it starts, and they stay when it is killed.
 */
export const removeSockets = (pid: number): void => {
  const open = new Set(
    readdirSync(`/proc/${pid}/fd`).map((fd) => {
      try {
        return /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`))?.[1]
      } catch {
        return undefined
      }
    }),
  )
  for (const line of readFileSync('/proc/net/unix', 'utf8').split('\n')) {
    const [, , , , , , inode, path] = line.trim().split(/ +/)
    if (open.has(inode) && path?.includes('/OSL_PIPE_')) rmSync(path, { force: true })
  }
}

const writerTitle = 'LibreOffice Writer'

/** Starts LibreOffice Writer on an empty document. */
export const startWriter = async (on: TestDesktop, client: McpClient): Promise<Target & { readonly title: string }> => {
  const command = ['soffice', '--writer', '--norestore', '--nologo', '--nofirststartwizard'] as const
  on.start([...command, `-env:UserInstallation=file://${on.path('writer-profile')}`])
  const { pid, window_id } = await until('the window of Writer', async () => {
    const { windows } = await client.ask<{ windows: ListedWindow[] }>('list_windows')
    return windows.find(({ title }) => title.includes(writerTitle))
  })
  removeSockets(pid)
  return { pid, window_id, title: writerTitle }
}

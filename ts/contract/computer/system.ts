/** Commands on the computer as a whole, and on its programs. */
import { Type } from '@sinclair/typebox'
import { choice } from '../fields/choice.ts'
import { command } from './command.ts'
import { done, none, path } from './fields.ts'

const started = Type.Object({ pid: Type.Integer({ description: 'The process that was started.' }) })

export const systemCommands = {
  version: command({
    summary: 'Tell the versions of the protocol and of Backlot.',
    params: none,
    result: Type.Object({ protocol: Type.Integer(), package: Type.String() }),
    needs: 'shell',
  }),
  get_environment: command({
    summary: 'Tell what kind of computer it is.',
    params: none,
    result: Type.Object({ environment: choice(['linux', 'mac', 'windows', 'android']) }),
    needs: 'shell',
    flat: 'environment',
  }),
  get_desktop_environment: command({
    summary: 'Tell which desktop environment runs.',
    params: none,
    result: Type.Object({
      environment: Type.String({ description: 'Such as `xfce`; the name of the window manager where there is none.' }),
      desktop_environment: Type.String({ description: 'The same.' }),
    }),
    needs: 'display',
    flat: 'environment',
  }),
  set_wallpaper: command({
    summary: 'Set the picture behind the windows.',
    params: Type.Object({
      path,
      target: Type.Optional(
        choice(['home', 'lock', 'both'], { description: 'Which screen, where there are two; `home` when absent.' }),
      ),
    }),
    result: done,
    needs: 'display',
    acts: true,
  }),
  open: command({
    summary: 'Open a file or an address with the application for it.',
    params: Type.Object({ target: Type.String({ minLength: 1, maxLength: 8_192, description: 'Path or address.' }) }),
    result: started,
    needs: 'display',
    acts: true,
  }),
  launch: command({
    summary: 'Start an application.',
    params: Type.Object({
      app: Type.String({
        minLength: 1,
        maxLength: 4_096,
        description: 'Its name, its command, or a package on Android.',
      }),
      args: Type.Optional(Type.Array(Type.String(), { description: 'What it is given.' })),
      wait: Type.Optional(
        Type.Number({
          minimum: 0,
          maximum: 3_600,
          description: 'Seconds that its window is waited for; 0 when absent.',
        }),
      ),
    }),
    result: Type.Object({
      ...started.properties,
      window_id: Type.Union([Type.Integer(), Type.Null()], {
        description: 'The window that came; null where none was waited for, or came.',
      }),
      running: Type.Boolean({ description: 'False where the process has ended, as where it handed over to another.' }),
    }),
    needs: 'display',
    acts: true,
  }),
} as const

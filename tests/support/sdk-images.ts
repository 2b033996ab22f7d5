/** Images that tests describe, build and hash, each with the dictionary that it must be. */
import { Image, type ImageDict } from '@backlot/sdk'

const linux = { os_type: 'linux', distro: 'ubuntu', version: '24.04', kind: 'container', layers: [] } as const
const windows = { os_type: 'windows', distro: 'windows', version: '11', kind: 'vm', layers: [] } as const
const macos = { os_type: 'macos', distro: 'macos', version: '26', kind: 'vm', layers: [] } as const
const android = { os_type: 'android', distro: 'android', version: '14', kind: 'vm', layers: [] } as const
const run = { type: 'run', command: 'true' } as const

/** Twenty images by what they show. */
export const describedImages: Readonly<Record<string, readonly [Image, ImageDict]>> = {
  'a Linux desktop as it comes': [Image.linux(), linux],
  'a Linux VM': [Image.linux({ kind: 'vm' }), { ...linux, kind: 'vm' }],
  'a Linux by position': [Image.linux('debian', '11', 'vm'), { ...linux, distro: 'debian', version: '11', kind: 'vm' }],
  'a desktop that each runtime starts as it likes': [Image.desktop(), { ...linux, kind: null }],
  'a desktop of another distribution': [
    Image.desktop('debian'),
    { ...linux, distro: 'debian', version: '12', kind: null },
  ],
  'macOS as it comes': [Image.macos(), macos],
  'macOS by its other name': [Image.macos('sequoia'), { ...macos, version: 'sequoia' }],
  'Windows as it comes': [Image.windows(), windows],
  'Android as it comes': [Image.android('13'), { ...android, version: '13' }],
  'an image of a registry': [
    Image.fromRegistry('ghcr.io/acme/desktop:1'),
    { ...linux, distro: 'registry', version: 'latest', kind: null, registry: 'ghcr.io/acme/desktop:1' },
  ],
  'a disk': [
    Image.fromFile('./disk.vhdx'),
    { ...windows, distro: 'local', version: 'local', disk_path: './disk.vhdx' },
  ],
  'a disk by address, with all that can be said of it': [
    Image.fromFile('https://example.com/disk.zip', { osType: 'linux', kind: 'container', agentType: 'osworld' }),
    {
      ...{ ...linux, distro: 'local', version: 'local', disk_path: 'https://example.com/disk.zip' },
      agent_type: 'osworld',
    },
  ],
  'Debian packages': [
    Image.linux().aptInstall('curl', 'git=1:2'),
    { ...linux, layers: [{ type: 'apt_install', packages: ['curl', 'git=1:2'] }] },
  ],
  'Homebrew packages': [
    Image.macos().brewInstall('wget'),
    { ...macos, layers: [{ type: 'brew_install', packages: ['wget'] }] },
  ],
  'packages of Windows': [
    Image.windows().chocoInstall('git').wingetInstall('Git.Git'),
    {
      ...windows,
      layers: [
        { type: 'choco_install', packages: ['git'] },
        { type: 'winget_install', packages: ['Git.Git'] },
      ],
    },
  ],
  'Python packages': [
    Image.linux().uvInstall('pandas[excel]>=2').pipInstall('numpy'),
    {
      ...linux,
      layers: [
        { type: 'uv_install', packages: ['pandas[excel]>=2'] },
        { type: 'pip_install', packages: ['numpy'] },
      ],
    },
  ],
  'apps of Android': [
    Image.android()
      .apkInstall('./a.apk')
      .pwaInstall('https://example.com/m.json')
      .pwaInstall('https://example.com/m.json', {
        packageName: 'com.example',
        keystore: './k',
        keystoreAlias: 'a',
        keystorePassword: 'p',
      }),
    {
      ...android,
      layers: [
        { type: 'apk_install', packages: ['./a.apk'] },
        {
          type: 'pwa_install',
          manifest_url: 'https://example.com/m.json',
          keystore_alias: 'android',
          keystore_password: 'android',
        },
        {
          type: 'pwa_install',
          manifest_url: 'https://example.com/m.json',
          package_name: 'com.example',
          keystore: './k',
          keystore_alias: 'a',
          keystore_password: 'p',
        },
      ],
    },
  ],
  'variables, files and ports before all layers': [
    Image.linux().env({ A: '1' }).copy('./here', '/there').expose(8080).expose(80).run('true'),
    { ...linux, layers: [run], env: { A: '1' }, ports: [8080, 80], files: [['./here', '/there']] },
  ],
  'variables and files between layers': [
    Image.linux().env({ A: '1' }).run('true').env({ A: '2', B: '' }).copy('./a', '/b').run('true').copy('./c', '/d/'),
    {
      ...linux,
      layers: [run, run],
      env: { A: '2', B: '' },
      files: [
        ['./a', '/b'],
        ['./c', '/d/'],
      ],
      steps: [
        { type: 'env', variables: { A: '1' }, after: 0 },
        { type: 'env', variables: { A: '2', B: '' }, after: 1 },
        { type: 'copy', src: './a', dst: '/b', after: 1 },
        { type: 'copy', src: './c', dst: '/d/', after: 2 },
      ],
    },
  ],
  'texts of every kind': [
    Image.linux().run('echo "$A" \\ \'%s\'\n\t{{ x }} 世界 😀').env({ WITH: 'a=b\n"c" # d' }),
    {
      ...linux,
      layers: [{ type: 'run', command: 'echo "$A" \\ \'%s\'\n\t{{ x }} 世界 😀' }],
      env: { WITH: 'a=b\n"c" # d' },
      steps: [{ type: 'env', variables: { WITH: 'a=b\n"c" # d' }, after: 1 }],
    },
  ],
}

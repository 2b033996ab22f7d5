/** The latest restore image of macOS, looked up in a list of Apple's form on a server of the test's own. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { proving } from '../support/proves.ts'
import { startVmHost, type VmHost } from '../support/vmhost.ts'
import { call } from '../support/vms.ts'

const restore = (version: string) => `
  <key>Build${version}</key>
  <dict>
    <key>Restore</key>
    <dict>
      <key>BuildVersion</key><string>Build${version}</string>
      <key>FirmwareURL</key>
      <string>https://updates.example/UniversalMac_${version}_Restore.ipsw?a=1&amp;b=2</string>
      <key>ProductVersion</key>
      <string>${version}</string>
    </dict>
  </dict>`

const list = (model: string, ...versions: string[]) => `<?xml version="1.0" encoding="UTF-8"?>
<plist version="1.0"><dict><key>MobileDeviceSoftwareVersionsByVersion</key><dict><key>1</key><dict>
<key>MobileDeviceSoftwareVersions</key><dict>
  <key>Mac14,2</key><dict>${restore('99.0')}</dict>
  <key>${model}</key><dict>${versions.map(restore).join('')}<key>Unknown</key><dict>
    <key>Universal</key><dict>${versions.slice(0, 1).map(restore).join('')}</dict></dict></dict>
  <key>Mac16,1</key><dict>${restore('98.0')}</dict>
</dict></dict></dict></dict></plist>`

let host: VmHost
let answer = new Response()
const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => answer })

beforeAll(async () => {
  host = await startVmHost()
  const [status] = await call(host, 'POST', '/svc/config', { ipswCatalog: `${server.url}list.xml` })
  expect(status).toBe(200)
})

afterAll(async () => {
  await host[Symbol.asyncDispose]()
  await server.stop(true)
})

test(
  'is the one of the highest version for virtual machines',
  proving(['vmhost.ipsw.get'], async () => {
    answer = new Response(list('VirtualMac2,1', '15.6.1', '26.1', '9.10', '26.0.1'))
    expect(await call(host, 'GET', '/svc/ipsw')).toEqual([
      200,
      { url: 'https://updates.example/UniversalMac_26.1_Restore.ipsw?a=1&b=2', version: '26.1' },
    ])
  }),
)

test(
  'is refused where the list cannot be had, or names none',
  proving(['vmhost.ipsw.get.refused'], async () => {
    answer = new Response('', { status: 503 })
    const failed = [400, expect.objectContaining({ code: 'download_failed' })]
    expect<unknown>(await call(host, 'GET', '/svc/ipsw')).toEqual(failed)
    answer = new Response(list('Mac13,1', '26.1'))
    expect<unknown>(await call(host, 'GET', '/svc/ipsw')).toEqual(failed)
  }),
)

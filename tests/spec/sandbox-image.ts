/** Requirements of the SDK's images: attributes, builders, layers and serializers. */
import { needsMac, needsWindows } from './reasons.ts'
import type { Rows } from './requirement.ts'

export const sandboxImage = {
  'sandbox.image.os-type': 'An image has an `os_type`.',
  'sandbox.image.distro': 'An image has a `distro`.',
  'sandbox.image.version': 'An image has a `version`.',
  'sandbox.image.kind': 'An image has a `kind`: vm, container or none.',
  'sandbox.image.immutable': 'Every mutating method gives a new image and leaves the original as it was.',

  'sandbox.image.linux': 'Image.linux: ubuntu 24.04, a container with a desktop; kind vm selects an emulator VM.',
  'sandbox.image.macos': 'Image.macos: version 26, always a VM; 15 or sequoia, 26 or tahoe.',
  'sandbox.image.windows': 'Image.windows: version 11, always a VM.',
  'sandbox.image.android': 'Image.android: version 14, always an emulator VM.',
  'sandbox.image.from-registry': 'Image.from_registry takes a reference; its kind is known after the pull.',
  'sandbox.image.from-file': 'Image.from_file takes a local disk: os_type windows and kind vm by default, agent_type.',
  'sandbox.image.from-file.formats': 'It takes qcow2, vhdx, raw, img and iso.',
  'sandbox.image.from-file.url': 'It takes an http or https URL, which is downloaded.',
  'sandbox.image.from-file.zip': 'A zip file is extracted.',
  'sandbox.image.from-file.iso': 'For an ISO a qcow2 disk is made and the ISO attached as CD-ROM.',
  'sandbox.image.from-file.values': 'os_type is linux, windows, macos or android; kind is vm or container.',
  'sandbox.image.from-dict': 'Image.from_dict builds an image again from its dict.',

  'sandbox.image.apt-install': 'apt_install installs packages with the package manager of Linux, on Linux only.',
  'sandbox.image.brew-install': {
    text: 'brew_install installs packages with the package manager of macOS.',
    deferred: needsMac,
  },
  'sandbox.image.choco-install': {
    text: 'choco_install installs packages with a package manager of Windows.',
    deferred: needsWindows,
  },
  'sandbox.image.winget-install': {
    text: 'winget_install installs packages with the package manager of Windows.',
    deferred: needsWindows,
  },
  'sandbox.image.apk-install': 'apk_install installs APK files through adb, on Android only.',
  'sandbox.image.pwa-install': 'pwa_install builds, signs and installs an APK of a web app manifest, on Android only.',
  'sandbox.image.pwa-install.defaults': 'keystore_alias is `android` and the password a built-in one by default.',
  'sandbox.image.pwa-install.fingerprint':
    'The keystore is the one whose fingerprint the asset links file of the site names.',
  'sandbox.image.pwa-install.package-name': 'package_name is the reversed host name by default.',
  'sandbox.image.pwa-install.keystore': 'Without a keystore a fresh one is made and kept in the cache folder.',
  'sandbox.image.uv-install': {
    text: 'uv_install installs Python packages into the project of the computer server.',
    decided:
      'the computer server is one executable without a project of Python; the packages go into an environment of their own, which is on PATH',
  },
  'sandbox.image.pip-install': 'pip_install installs Python packages.',
  'sandbox.image.run': 'run runs a shell command during the build.',
  'sandbox.image.env': 'env sets environment variables.',
  'sandbox.image.copy': 'copy copies a file into the image.',
  'sandbox.image.expose': 'expose exposes a port.',
  'sandbox.image.to-dict': 'to_dict serializes to a plain dict.',
  'sandbox.image.to-cloud-init': 'to_cloud_init makes a cloud-init user-data script.',
  'sandbox.image.desktop': 'Image.desktop takes the name of a distribution.',
  'sandbox.image.round-trip': 'to_dict and from_dict give back the same image.',
} as const satisfies Rows

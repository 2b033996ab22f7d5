/** Failures of images: built, found, pulled and pushed. */
import { kinds } from './kind.ts'

export const imageFailures = kinds({
  unknown_image: { when: 'No image on this machine and no recipe has that name.', exit: 1 },
  packages_unavailable: { when: 'The packages that an image is made of cannot be fetched.', exit: 1 },
  image_not_built: { when: 'A step of building an image failed, or its program is absent.', exit: 1 },
  no_accelerator: { when: 'QEMU runs no guest here, neither with KVM nor without.', exit: 1 },
  image_not_found: { when: 'No image on this machine has that name.', exit: 1, status: 404 },
  image_damaged: { when: 'The description of an image cannot be read or names files that are not there.', exit: 1 },
  download_failed: { when: 'A file cannot be fetched from its address.', exit: 1 },
  image_unsupported: { when: 'An image in a registry holds no disk of a form that is read.', exit: 1 },
  layer_corrupt: { when: 'What a registry sends is not what the digest or the size of a layer says.', exit: 1 },
  registry_refused: { when: 'A registry asks for other credentials, or does not allow what is asked.', exit: 1 },
  registry_unreachable: { when: 'A registry does not answer, or answers as none does.', exit: 1 },
  pull_failed: { when: 'The VM is not there because pulling its image failed.', exit: 1, status: 404 },
  macos_only: { when: 'The option or operation is for guests with macOS.', exit: 1 },
  macos_unavailable: { when: 'A guest with macOS is to be made on a host that cannot run one.', exit: 1 },
})

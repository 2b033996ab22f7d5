/** The steps of an image's build, as they are stored and sent. */

/** Package managers that a layer may call. */
export type Installer = 'apt' | 'brew' | 'choco' | 'winget' | 'apk' | 'uv' | 'pip'

/** One step of a build, spelled as it is stored and sent. */
export type Layer =
  | { readonly type: `${Installer}_install`; readonly packages: readonly string[] }
  | { readonly type: 'run'; readonly command: string }
  | {
      readonly type: 'pwa_install'
      readonly manifest_url: string
      readonly package_name?: string
      readonly keystore?: string
      readonly keystore_alias: string
      readonly keystore_password: string
      /** What other clients say of how it is packaged; kept as it is. */
      readonly builder?: string
      /** Seconds that other clients give the transfer of the app; kept as it is. */
      readonly push_timeout?: number
    }

/** What a build does at one place: a layer, or what `env` and `copy` put between layers. */
export type BuildStep =
  | Layer
  | { readonly type: 'env'; readonly variables: Readonly<Record<string, string>> }
  | { readonly type: 'copy'; readonly src: string; readonly dst: string }

/** The file by which a site names the applications that are its own (https://developers.google.com/digital-asset-links). */

/** What a site's list must hold for an application, as JSON. */
export const assetStatement = (packageName: string, fingerprint: string) => ({
  relation: ['delegate_permission/common.handle_all_urls'],
  target: { namespace: 'android_app', package_name: packageName, sha256_cert_fingerprints: [fingerprint] },
})

/** The address of a site's list. */
export const assetLinksOf = (origin: string): string => `${origin}/.well-known/assetlinks.json`

/** Whether the site names the application with this key; no where it has no list, or does not answer. */
export const siteNames = async (
  origin: string,
  packageName: string,
  fingerprint: string,
  signal: AbortSignal,
): Promise<boolean> => {
  const list: unknown = await fetch(assetLinksOf(origin), { signal })
    .then((answer) => (answer.ok ? answer.json() : undefined))
    .catch(() => undefined)
  signal.throwIfAborted()
  const [relation] = assetStatement(packageName, fingerprint).relation
  return (Array.isArray(list) ? list : []).some(
    (each) =>
      each?.target?.package_name === packageName &&
      [each.relation].flat().includes(relation) &&
      [each.target.sha256_cert_fingerprints].flat().some((named) => String(named).toUpperCase() === fingerprint),
  )
}

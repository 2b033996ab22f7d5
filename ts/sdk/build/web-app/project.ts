/** The files of which an application for a web app is packed. */
import type { WebApp } from './web-manifest.ts'

/** The class of images/android-web-app that Android starts. */
const launcher = 'backlot.webapp.LaunchActivity'

/** The host name reversed, in the characters that Android takes: `app.my-site.org` gives `org.my_site.app`. */
export const packageNameOf = (url: string): string => {
  const labels = new URL(url).hostname
    .replaceAll(/^\[|\]$/g, '')
    .split(/[.:]+/)
    .reverse()
    .filter((label) => label !== '')
    .map((label) => label.replaceAll(/[^A-Za-z0-9_]/g, '_'))
    // Each part of a package's name begins with a letter.
    .map((label) => (/^[A-Za-z]/.test(label) ? label : `a${label}`))
  // One part alone is no package's name.
  return (labels.length > 1 ? labels : [...labels, 'app']).join('.')
}

/** Whether Android takes it as the name of a package. */
export const isPackageName = (text: string): boolean => /^[A-Za-z]\w*(\.[A-Za-z]\w*)+$/.test(text)

/** The texts of a project by their paths in it. */
export const projectTexts = (app: WebApp, packageName: string): Readonly<Record<string, string>> => ({
  'AndroidManifest.xml': manifestOf(app, packageName),
  'res/values/strings.xml': `<resources>
  <string name="name" formatted="false">${resourceText(app.name)}</string>
  <string name="asset_statements" formatted="false">${resourceText(JSON.stringify([siteStatement(app)]))}</string>
</resources>
`,
})

/** Says that the application belongs to the site; the site says the reverse in its own file. */
const siteStatement = ({ origin }: WebApp) => ({
  relation: ['delegate_permission/common.handle_all_urls'],
  target: { namespace: 'web', site: origin },
})

const manifestOf = ({ startUrl, themeColor, icon }: WebApp, packageName: string): string => `\
<manifest xmlns:android="http://schemas.android.com/apk/res/android" package="${packageName}" android:versionCode="1" android:versionName="1">
  <uses-sdk android:minSdkVersion="23" android:targetSdkVersion="30" />
  <queries>
    <intent><action android:name="android.support.customtabs.action.CustomTabsService" /></intent>
  </queries>
  <application android:label="@string/name" android:icon="${icon === undefined ? '@android:drawable/sym_def_app_icon' : '@drawable/icon'}" android:allowBackup="false">
    <meta-data android:name="asset_statements" android:resource="@string/asset_statements" />
    <activity android:name="${launcher}" android:exported="true" android:theme="@android:style/Theme.Translucent.NoTitleBar">
      <meta-data android:name="backlot.start_url" android:value="${xmlText(startUrl)}" />
${themeColor === undefined ? '' : `      <meta-data android:name="backlot.theme_color" android:value="#ff${themeColor.slice(1)}" />\n`}\
      <intent-filter>
        <action android:name="android.intent.action.MAIN" />
        <category android:name="android.intent.category.LAUNCHER" />
      </intent-filter>
    </activity>
  </application>
</manifest>
`

/** A text as a resource holds it, where quotes and backslashes have meanings of their own. */
const resourceText = (text: string): string => xmlText(`"${text.replaceAll(/["\\]/g, '\\$&')}"`)

const xmlText = (text: string): string => text.replaceAll(/[&<>"]/g, (each) => `&#${each.charCodeAt(0)};`)

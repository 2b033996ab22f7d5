/** Reasons that several requirements share for being deferred. */

/** For what only a Mac does. */
export const needsMac = 'runs on macOS only; no Mac can be run where the project is tested'

/** For what only Windows does and Wine does not. */
export const needsWindows = 'runs on Windows only; no Windows with UI Automation can be run where the project is tested'

/** For what only an Android device does. */
export const needsAndroid = 'runs on Android only; no Android emulator can be run where the project is tested'

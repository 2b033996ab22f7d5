/** Passwords of screens. */

const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'

/** A new one. Eight characters of 62 hold 47 bits; VNC reads no more of a password. */
export const newPassword = (): string => {
  let password = ''
  while (password.length < 8) {
    const [byte = 255] = crypto.getRandomValues(new Uint8Array(1))
    if (byte < 248) password += letters[byte % 62]
  }
  return password
}

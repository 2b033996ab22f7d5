/** Calls to the service that a person waits for. */
import { useState } from 'preact/hooks'

/** What is being done now, and why the last of it failed. */
export interface Working {
  readonly what: string | undefined
  readonly fault: string | undefined
  /** Does something under the name `what`; gives whether it worked. */
  run(what: string, act: () => Promise<unknown>): Promise<boolean>
}

/** The state of such calls, for one part of the page. */
export const useWorking = (): Working => {
  const [state, set] = useState<Pick<Working, 'what' | 'fault'>>({ what: undefined, fault: undefined })
  return {
    ...state,
    run: async (what, act) => {
      set({ what, fault: undefined })
      try {
        await act()
        set({ what: undefined, fault: undefined })
        return true
      } catch (error) {
        const { message, data } = error as Error & { readonly data?: { readonly detail?: unknown } }
        set({ what: undefined, fault: typeof data?.detail === 'string' ? `${message}: ${data.detail}` : message })
        return false
      }
    },
  }
}

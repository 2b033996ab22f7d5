/** Building a whole image on a computer that a runtime has started from what the image begins with. */
import { stepsOf } from '../image/dict.ts'
import type { Image } from '../image/image.ts'
import type { Layer } from '../image/layer.ts'
import { isLayer } from '../image/layers.ts'
import type { Transport } from '../transports/transport.ts'
import type { LayerOptions } from './layer-options.ts'
import { builtOsOf, checkStep, layerTimeoutMs, runStep } from './run-step.ts'

/** How it is built; `timeoutMs` is for each layer. */
export interface BuildOptions extends LayerOptions {
  /** Called before each layer. */
  onLayer?: (at: { readonly index: number; readonly count: number; readonly layer: Layer }) => void
}

/** Carries out all steps of an image in their order, variables and files included. Throws `layer_failed`, and for those `command_failed`. */
export const buildImage = async (transport: Transport, image: Image, options: BuildOptions = {}): Promise<void> => {
  const { onLayer, ...limits } = { timeoutMs: layerTimeoutMs, ...options }
  const dict = image.toDict()
  const steps = stepsOf(dict)
  if (steps.length === 0) return
  const os = await builtOsOf(transport, limits)
  // What cannot be carried out is refused before anything is.
  for (const step of steps) checkStep(step, os)
  let index = 0
  for (const step of steps) {
    if (isLayer(step)) onLayer?.({ index, count: dict.layers.length, layer: step })
    await runStep(transport, os, step, { ...limits, index })
    if (isLayer(step)) index += 1
  }
}

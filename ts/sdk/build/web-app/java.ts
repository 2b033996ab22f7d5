/** Options by which Java starts sooner and leaves nothing behind, after the letters by which a tool of its takes them. */
export const forShort = (letters: string): string[] =>
  ['XX:TieredStopAtLevel=1', 'XX:-UsePerfData'].map((option) => letters + option)

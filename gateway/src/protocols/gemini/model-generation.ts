/** The generation in a Gemini model's name (2.5 of `gemini-2.5-pro`); null for other names. */
export function generationOf(model: string): number | null {
  const found = /gemini-(\d+(?:\.\d+)?)/.exec(model);
  return found === null ? null : Number(found[1]);
}

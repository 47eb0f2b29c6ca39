/** How many to render at once. */
export const modelsShownMax = 100;

/** Models that match every word: an exact match first, then prefixes. */
export function foundModels(models: readonly string[], search: string): readonly string[] {
  const text = search.trim().toLowerCase();
  if (text === "") return models;
  const words = text.split(/\s+/);
  const rank = (name: string) => (name === text ? 0 : name.startsWith(text) ? 1 : name.includes(`/${text}`) ? 2 : 3);
  return models
    .map((model) => ({ model, name: model.toLowerCase() }))
    .filter(({ name }) => words.every((word) => name.includes(word)))
    .toSorted((one, other) => rank(one.name) - rank(other.name))
    .map(({ model }) => model);
}

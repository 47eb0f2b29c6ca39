/** The vectors of a response, in the order of the inputs. Invalid vectors are left out. */
export function vectorsIn(answer: unknown): readonly (readonly number[])[] {
  const data = answer !== null && typeof answer === "object" && "data" in answer ? answer.data : null;
  if (!Array.isArray(data)) return [];
  return [...data]
    .sort((one, other) => indexOf(one) - indexOf(other))
    .flatMap((item) => {
      const vector: unknown = item !== null && typeof item === "object" ? Reflect.get(item, "embedding") : null;
      return Array.isArray(vector) && vector.every((each) => typeof each === "number") ? [vector] : [];
    });
}

function indexOf(item: unknown): number {
  const index: unknown = item !== null && typeof item === "object" ? Reflect.get(item, "index") : null;
  return typeof index === "number" ? index : 0;
}

/** Cosine similarity: 1 is the same direction, 0 is unrelated; null if the lengths differ or a vector is zero. */
export function similarity(one: readonly number[], other: readonly number[]): number | null {
  if (one.length !== other.length) return null;
  let dot = 0;
  let oneSquared = 0;
  let otherSquared = 0;
  for (const [at, value] of one.entries()) {
    const beside = other[at] ?? 0;
    dot += value * beside;
    oneSquared += value * value;
    otherSquared += beside * beside;
  }
  const length = Math.sqrt(oneSquared) * Math.sqrt(otherSquared);
  return length === 0 ? null : dot / length;
}

export function inputTokensIn(answer: unknown): number | null {
  const usage = answer !== null && typeof answer === "object" && "usage" in answer ? answer.usage : null;
  const tokens = usage !== null && typeof usage === "object" ? Reflect.get(usage, "prompt_tokens") : null;
  return typeof tokens === "number" ? tokens : null;
}

/** Each line is one text. */
export function linesOf(text: string): readonly string[] {
  return text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
}

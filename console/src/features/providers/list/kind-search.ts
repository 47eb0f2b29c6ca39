import type { ProviderKindForm } from "@sluice/contract";
import { typeWords } from "../../catalog/price-words.ts";

/** Provider types that match every word in name, type, address or protocol; name prefixes come first. */
export function fittingKinds(kinds: readonly ProviderKindForm[], search: string): readonly ProviderKindForm[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const [first] = words;
  if (first === undefined) return kinds;
  const found = kinds.filter((kind) => {
    const types = kind.types.flatMap((type) => [type, typeWords[type]]);
    const text = [kind.kind, kind.title, kind.base_url ?? "", ...types, ...kind.dialects].join(" ").toLowerCase();
    return words.every((word) => text.includes(word));
  });
  const begins = (kind: ProviderKindForm) => (kind.title.toLowerCase().startsWith(first) ? 0 : 1);
  return found.toSorted((one, other) => begins(one) - begins(other));
}

/** The most used types, in this order. */
const popularNames = [
  "openai",
  "anthropic",
  "gemini",
  "azure-openai",
  "bedrock",
  "vertex",
  "deepseek",
  "openai-compatible",
];

export function popularKinds(kinds: readonly ProviderKindForm[]): readonly ProviderKindForm[] {
  return popularNames.flatMap((name) => kinds.find(({ kind }) => kind === name) ?? []);
}

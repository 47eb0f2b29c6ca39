import { type UsageClassName, usageTable } from "@sluice/contract/words";

/**
 * Disjoint classes whose sum was processed, except `reasoning` and `unexplained`, which are inside `output`. Counts are integers ≥ 0.
 * The contract's table defines the classes.
 */
export type Usage = { readonly [Class in UsageClassName]: number };

/** Reported by the upstream, estimated by us, or nothing was used. */
export type UsageSource = "upstream" | "estimated" | "none";

export const usageClasses: readonly UsageClassName[] = usageTable.map(({ name }) => name);

/** Column names in the ledger, exports and admin API. */
export const usageClassColumns = Object.fromEntries(usageTable.map(({ name, column }) => [name, column])) as {
  readonly [Row in (typeof usageTable)[number] as Row["name"]]: Row["column"];
};

export const noUsage: Usage = Object.freeze(
  Object.fromEntries(usageClasses.map((name) => [name, 0])) as Record<UsageClassName, number>,
);

/** A mutable copy. Copying an object that is not frozen is faster. */
export function emptyUsage(): { -readonly [Class in keyof Usage]: number } {
  return { ...zeroes };
}

const zeroes: Usage = { ...noUsage };

/** Not charged in tokens. */
export type CountedClass = Extract<(typeof usageTable)[number], { readonly side: null }>["name"];

export const countedClasses: readonly CountedClass[] = usageTable.flatMap((row) =>
  row.side === null ? [row.name] : [],
);

type TokenRow<Side> = Extract<(typeof usageTable)[number], { readonly side: Side; readonly price: string }>;

/** All token classes of input and output, except `reasoning`, which output includes. */
export const inputClasses: readonly TokenRow<"input">["name"][] = usageTable.flatMap((row) =>
  row.side === "input" && row.price !== null ? [row.name] : [],
);
export const outputClasses: readonly TokenRow<"output">["name"][] = usageTable.flatMap((row) =>
  row.side === "output" && row.price !== null ? [row.name] : [],
);

/** Tokens that count toward a tokens-per-minute limit. */
export function tokensOf(usage: Usage): number {
  return inputTokensOf(usage) + outputTokensOf(usage);
}

/** Includes cached and written tokens. Not derived from the table, because it is called several times per call; a test compares both. */
export function inputTokensOf(usage: Usage): number {
  const { inputUncached, cacheRead, cacheWrite5m, cacheWrite1h, audioInput, imageInput, cacheReadAudio } = usage;
  return inputUncached + cacheRead + cacheWrite5m + cacheWrite1h + audioInput + imageInput + cacheReadAudio;
}

export function outputTokensOf({ output, audioOutput, imageOutput, separateReasoning }: Usage): number {
  return output + audioOutput + imageOutput + separateReasoning;
}

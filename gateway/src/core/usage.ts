import { type UsageClassName, usageTable } from "@sluice/contract/words";

/**
 * Classes that do not overlap: their sum is what was processed. Exceptions: `reasoning` and `unexplained` are
 * inside `output`. Counts are whole numbers ≥ 0. What the classes are stands in the contract's table.
 */
export type Usage = { readonly [Class in UsageClassName]: number };

/** Where the numbers come from: told by the upstream, estimated by us, or nothing was used. */
export type UsageSource = "upstream" | "estimated" | "none";

export const usageClasses: readonly UsageClassName[] = usageTable.map(({ name }) => name);

/** The column of each class in ledger, exports and admin API. */
export const usageClassColumns = Object.fromEntries(usageTable.map(({ name, column }) => [name, column])) as {
  readonly [Row in (typeof usageTable)[number] as Row["name"]]: Row["column"];
};

export const noUsage: Usage = Object.freeze(
  Object.fromEntries(usageClasses.map((name) => [name, 0])) as Record<UsageClassName, number>,
);

/** The same to be filled in: a copy of an object that is not frozen is made at once. */
export function emptyUsage(): { -readonly [Class in keyof Usage]: number } {
  return { ...zeroes };
}

const zeroes: Usage = { ...noUsage };

/** Charged by something other than tokens. */
export type CountedClass = Extract<(typeof usageTable)[number], { readonly side: null }>["name"];

export const countedClasses: readonly CountedClass[] = usageTable.flatMap((row) =>
  row.side === null ? [row.name] : [],
);

type TokenRow<Side> = Extract<(typeof usageTable)[number], { readonly side: Side; readonly price: string }>;

/** The classes that input and output are made of: all of their tokens but `reasoning`, which output holds. */
export const inputClasses: readonly TokenRow<"input">["name"][] = usageTable.flatMap((row) =>
  row.side === "input" && row.price !== null ? [row.name] : [],
);
export const outputClasses: readonly TokenRow<"output">["name"][] = usageTable.flatMap((row) =>
  row.side === "output" && row.price !== null ? [row.name] : [],
);

/** Every token that counts towards a tokens-per-minute limit. */
export function tokensOf(usage: Usage): number {
  return inputTokensOf(usage) + outputTokensOf(usage);
}

/** Cached and written tokens included. Written out, because every call asks several times; a test compares it with the table. */
export function inputTokensOf(usage: Usage): number {
  const { inputUncached, cacheRead, cacheWrite5m, cacheWrite1h, audioInput, imageInput, cacheReadAudio } = usage;
  return inputUncached + cacheRead + cacheWrite5m + cacheWrite1h + audioInput + imageInput + cacheReadAudio;
}

export function outputTokensOf({ output, audioOutput, imageOutput, separateReasoning }: Usage): number {
  return output + audioOutput + imageOutput + separateReasoning;
}

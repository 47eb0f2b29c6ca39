/** One attempt in the ledger. */
export interface SoakRow {
  readonly attemptId: string;
  readonly outcome: string;
  readonly usageSource: string;
  readonly input: number;
  readonly output: number;
  readonly costNanoUsd: number;
}

/** Usage in every successful response of the bench upstream. */
export const servedUsage = { input: 180, output: 120 } as const;

export interface SoakVerdict {
  /** Attempts that the upstream received. */
  readonly seen: number;
  readonly missing: number;
  /** Attempts that are in the ledger, or reached the upstream, more than once. */
  readonly doubled: number;
  /** Successful attempts with wrong token counts. */
  readonly wrongTokens: number;
  /** Attempts that never reached the upstream but have a cost or succeeded. */
  readonly invented: number;
  /** The first examples, for debugging. */
  readonly examples: readonly string[];
}

const examplesMax = 10;

/** Compares the ledger with the attempts that the upstream received. */
export function judgeSoak(seen: Iterable<string>, rows: Iterable<SoakRow>): SoakVerdict {
  const examples: string[] = [];
  const counts = { missing: 0, doubled: 0, wrongTokens: 0, invented: 0 };
  const fault = (kind: keyof typeof counts, what: string): void => {
    counts[kind]++;
    if (examples.length < examplesMax) examples.push(what);
  };
  const unbooked = new Set<string>();
  const served = new Set<string>();
  for (const attemptId of seen) {
    if (served.has(attemptId)) fault("doubled", `${attemptId} was sent twice`);
    served.add(attemptId);
    unbooked.add(attemptId);
  }
  const booked = new Set<string>();
  for (const row of rows) {
    const { attemptId, outcome, usageSource, input, output, costNanoUsd } = row;
    if (booked.has(attemptId)) fault("doubled", `${attemptId} is in the ledger twice`);
    booked.add(attemptId);
    unbooked.delete(attemptId);
    const attempt = `${attemptId} (${outcome}, ${usageSource}, ${input} + ${output} tokens, ${costNanoUsd} nano-USD)`;
    if (!served.has(attemptId)) {
      if (outcome === "succeeded" || costNanoUsd > 0) fault("invented", `${attempt} never reached the upstream`);
      continue;
    }
    if (outcome !== "succeeded") continue;
    const right = usageSource === "upstream" && input === servedUsage.input && output === servedUsage.output;
    if (!right) fault("wrongTokens", `${attempt} has wrong tokens`);
  }
  for (const attemptId of unbooked) fault("missing", `${attemptId} reached the upstream and is not in the ledger`);
  return { seen: served.size, ...counts, examples };
}

/** What the ledger says of one attempt. */
export interface SoakRow {
  readonly attemptId: string;
  readonly outcome: string;
  readonly usageSource: string;
  readonly input: number;
  readonly output: number;
  readonly costNanoUsd: number;
}

/** What every good answer of the bench's upstream says that it used. */
export const servedUsage = { input: 180, output: 120 } as const;

export interface SoakVerdict {
  /** Attempts that the upstream saw. */
  readonly seen: number;
  readonly missing: number;
  /** That stand in the ledger, or came to the upstream, more than once. */
  readonly doubled: number;
  /** Succeeded with other tokens than were served. */
  readonly wrongTokens: number;
  /** That never reached the upstream, and cost something or succeeded all the same. */
  readonly invented: number;
  /** The first of each, for whoever looks for the reason. */
  readonly examples: readonly string[];
}

const examplesMax = 10;

/** Holds the ledger against what the upstream saw. Pure. */
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
    const told = `${attemptId} (${outcome}, ${usageSource}, ${input} + ${output} tokens, ${costNanoUsd} nano-USD)`;
    if (!served.has(attemptId)) {
      if (outcome === "succeeded" || costNanoUsd > 0) fault("invented", `${told} never reached the upstream`);
      continue;
    }
    if (outcome !== "succeeded") continue;
    const right = usageSource === "upstream" && input === servedUsage.input && output === servedUsage.output;
    if (!right) fault("wrongTokens", `${told} was served otherwise`);
  }
  for (const attemptId of unbooked) fault("missing", `${attemptId} reached the upstream and is not in the ledger`);
  return { seen: served.size, ...counts, examples };
}

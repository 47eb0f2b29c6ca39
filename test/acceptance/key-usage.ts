/** The usage that GET /v1/usage reports to a key. */
export interface KeyUsage {
  /** Calls that are running now. */
  readonly running: number;
  readonly spentNanoUsd: number;
}

/** Returns null if usage is unavailable now: a fast clock can time out even a short read, and frequent reads are rate limited. */
export async function readKeyUsage(url: string, key: string): Promise<KeyUsage | null> {
  const answer = await fetch(`${url}/v1/usage`, { headers: { authorization: `Bearer ${key}` } });
  if (answer.status === 408 || answer.status === 429) return null;
  if (!answer.ok) throw new Error(`GET /v1/usage: ${answer.status} ${await answer.text()}`);
  const { limits } = (await answer.json()) as {
    readonly limits: readonly { readonly kind: string; readonly used: number }[];
  };
  const used = (kind: string): number => {
    const limit = limits.find((candidate) => candidate.kind.startsWith(kind));
    if (limit === undefined) throw new Error(`GET /v1/usage has no limit of kind ${kind}`);
    return limit.used;
  };
  return { running: used("concurrency"), spentNanoUsd: Math.round(used("budget") * 1e9) };
}

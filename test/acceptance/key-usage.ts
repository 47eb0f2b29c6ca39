/** What a key is told of its own limits at GET /v1/usage. */
export interface KeyUsage {
  /** Calls that hold a place at this moment. */
  readonly running: number;
  readonly spentNanoUsd: number;
}

/** null: not now. A clock that runs fast ends even a short reading, and one that is asked often is told to wait. */
export async function readKeyUsage(url: string, key: string): Promise<KeyUsage | null> {
  const answer = await fetch(`${url}/v1/usage`, { headers: { authorization: `Bearer ${key}` } });
  if (answer.status === 408 || answer.status === 429) return null;
  if (!answer.ok) throw new Error(`GET /v1/usage: ${answer.status} ${await answer.text()}`);
  const { limits } = (await answer.json()) as {
    readonly limits: readonly { readonly kind: string; readonly used: number }[];
  };
  const used = (kind: string): number => {
    const limit = limits.find((one) => one.kind.startsWith(kind));
    if (limit === undefined) throw new Error(`GET /v1/usage tells nothing of ${kind}`);
    return limit.used;
  };
  return { running: used("concurrency"), spentNanoUsd: Math.round(used("budget") * 1e9) };
}

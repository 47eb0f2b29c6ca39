import { type ConfigSnapshot, type HeaderReader, isSignedWith, webhookHead } from "#core/index.ts";
import type { Clock } from "#ports/index.ts";
import { batchWebhookKey, providerKind } from "#providers/index.ts";
import type { BatchStore } from "./store/batch-store.ts";

interface HintDependencies {
  readonly store: Pick<BatchStore, "hint">;
  readonly configSnapshot: () => ConfigSnapshot;
  readonly clock: Clock;
}

/**
 * A webhook of a vendor: the batch that it names becomes due now. Nothing else in it is used, and batches are polled without it. Resolves
 * to null if it is not accepted, else to whether a batch became due. An account that does not exist or has no secret answers like a wrong
 * signature. Batches of other accounts and unknown ones are accepted without effect, like webhooks about other things.
 */
export async function handleHint(
  { store, configSnapshot, clock }: HintDependencies,
  providerId: string,
  headers: HeaderReader,
  readBody: () => Promise<Uint8Array>,
): Promise<boolean | null> {
  const now = clock.now();
  const head = webhookHead((name) => headers.get(name), now);
  if (head === null) return null;
  const body = await readBody();
  const provider = configSnapshot().providers.get(providerId);
  const kind = provider === undefined ? null : providerKind(provider.kind);
  const key = provider === undefined || kind === null ? null : batchWebhookKey(kind, provider);
  if (key === null || !isSignedWith(key, head, body)) return null;
  const upstreamId = kind?.batches?.readHint?.(body) ?? null;
  if (upstreamId === null) return false;
  return await store.hint(providerId, upstreamId, Number(head.timestamp) * 1_000, now);
}

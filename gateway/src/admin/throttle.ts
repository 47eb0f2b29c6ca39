import { addressKey, bounds, Failure } from "#core/index.ts";
import type { OpenTries, Tries } from "#ports/index.ts";

/** Tries by address, so that a one-time token cannot be guessed at leisure. `name`: what is opened with the token. */
export function linkRateLimit(name: "setup" | "link", openTries: OpenTries) {
  const windowMs = bounds.setupTriesMs;
  const tries = openTries({ name, max: bounds.setupTriesMax, windowMs, windowMsMax: windowMs });
  const tooMany = "Too many tries from this address. Wait, then open the link again.";
  return {
    take: (address: string) => takeOne(tries, addressKey(address), tooMany),
    /** Takes the last try back: it was a good one, and whoever opens a link for real must not run out. */
    forgive: (address: string) => tries.giveBack([addressKey(address)]),
  };
}

/**
 * How much people of one workspace make the gateway send to addresses that they choose. The mail server and its good name are the
 * installation's: nobody's workspace is to fill strangers' mailboxes by it.
 */
export function mailRateLimit(name: "invitation" | "alert-test", openTries: OpenTries) {
  const max = name === "invitation" ? bounds.lettersMax : bounds.noticeTestsMax;
  const sent = openTries({ name, max, windowMs: bounds.lettersMs, windowMsMax: bounds.lettersMs });
  const tooMany = "Too many were sent from this workspace within an hour. Try again later.";
  return {
    /** `workspaceId` null: of the installation. */
    take: (workspaceId: string | null) => takeOne(sent, workspaceId ?? "installation", tooMany),
  };
}

/** Counts one. Throws rate_limit_exceeded once the key has used up its share. */
async function takeOne(tries: Tries, key: string, message: string): Promise<void> {
  const { waitMs } = await tries.take([key]);
  if (waitMs > 0) throw new Failure("rate_limit_exceeded", message, { retryAfterMs: waitMs });
}

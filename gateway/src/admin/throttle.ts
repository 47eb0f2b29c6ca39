import { addressKey, bounds, Failure } from "#core/index.ts";
import type { OpenTries, Tries } from "#ports/index.ts";

/** Limits attempts per address, so that a one-time token cannot be guessed. `name`: the type of token. */
export function linkRateLimit(name: "setup" | "link", openTries: OpenTries) {
  const windowMs = bounds.setupTriesMs;
  const tries = openTries({ name, max: bounds.setupTriesMax, windowMs, windowMsMax: windowMs });
  const tooMany = "Too many attempts from this address. Wait, then open the link again.";
  return {
    take: (address: string) => takeOne(tries, addressKey(address), tooMany),
    /** Refunds a successful attempt. */
    forgive: (address: string) => tries.giveBack([addressKey(address)]),
  };
}

type SentByWorkspace = "invitation" | "key-request" | "alert-test" | "report-now";

/** Limits the messages that one workspace can send to addresses of its choice, so that it cannot abuse the installation's mail server. */
export function mailRateLimit(name: SentByWorkspace, openTries: OpenTries) {
  const isTest = name === "alert-test" || name === "report-now";
  const max = isTest ? bounds.alertTestsMax : bounds.invitationMailsMax;
  const sent = openTries({ name, max, windowMs: bounds.mailWindowMs, windowMsMax: bounds.mailWindowMs });
  const tooMany = "Too many were sent from this workspace within an hour. Try again later.";
  return {
    /** `workspaceId` null: the installation. */
    take: (workspaceId: string | null) => takeOne(sent, workspaceId ?? "installation", tooMany),
  };
}

/** Counts one attempt. Throws rate_limit_exceeded if there were too many. */
async function takeOne(tries: Tries, key: string, message: string): Promise<void> {
  const { waitMs } = await tries.take([key]);
  if (waitMs > 0) throw new Failure("rate_limit_exceeded", message, { retryAfterMs: waitMs });
}

import { bounds, Failure } from "#core/index.ts";
import type { OpenTries, Tries } from "#ports/index.ts";

/**
 * How much people of one workspace make the gateway send to addresses that they choose. The mail server and its good name are the
 * installation's: nobody's workspace is to fill strangers' mailboxes by it.
 */
export class LetterRate {
  readonly #sent: Tries;

  constructor(what: "invitation" | "alert-test", openTries: OpenTries) {
    this.#sent = openTries({
      name: what,
      max: what === "invitation" ? bounds.lettersMax : bounds.noticeTestsMax,
      windowMs: bounds.lettersMs,
      windowMsMax: bounds.lettersMs,
    });
  }

  /** Counts one. `workspaceId` null: of the installation. Throws rate_limit_exceeded when there were too many. */
  async take(workspaceId: string | null): Promise<void> {
    const { waitMs } = await this.#sent.take([workspaceId ?? "installation"]);
    if (waitMs === 0) return;
    throw new Failure(
      "rate_limit_exceeded",
      "Too many were sent from this workspace within an hour. Try again later.",
      {
        retryAfterMs: waitMs,
      },
    );
  }
}

import { addressKey, bounds, Failure } from "#core/index.ts";
import type { OpenTries, Tries } from "#ports/index.ts";

/** Counts tries by address, so that a one-time token cannot be guessed at leisure. */
export class Throttle {
  readonly #tries: Tries;

  /** `name`: what is opened with the token. */
  constructor(name: "setup" | "link", openTries: OpenTries) {
    this.#tries = openTries({
      name,
      max: bounds.setupTriesMax,
      windowMs: bounds.setupTriesMs,
      windowMsMax: bounds.setupTriesMs,
    });
  }

  /** Counts one try. Throws rate_limit_exceeded once the address has used up its share. */
  async take(address: string): Promise<void> {
    const { waitMs } = await this.#tries.take([addressKey(address)]);
    if (waitMs === 0) return;
    throw new Failure("rate_limit_exceeded", "Too many tries from this address. Wait, then open the link again.", {
      retryAfterMs: waitMs,
    });
  }

  /** Takes the last try back: it was a good one, and whoever opens a link for real must not run out. */
  async forgive(address: string): Promise<void> {
    await this.#tries.giveBack([addressKey(address)]);
  }
}

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

import { bounds, Failure, within } from "#core/index.ts";
import type { IssuerCheck, RightsStore } from "#directory/index.ts";
import type { Clock, Observer, SignIn } from "#ports/index.ts";

export interface IssuerRecheckOptions {
  readonly rights: Pick<RightsStore, "issuerChecks" | "beginIssuerCheck" | "applyClaims" | "revokeByIssuer">;
  readonly signIn: Pick<SignIn, "recheckAtIssuer" | "recheckTimes">;
  readonly clock: Clock;
  readonly observer: Observer;
}

/**
 * Rechecks people at their single sign-on issuers while their agents are signed in, with the refresh token of the last sign-in. An issuer
 * is asked in one process at a time, at most once per recheck interval, and never while a model call waits. The claims in its answer are
 * applied as rights; a rejected refresh token ends the person's agents. While it does not answer, its last answer is valid for the grace
 * period.
 */
export class IssuerRecheck {
  readonly #options: IssuerRecheckOptions;
  readonly #running = new Map<string, Promise<void>>();
  /** How many rechecks were started, and how many of them failed. */
  readonly counts = { started: 0, failed: 0 };

  constructor(options: IssuerRecheckOptions) {
    this.#options = options;
  }

  /** Throws `upstream_error` if an issuer of this user has not answered for longer than its grace period. */
  async check(userId: string): Promise<void> {
    for (const check of await this.#options.rights.issuerChecks(userId)) await this.#checkOne(userId, check);
  }

  async #checkOne(userId: string, check: IssuerCheck): Promise<void> {
    const account = check.source.slice("oidc:".length);
    const times = this.#options.signIn.recheckTimes(account);
    if (times === null) return;
    const name = `${userId} ${account}`;
    const now = this.#options.clock.now();
    // A time in the future is from before the clock was set back.
    const isDue = Math.abs(now - Math.max(check.confirmedAt, check.checkedAt)) >= times.recheckMs;
    if (isDue && !this.#running.has(name) && this.#running.size < bounds.issuerRechecksMax) {
      const recheck = this.#recheck(userId, account, check).finally(() => this.#running.delete(name));
      this.#running.set(name, recheck);
    }
    const running = this.#running.get(name);
    // A late answer is still applied: its refresh token has replaced the stored one.
    if (running !== undefined) await within(this.#options.clock, bounds.issuerRecheckMs, running, () => undefined);
    const [latest] = (await this.#options.rights.issuerChecks(userId)).filter(({ source }) => source === check.source);
    if (latest === undefined || now - latest.confirmedAt <= times.graceMs) return;
    if (latest.confirmedAt >= latest.checkedAt) return;
    throw new Failure(
      "upstream_error",
      "The issuer of your single sign-on account cannot be reached. Try again later.",
      { retryAfterMs: bounds.issuerRecheckMs },
    );
  }

  /** Never throws. */
  async #recheck(userId: string, account: string, check: IssuerCheck): Promise<void> {
    const { rights, signIn, observer } = this.#options;
    const auditSource = { actor: `single sign-on ${account}`, ip: null };
    try {
      if (!(await rights.beginIssuerCheck(userId, check))) return;
      this.counts.started += 1;
      const answer = await signIn.recheckAtIssuer({ account, userId, refreshToken: check.refreshToken });
      if (answer.kind === "claims") {
        const { claims, refreshToken } = answer;
        const update = { userId, source: check.source, claims, refreshToken };
        for (const problem of await rights.applyClaims(update, auditSource))
          observer.log("warn", "failed to revoke a right", { account, problem });
      } else {
        await rights.revokeByIssuer(userId, check, auditSource);
        observer.log("info", "single sign-on no longer confirms a user; signed out their agents", { account, userId });
      }
    } catch (thrown) {
      const problem = thrown instanceof Failure ? thrown.message : String(thrown);
      observer.log("warn", "failed to recheck a user at their single sign-on issuer; retrying", { account, problem });
      this.counts.failed += 1;
    }
  }
}

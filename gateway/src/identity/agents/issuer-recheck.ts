import { bounds, Failure, within } from "#core/index.ts";
import type { IssuerCheck, RightsStore } from "#directory/index.ts";
import type { Clock, Observer, SignIn } from "#ports/index.ts";

export interface IssuerRecheckOptions {
  readonly rights: Pick<RightsStore, "issuerChecks" | "beginIssuerCheck" | "applyClaims" | "revokeByIssuer">;
  readonly signIn: Pick<SignIn, "askIssuer" | "issuerPatience">;
  readonly clock: Clock;
  readonly observer: Observer;
}

/**
 * Asks issuers about people again while their agents are signed in, by the refresh tokens that they gave us. Each is asked at most so often
 * for one person, by one process at a time, and never while a call of a model waits. What it says becomes rights; that it knows the token no
 * more ends the person's agents. One that does not answer is believed for a while by its last word.
 */
export class IssuerRecheck {
  readonly #options: IssuerRecheckOptions;
  readonly #asking = new Map<string, Promise<void>>();
  /** How often issuers were asked, and how often none said anything of the person. */
  readonly counted = { asked: 0, silent: 0 };

  constructor(options: IssuerRecheckOptions) {
    this.#options = options;
  }

  /** Throws `upstream_error` for somebody whose issuer has been silent for longer than its grace. */
  async check(userId: string): Promise<void> {
    for (const asked of await this.#options.rights.issuerChecks(userId)) await this.#checkOne(userId, asked);
  }

  async #checkOne(userId: string, asked: IssuerCheck): Promise<void> {
    const account = asked.source.slice("oidc:".length);
    const patience = this.#options.signIn.issuerPatience(account);
    if (patience === null) return;
    const name = `${userId} ${account}`;
    const now = this.#options.clock.now();
    // Times that lie ahead are those of a clock that was set back: nobody waits until it is there again.
    const isDue = Math.abs(now - Math.max(asked.saidAt, asked.askedAt)) >= patience.recheckMs;
    if (isDue && !this.#asking.has(name) && this.#asking.size < bounds.issuerRechecksMax) {
      const asking = this.#ask(userId, account, asked).finally(() => this.#asking.delete(name));
      this.#asking.set(name, asking);
    }
    const asking = this.#asking.get(name);
    // An answer that comes later still counts: the token it brings has taken the place of the one there was.
    if (asking !== undefined) await within(this.#options.clock, bounds.issuerRecheckMs, asking, () => undefined);
    const [latest] = (await this.#options.rights.issuerChecks(userId)).filter(({ source }) => source === asked.source);
    if (latest === undefined || now - latest.saidAt <= patience.graceMs || latest.saidAt >= latest.askedAt) return;
    throw new Failure(
      "upstream_error",
      "The issuer of your single sign-on account cannot be reached. Try again later.",
      {
        retryAfterMs: bounds.issuerRecheckMs,
      },
    );
  }

  /** Never throws. */
  async #ask(userId: string, account: string, asked: IssuerCheck): Promise<void> {
    const { rights, signIn, observer } = this.#options;
    const source = { actor: `single sign-on ${account}`, ip: null };
    try {
      if (!(await rights.beginIssuerCheck(userId, asked))) return;
      this.counted.asked += 1;
      const answer = await signIn.askIssuer({ account, userId, refreshToken: asked.refreshToken });
      if (answer.kind === "claims") {
        const { claims, refreshToken } = answer;
        const kept = await rights.applyClaims({ userId, source: asked.source, claims, refreshToken }, source);
        for (const problem of kept) observer.log("warn", "A right could not be taken away.", { account, problem });
      } else {
        await rights.revokeByIssuer(userId, asked, source);
        observer.log("info", "An issuer knows somebody no more; their agents are signed out.", { account, userId });
      }
    } catch (thrown) {
      const problem = thrown instanceof Failure ? thrown.message : String(thrown);
      observer.log("warn", "An issuer of single sign-on did not say whether it still knows somebody.", {
        account,
        problem,
      });
      this.counted.silent += 1;
    }
  }
}

import type { GuardrailReplay } from "@sluice/contract";
import { replayFoundMax } from "@sluice/contract/console";
import type { CapturedOutcome } from "#guardrails/index.ts";
import type { CapturedHead, CapturedTexts } from "#ports/index.ts";

type Sums = Omit<GuardrailReplay, "from" | "to" | "not_run" | "calls" | "read_until" | "next">;
type FoundVerdict = GuardrailReplay["requests"][number]["verdict"];

/** Adds up the results of a guardrail on captured requests. Holds no text. */
export class ReplayTally {
  #captured = 0;
  #found = 0;
  readonly #sides = { input: newSide(), output: newSide() };
  readonly #types = new Map<string, number>();
  readonly #people = new Map<string, { readonly person: NonNullable<CapturedHead["person"]>; requests: number }>();
  readonly #keys = new Map<string, { readonly id: string; readonly name: string; requests: number }>();
  readonly #requests: GuardrailReplay["requests"] = [];

  add(head: CapturedHead, { isCut }: Pick<CapturedTexts, "isCut">, outcomes: readonly CapturedOutcome[]): void {
    this.#captured++;
    for (const { side, verdict, counts, isUnreadable, isRedacted } of outcomes) {
      const sums = this.#sides[side];
      if (isUnreadable) sums.unreadable++;
      else sums.examined++;
      if (isRedacted) sums.redacted++;
      if (isCut[side]) sums.cut++;
      if (verdict !== "passed") sums[verdict]++;
      for (const [type, count] of Object.entries(counts)) this.#types.set(type, (this.#types.get(type) ?? 0) + count);
    }
    const shown = outcomes
      .toSorted((one, other) => rank(one) - rank(other))
      .find(({ verdict }) => verdict !== "passed");
    if (shown !== undefined) this.#addFound(head, shown);
  }

  sums(): Sums {
    return {
      ...{ captured: this.#captured, found: this.#found, ...this.#sides },
      types: [...this.#types].map(([type, findings]) => ({ type, findings })),
      ...{ people: [...this.#people.values()], keys: [...this.#keys.values()], requests: this.#requests },
    };
  }

  #addFound({ request_id, at, workspace, key, person }: CapturedHead, { side, verdict }: CapturedOutcome): void {
    this.#found++;
    if (person !== null) {
      const sender = this.#people.get(person.id) ?? { person, requests: 0 };
      sender.requests++;
      this.#people.set(person.id, sender);
    }
    const used = this.#keys.get(key.id) ?? { ...key, requests: 0 };
    used.requests++;
    this.#keys.set(key.id, used);
    if (this.#requests.length >= replayFoundMax) return;
    this.#requests.push({ request_id, at, workspace, key, person, side, verdict: verdict as FoundVerdict });
  }
}

function newSide(): GuardrailReplay["input"] {
  return { examined: 0, blocked: 0, masked: 0, flagged: 0, unreadable: 0, cut: 0, redacted: 0, failed: 0 };
}

/** A request that would have been blocked is listed as such. */
function rank({ verdict }: CapturedOutcome): number {
  return ["blocked", "masked", "flagged", "failed"].indexOf(verdict);
}

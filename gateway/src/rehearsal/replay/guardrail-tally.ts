import type { RehearsalResult } from "@sluice/contract/console";
import { rehearsedFindingsMax } from "@sluice/contract/words";
import type { CapturedOutcome } from "#guardrails/index.ts";
import type { PastCapture, PastEntry } from "#storage/in-thread.ts";
import type { Caller } from "./callers.ts";

type Result = RehearsalResult["guardrails"][number];
type Found = Result["requests"][number];
type Recorded = Result["recorded"];
type Hour = Result["hours"][number];
/** People by id: their names are filled in at the end. */
export type UnnamedGuardrail = Omit<Result, "people"> & {
  readonly people: readonly { readonly personId: string; readonly requests: number }[];
};

const rowsMax = 100;
const hourMs = 3_600_000;

/** Adds up the results of a guardrail on past calls. Holds no text. */
export class GuardrailTally {
  /** Calls that it applies to. */
  calls = 0;
  allowed = 0;
  allowedUnknown = 0;
  readonly recorded: Recorded = { blocked: 0, masked: 0, flagged: 0 };
  #captured = 0;
  #found = 0;
  readonly #sides = { input: newSide(), output: newSide() };
  readonly #types = new Map<string, number>();
  readonly #people = new Map<string, number>();
  readonly #keys = new Map<string, Result["keys"][number]>();
  readonly #hours = new Map<number, Hour>();
  /** The newest ones, oldest first. */
  readonly #requests: Found[] = [];

  add(entry: PastEntry, caller: Caller, { isCut }: PastCapture, outcomes: readonly CapturedOutcome[]): void {
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
    if (shown !== undefined) this.#addFound(entry, caller, shown);
  }

  sums(): Omit<UnnamedGuardrail, "name" | "workspace" | "mode" | "not_run"> {
    const people = [...this.#people].toSorted(([, one], [, other]) => other - one);
    const keys = [...this.#keys.values()].toSorted((one, other) => other.requests - one.requests);
    return {
      ...{ calls: this.calls, captured: this.#captured, found: this.#found, ...this.#sides },
      types: [...this.#types].map(([type, findings]) => ({ type, findings })),
      people: people.slice(0, rowsMax).map(([personId, requests]) => ({ personId, requests })),
      people_touched: people.length,
      ...{ keys: keys.slice(0, rowsMax), keys_touched: keys.length },
      hours: [...this.#hours.values()].toSorted((one, other) => one.at - other.at),
      requests: this.#requests.toReversed(),
      ...{ recorded: this.recorded, allowed: this.allowed, allowed_unknown: this.allowedUnknown },
    };
  }

  #addFound({ requestId, at }: PastEntry, { principal }: Caller, { side, verdict }: CapturedOutcome): void {
    this.#found++;
    const { workspace, key, person } = principal;
    if (person !== null) this.#people.set(person, (this.#people.get(person) ?? 0) + 1);
    const used = this.#keys.get(key.id) ?? { id: key.id, name: key.name, requests: 0 };
    used.requests++;
    this.#keys.set(key.id, used);
    if (verdict === "blocked" || verdict === "masked" || verdict === "flagged") {
      const start = at - (at % hourMs);
      const hour = this.#hours.get(start) ?? { at: start, blocked: 0, masked: 0, flagged: 0 };
      hour[verdict]++;
      this.#hours.set(start, hour);
    }
    this.#requests.push({
      ...{ request_id: requestId, at, side, verdict: verdict as Found["verdict"] },
      workspace: { id: workspace.id, slug: workspace.slug },
      key: { id: key.id, name: key.name },
      person: person === null ? null : { id: person, email: "", name: "" },
    });
    if (this.#requests.length > rehearsedFindingsMax) this.#requests.shift();
  }
}

function newSide(): Result["input"] {
  return { examined: 0, blocked: 0, masked: 0, flagged: 0, unreadable: 0, cut: 0, redacted: 0, failed: 0 };
}

/** A request that would have been blocked is listed as such. */
function rank({ verdict }: CapturedOutcome): number {
  return ["blocked", "masked", "flagged", "failed"].indexOf(verdict);
}

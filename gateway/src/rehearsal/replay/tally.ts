import type { RehearsalResult, rehearsalUnknowns } from "@sluice/contract/console";
import type { PastEntry } from "#storage/in-thread.ts";
import type { Caller } from "./callers.ts";
import { ExactSum } from "./exact-sum.ts";
import { Figures } from "./figures.ts";
import type { PastCall } from "./past-call.ts";
import type { Refusal } from "./refusal.ts";
import { Move, type Route } from "./route.ts";

export type Unknown = (typeof rehearsalUnknowns)[number];
type RefusedCall = RehearsalResult["requests"][number];
/** Names that only the database knows are filled in at the end. */
export type Unnamed = Omit<RehearsalResult, "people" | "guardrails" | "allowed"> & {
  readonly people: readonly (Omit<RehearsalResult["people"][number], "person"> & { readonly personId: string })[];
};

const rowsMax = 100;
const requestsMax = 50;
const hourMs = 3_600_000;
const minuteMs = 60_000;

class RuleFigures {
  readonly refusal: Refusal;
  readonly firstAt: number;
  calls = 0;
  readonly recorded = new ExactSum();

  constructor(refusal: Refusal, firstAt: number) {
    this.refusal = refusal;
    this.firstAt = firstAt;
  }
}

/** Adds up a rehearsal. Calls come in the order in which they began; their costs later. */
export class RehearsalTally {
  /** Names (`ruleName`) of the limits that the change sets. */
  readonly #changedRules: ReadonlySet<string>;
  readonly #refusedCosts = new ExactSum();
  readonly #rules = new Map<string, RuleFigures>();
  readonly #callers: Caller[] = [];
  readonly #models = new Map<string, Figures>();
  readonly #hours = new Map<number, Figures>();
  #model: { readonly name: string | null; readonly figures: Figures } = { name: null, figures: new Figures() };
  #hour = { at: -1, figures: new Figures() };
  readonly #unknown = new Map<Unknown, number>();
  readonly #moves = new Map<string, Move>();
  readonly #requests: RefusedCall[] = [];
  #refusedAnyway = 0;
  #streamsEnded = 0;
  #worst: { at: number; refused: number } | null = null;
  #minute = { at: 0, refused: 0 };

  constructor(changedRules: ReadonlySet<string>) {
    this.#changedRules = changedRules;
  }

  began(call: PastCall): void {
    if (!call.isCounted) return;
    const { caller, first } = call;
    const { requestedModel } = first;
    if (this.#model.name !== requestedModel) {
      this.#model = { name: requestedModel, figures: figuresIn(this.#models, requestedModel) };
    }
    call.ofModel = this.#model.figures;
    call.ofHour = this.#hourOf(first.at);
    call.ofModel.calls++;
    call.ofHour.calls++;
    this.#ofKey(caller).calls++;
  }

  refused(call: PastCall, refusal: Refusal): void {
    if (!call.isCounted) return;
    const { at } = call.first;
    let rule = this.#rules.get(refusal.name);
    if (rule === undefined) {
      rule = new RuleFigures(refusal, at);
      this.#rules.set(refusal.name, rule);
    }
    rule.calls++;
    // Only a change takes deployments away.
    if (!this.#isChanged(refusal)) {
      this.#refusedAnyway++;
      return;
    }
    for (const figures of this.#figuresOf(call)) figures.refused++;
    if (this.#requests.length < requestsMax) this.#requests.push(refusedCall(call, refusal));
    const minute = at - (at % minuteMs);
    if (this.#minute.at !== minute) this.#minute = { at: minute, refused: 0 };
    this.#minute.refused++;
    if (this.#worst === null || this.#minute.refused > this.#worst.refused) this.#worst = { ...this.#minute };
  }

  /** `rehearsed`: the cost after the change; 0 if the call was refused. */
  cost(call: PastCall, { costNanoUsd: recorded }: PastEntry, rehearsed: number): void {
    if (!call.isCounted || (recorded === 0 && rehearsed === 0)) return;
    const { ofModel, ofHour, caller } = call;
    if (ofModel === null || ofHour === null) {
      for (const figures of this.#figuresOf(call)) figures.addCost(recorded, rehearsed);
    } else {
      ofModel.addCost(recorded, rehearsed);
      ofHour.addCost(recorded, rehearsed);
      caller.sums?.addCost(recorded, rehearsed);
    }
    call.move?.recorded.add(recorded);
    call.move?.rehearsed.add(rehearsed);
    if (call.refusal === null) return;
    this.#rules.get(call.refusal.name)?.recorded.add(recorded);
    if (this.#isChanged(call.refusal)) this.#refusedCosts.add(recorded);
  }

  moved(call: PastCall, { model, deployment }: Route): void {
    if (!call.isCounted) return;
    const { first } = call;
    const from = { model: first.model, provider: first.provider };
    const to = { model: model.name, provider: deployment.provider.id };
    const name = JSON.stringify([from, to]);
    call.move = this.#moves.get(name) ?? new Move(from, to);
    call.move.calls++;
    this.#moves.set(name, call.move);
    this.unknown("other_upstreams");
  }

  streamEnded(call: PastCall): void {
    if (call.isCounted) this.#streamsEnded++;
  }

  unknown(code: Unknown, calls = 1): void {
    this.#unknown.set(code, (this.#unknown.get(code) ?? 0) + calls);
  }

  result(): Unnamed {
    const total = new Figures();
    for (const figures of this.#hours.values()) total.include(figures);
    const { calls, refused, recorded, rehearsed, costs } = total;
    if (refused > 0) this.unknown("callers_react", refused);
    if ([...this.#changedRules].some((name) => name.startsWith("tpm "))) this.unknown("tokens_forecast", calls);
    const difference = rehearsed - recorded;
    const refusedAll = [...this.#rules.values()].reduce((sum, rule) => sum + rule.recorded.value, 0n);
    const people = byRefused([...this.#people()].filter(([, figures]) => figures.refused > 0));
    const keys = this.#callers
      .map((caller) => [caller, this.#ofKey(caller)] as const)
      .filter(([, figures]) => figures.refused > 0 || figures.recorded !== figures.rehearsed);
    const touchedKeys = keys.filter(([, figures]) => figures.refused > 0).length;
    return {
      ...{ calls, refused, refused_anyway: this.#refusedAnyway, streams_ended: this.#streamsEnded, ...costs },
      difference_nano_usd: String(difference),
      refused_nano_usd: String(this.#refusedCosts.value),
      repriced_nano_usd: String(difference + refusedAll),
      rules: [...this.#rules.entries()]
        .toSorted(([, one], [, other]) => other.calls - one.calls)
        .slice(0, rowsMax)
        .map(([, rule]) => ({
          ...ruleFields(rule.refusal),
          ...{ changed: this.#isChanged(rule.refusal), calls: rule.calls, first_at: rule.firstAt },
          recorded_nano_usd: String(rule.recorded.value),
        })),
      people_touched: people.length,
      people: people
        .slice(0, rowsMax)
        .map(([personId, figures]) => ({ personId, refused: figures.refused, ...figures.costs })),
      keys_touched: touchedKeys,
      keys: keys
        .toSorted(([, one], [, other]) => other.refused - one.refused)
        .slice(0, rowsMax)
        .map(([caller, figures]) => ({
          key: keyOf(caller),
          workspace: workspaceOf(caller),
          ...{ calls: figures.calls, refused: figures.refused, ...figures.costs },
        })),
      models: [...this.#models]
        .toSorted(([, one], [, other]) => other.calls - one.calls)
        .slice(0, rowsMax)
        .map(([model, figures]) => ({ model, calls: figures.calls, refused: figures.refused, ...figures.costs })),
      hours: [...this.#hours]
        .toSorted(([one], [other]) => one - other)
        .map(([at, figures]) => ({ at, calls: figures.calls, refused: figures.refused, ...figures.costs })),
      first: this.#requests[0] ?? null,
      worst: this.#worst,
      requests: this.#requests,
      moved: [...this.#moves.values()]
        .toSorted((one, other) => other.calls - one.calls)
        .slice(0, rowsMax)
        .map(({ from, to, calls: count, recorded: before, rehearsed: after }) => ({
          ...{ from, to, calls: count },
          ...{ recorded_nano_usd: String(before.value), rehearsed_nano_usd: String(after.value) },
        })),
      unknown: [...this.#unknown]
        .toSorted(([, one], [, other]) => other - one)
        .map(([code, count]) => ({ code, calls: count })),
    };
  }

  #people(): ReadonlyMap<string, Figures> {
    const people = new Map<string, Figures>();
    for (const caller of this.#callers) {
      const { person } = caller.principal;
      if (person !== null) figuresIn(people, person).include(this.#ofKey(caller));
    }
    return people;
  }

  #isChanged(refusal: Refusal): boolean {
    return refusal.limit === "deployments" || this.#changedRules.has(refusal.rule);
  }

  /** Of its model, hour and key. */
  #figuresOf({ first, caller }: PastCall): readonly Figures[] {
    return [figuresIn(this.#models, first.requestedModel), this.#hourOf(first.at), this.#ofKey(caller)];
  }

  #ofKey(caller: Caller): Figures {
    if (caller.sums !== null) return caller.sums;
    caller.sums = new Figures();
    this.#callers.push(caller);
    return caller.sums;
  }

  #hourOf(at: number): Figures {
    const hour = at - (at % hourMs);
    if (this.#hour.at !== hour) this.#hour = { at: hour, figures: figuresIn(this.#hours, hour) };
    return this.#hour.figures;
  }
}

function figuresIn<Name>(of: Map<Name, Figures>, name: Name): Figures {
  let figures = of.get(name);
  if (figures === undefined) {
    figures = new Figures();
    of.set(name, figures);
  }
  return figures;
}

function byRefused(rows: readonly (readonly [string, Figures])[]) {
  return rows.toSorted(([, one], [, other]) => other.refused - one.refused);
}

function keyOf({ principal }: Caller): RefusedCall["key"] {
  const { id, name } = principal.key;
  return { id, name };
}

function workspaceOf({ principal }: Caller): RefusedCall["workspace"] {
  const { id, slug } = principal.workspace;
  return { id, slug };
}

function ruleFields({ scope, scopeId, label, limit }: Refusal) {
  return { scope, scope_id: scopeId, label, limit };
}

function refusedCall(call: PastCall, refusal: Refusal): RefusedCall {
  const { requestId, at, requestedModel } = call.first;
  const { caller } = call;
  const { person } = caller.principal;
  return {
    ...{ request_id: requestId, at, key: keyOf(caller), model: requestedModel },
    workspace: workspaceOf(caller),
    person: person === null ? null : { id: person, email: "", name: "" },
    ...ruleFields(refusal),
  };
}

import { Failure } from "#core/index.ts";
import { otherThan, pathOf, type SampleValues, type Step, sampleOf, withValue } from "./samples.ts";
import type { Member, Shape, ShapeOf } from "./vendor-types.ts";

/** The result of translating a body: the written body and its warnings, or a refusal. */
export type Outcome =
  | { readonly written: string; readonly warnings: ReadonlySet<string> }
  | { readonly refused: string };

export type Carry = (body: unknown) => Outcome;

/** Runs a translation. Only a refusal is a result; every other error is a bug. */
export function outcomeOf(carry: (warn: (what: string) => void) => string): Outcome {
  const warnings = new Set<string>();
  try {
    return { written: carry((what) => void warnings.add(what)), warnings };
  } catch (thrown) {
    if (thrown instanceof Failure) return { refused: thrown.message };
    throw thrown;
  }
}

/**
 * The fields that are dropped silently: the written body and the warnings are the same with and without them. Each
 * member of a type is tried where the type first occurs, and each alternative of a union.
 */
export function lostFields(root: Shape, base: unknown, how: SearchOptions, carry: Carry): readonly string[] {
  const search = new Search(base, how, carry);
  // Requests with and without streaming differ only in that one field.
  search.into(root.kind === "union" ? (root.of[0] ?? root) : root, []);
  return search.lost;
}

export interface SearchOptions {
  readonly values: SampleValues;
  /** Whether the field at this path may be dropped. Its content is not tried. */
  readonly isHarmless: (path: string) => boolean;
}

class Search {
  readonly lost: string[] = [];
  readonly #base: unknown;
  readonly #values: SampleValues;
  readonly #isHarmless: (path: string) => boolean;
  readonly #carry: Carry;
  /** Types whose members were already tried. */
  readonly #walked = new Set<Shape>();

  constructor(base: unknown, { values, isHarmless }: SearchOptions, carry: Carry) {
    this.#base = base;
    this.#values = values;
    this.#isHarmless = isHarmless;
    this.#carry = carry;
  }

  /** Returns whether any change inside had an effect. */
  into(shape: Shape, steps: readonly Step[]): boolean {
    switch (shape.kind) {
      case "object": {
        if (this.#walked.has(shape)) return true;
        this.#walked.add(shape);
        let noticed = false;
        for (const member of shape.members) noticed = this.#member(member, shape, steps) || noticed;
        return noticed;
      }
      case "array":
        return this.#element(shape.of, [...steps, { element: true }]);
      case "union": {
        let noticed = false;
        for (const alternative of shape.of) {
          const into = [...steps, { alternative }];
          noticed =
            (steps.length === 0 ? this.into(alternative, into) : this.#alternative(alternative, into)) || noticed;
        }
        return noticed;
      }
      default:
        return true;
    }
  }

  #element(of: Shape, steps: readonly Step[]): boolean {
    if (of.kind === "object") {
      const effect = effectOf(this.#carry(this.#base), this.#run(steps, sampleOf(of, nameOf(steps), this.#values)));
      if (effect === "warned" || effect === "refused") return true;
    }
    return this.into(of, steps);
  }

  #alternative(alternative: Shape, steps: readonly Step[]): boolean {
    if (alternative.kind === "array") return this.into(alternative, steps);
    if (alternative.kind !== "object" || this.#isHarmless(pathOf(steps))) return true;
    const without = this.#run(steps.slice(0, -1), undefined);
    const effect = effectOf(without, this.#run(steps, sampleOf(alternative, nameOf(steps), this.#values)));
    // A warning about the whole also covers its parts.
    if (effect === "warned" || effect === "refused") return true;
    const lostBefore = this.lost.length;
    const noticed = this.into(alternative, steps);
    if (effect === "carried" || noticed) return true;
    // Nothing in it had an effect, so it is reported once.
    this.lost.splice(lostBefore);
    this.lost.push(pathOf(steps));
    return false;
  }

  #member(member: Member, of: ShapeOf, above: readonly Step[]): boolean {
    const steps: readonly Step[] = [...above, { member, of }];
    const sample = sampleOf(member.of, member.name, this.#values);
    const isFixed = member.of.kind === "scalar" && member.of.values.length === 1;
    if (isFixed && !member.optional) return false;
    if (this.#isHarmless(pathOf(steps))) return true;
    let effect = effectOf(this.#run(steps, without(member, sample)), this.#run(steps, sample));
    // One value may request the default.
    const other = effect === "lost" && member.optional ? otherThan(sample, member.of) : undefined;
    if (other !== undefined) effect = effectOf(this.#run(steps, undefined), this.#run(steps, other));
    // One alternative may cause a warning and another one may be translated.
    if ((effect === "warned" || effect === "refused") && !hasVariants(member.of)) return true;
    const lostBefore = this.lost.length;
    const noticed = this.into(member.of, steps);
    if (effect !== "lost" || (noticed && hasMembers(member.of))) return true;
    this.lost.splice(lostBefore);
    this.lost.push(pathOf(steps));
    return false;
  }

  #run(steps: readonly Step[], value: unknown): Outcome {
    return this.#carry(withValue(this.#base, steps, value, this.#values));
  }
}

/**
 * The same for events: each event is added to a default stream, in the place of the event of its type, or before the
 * end.
 */
export function lostEvents(root: Shape, how: SearchOptions, stream: EventPlaces): readonly string[] {
  const alternatives = root.kind === "union" ? root.of : [root];
  const defaultOutcome = stream.with(null);
  return alternatives.flatMap((alternative) => {
    if (alternative.kind !== "object") return [];
    const smallest = sampleOf(alternative, "", how.values) as object;
    const type = eventType(smallest) ?? "event";
    if (how.isHarmless(type)) return [];
    const defaultEvent = stream.defaultOf(type);
    if (defaultEvent === null) {
      const effect = effectOf(defaultOutcome, stream.with(smallest));
      if (effect === "warned" || effect === "refused") return [];
    }
    const within = { values: how.values, isHarmless: (path: string) => how.isHarmless(`${type}: ${path}`) };
    const search = new Search(defaultEvent ?? smallest, within, (event) => stream.with(event as object));
    const noticed = search.into(alternative, []);
    return noticed ? search.lost.map((path) => `${type}: ${path}`) : [type];
  });
}

export interface EventPlaces {
  /** The default event of a type. null: the stream has none. */
  defaultOf(type: string): object | null;
  with(event: object | null): Outcome;
}

/** Interactions have another name for it. */
export function eventType(event: object): string | undefined {
  const { type, event_type } = event as { readonly type?: string; readonly event_type?: string };
  return type ?? event_type;
}

/** The compared request: without the field, or with another value if it is required. */
function without(member: Member, sample: unknown): unknown {
  return member.optional ? undefined : otherThan(sample, member.of);
}

function effectOf(without: Outcome, withIt: Outcome): "carried" | "warned" | "refused" | "lost" {
  if ("refused" in withIt) return "refused";
  if ("refused" in without) return "carried";
  for (const warning of withIt.warnings) if (!without.warnings.has(warning)) return "warned";
  return withIt.written === without.written ? "lost" : "carried";
}

function hasVariants(shape: Shape): boolean {
  return shape.kind === "array" || (shape.kind === "union" && shape.of.some((one) => one.kind !== "scalar"));
}

function hasMembers(shape: Shape): boolean {
  if (shape.kind === "array") return hasMembers(shape.of);
  if (shape.kind === "union") return shape.of.some(hasMembers);
  return shape.kind === "object" && shape.members.length > 0;
}

function nameOf(steps: readonly Step[]): string {
  const last = steps.findLast((step) => "member" in step);
  return last !== undefined && "member" in last ? last.member.name : "";
}

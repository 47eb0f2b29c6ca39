import { Failure } from "#core/index.ts";
import { otherThan, pathOf, type Step, sampleOf, type Words, withValue } from "./samples.ts";
import type { Member, Shape, ShapeOf } from "./vendor-types.ts";

/** What came of a body: what was written of it and what was warned of; or that it was refused. */
export type Outcome =
  | { readonly written: string; readonly warnings: ReadonlySet<string> }
  | { readonly refused: string };

export type Carry = (body: unknown) => Outcome;

/** Runs the translation; only a refusal is an outcome, anything else is a fault of ours. */
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
 * The fields that are neither carried, warned of nor refused: the same is written and warned of with them and without. Every
 * member of every type is asked for where the type is first met and carried; of a union, each alternative.
 */
export function lostFields(root: Shape, base: unknown, how: Asked, carry: Carry): readonly string[] {
  const search = new Search(base, how, carry);
  // Requests that stream and those that do not are alike but for the word for it.
  search.into(root.kind === "union" ? (root.of[0] ?? root) : root, []);
  return search.lost;
}

export interface Asked {
  readonly words: Words;
  /** Whether nobody misses what stands at this path: it is not looked into. */
  readonly isHarmless: (path: string) => boolean;
}

class Search {
  readonly lost: string[] = [];
  readonly #base: unknown;
  readonly #words: Words;
  readonly #isHarmless: (path: string) => boolean;
  readonly #carry: Carry;
  /** Types whose members were asked for already. */
  readonly #walked = new Set<Shape>();

  constructor(base: unknown, { words, isHarmless }: Asked, carry: Carry) {
    this.#base = base;
    this.#words = words;
    this.#isHarmless = isHarmless;
    this.#carry = carry;
  }

  /** Gives whether anything inside was noticed. */
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
      const told = toldOf(this.#carry(this.#base), this.#run(steps, sampleOf(of, nameOf(steps), this.#words)));
      if (told === "warned" || told === "refused") return true;
    }
    return this.into(of, steps);
  }

  #alternative(alternative: Shape, steps: readonly Step[]): boolean {
    if (alternative.kind === "array") return this.into(alternative, steps);
    if (alternative.kind !== "object" || this.#isHarmless(pathOf(steps))) return true;
    const without = this.#run(steps.slice(0, -1), undefined);
    const told = toldOf(without, this.#run(steps, sampleOf(alternative, nameOf(steps), this.#words)));
    // Who is warned of the whole needs no word on its parts.
    if (told === "warned" || told === "refused") return true;
    const lostBefore = this.lost.length;
    const noticed = this.into(alternative, steps);
    if (told === "carried" || noticed) return true;
    // Nothing of it is noticed: that is said once.
    this.lost.splice(lostBefore);
    this.lost.push(pathOf(steps));
    return false;
  }

  #member(member: Member, of: ShapeOf, above: readonly Step[]): boolean {
    const steps: readonly Step[] = [...above, { member, of }];
    const sample = sampleOf(member.of, member.name, this.#words);
    const isFixed = member.of.kind === "scalar" && member.of.values.length === 1;
    if (isFixed && !member.optional) return false;
    if (this.#isHarmless(pathOf(steps))) return true;
    let told = toldOf(this.#run(steps, without(member, sample)), this.#run(steps, sample));
    // One value may ask for what happens anyway.
    const other = told === "lost" && member.optional ? otherThan(sample, member.of) : undefined;
    if (other !== undefined) told = toldOf(this.#run(steps, undefined), this.#run(steps, other));
    // Of several alternatives one may be warned of and another carried.
    if ((told === "warned" || told === "refused") && !isManifold(member.of)) return true;
    const lostBefore = this.lost.length;
    const noticed = this.into(member.of, steps);
    if (told !== "lost" || (noticed && holdsMore(member.of))) return true;
    this.lost.splice(lostBefore);
    this.lost.push(pathOf(steps));
    return false;
  }

  #run(steps: readonly Step[], value: unknown): Outcome {
    return this.#carry(withValue(this.#base, steps, value, this.#words));
  }
}

/** The same for events: each is put into an ordinary stream, in the place of the one of its type or before the end. */
export function lostOfEvents(root: Shape, how: Asked, stream: EventPlaces): readonly string[] {
  const alternatives = root.kind === "union" ? root.of : [root];
  const usual = stream.with(null);
  return alternatives.flatMap((alternative) => {
    if (alternative.kind !== "object") return [];
    const least = sampleOf(alternative, "", how.words) as { readonly type?: string };
    const type = least.type ?? "event";
    if (how.isHarmless(type)) return [];
    const known = stream.usualOf(type);
    if (known === null) {
      const told = toldOf(usual, stream.with(least));
      if (told === "warned" || told === "refused") return [];
    }
    const within = { words: how.words, isHarmless: (path: string) => how.isHarmless(`${type}: ${path}`) };
    const search = new Search(known ?? least, within, (event) => stream.with(event as object));
    const noticed = search.into(alternative, []);
    return noticed ? search.lost.map((path) => `${type}: ${path}`) : [type];
  });
}

export interface EventPlaces {
  /** The ordinary event of a type; null where the stream has none. */
  usualOf(type: string): object | null;
  with(event: object | null): Outcome;
}

/** What the field is compared with: its absence, or another value where it must be there. */
function without(member: Member, sample: unknown): unknown {
  return member.optional ? undefined : otherThan(sample, member.of);
}

function toldOf(without: Outcome, withIt: Outcome): "carried" | "warned" | "refused" | "lost" {
  if ("refused" in withIt) return "refused";
  if ("refused" in without) return "carried";
  for (const warning of withIt.warnings) if (!without.warnings.has(warning)) return "warned";
  return withIt.written === without.written ? "lost" : "carried";
}

function isManifold(shape: Shape): boolean {
  return shape.kind === "array" || (shape.kind === "union" && shape.of.some((one) => one.kind !== "scalar"));
}

function holdsMore(shape: Shape): boolean {
  if (shape.kind === "array") return holdsMore(shape.of);
  if (shape.kind === "union") return shape.of.some(holdsMore);
  return shape.kind === "object" && shape.members.length > 0;
}

function nameOf(steps: readonly Step[]): string {
  const last = steps.findLast((step) => "member" in step);
  return last !== undefined && "member" in last ? last.member.name : "";
}

import { defaultValues, type Step, sampleOf, withValue } from "../translation/fields/samples.ts";
import type { Member, Shape } from "../translation/fields/vendor-types.ts";

/** A member of a type of requests, where it is met first under a root. */
export interface Occurrence {
  readonly root: string;
  /** The name of the type that has the member. */
  readonly owner: string;
  readonly member: Member;
  /** From the root's type to the member. */
  readonly steps: readonly Step[];
}

/** Every member of every type below a root, once for each type. */
export function membersOf(root: string, shape: Shape): readonly Occurrence[] {
  const found: Occurrence[] = [];
  const visited = new Set<Shape>();
  const walk = (at: Shape, steps: readonly Step[], above: string): void => {
    if (visited.has(at)) return;
    visited.add(at);
    if (at.kind === "array") walk(at.of, [...steps, { element: true }], above);
    if (at.kind === "union") for (const one of at.of) walk(one, [...steps, { alternative: one }], above);
    if (at.kind !== "object") return;
    // Types without a name are listed under the type that contains them.
    const owner = at.name === "" || at.name === "__type" ? above : at.name;
    for (const member of at.members) {
      if (member.name.startsWith("__@")) continue;
      const to: readonly Step[] = [...steps, { member, of: at }];
      found.push({ root, owner, member, steps: to });
      walk(member.of, to, owner);
    }
  };
  walk(shape, [], root);
  return found;
}

/** The smallest body that has the member, on top of `base`, and the value of the member. */
export function bodyWith(
  { member, steps }: Occurrence,
  base: Readonly<Record<string, unknown>>,
): { body: object; value: unknown } {
  const value = sampleOf(member.of, member.name, sampleValues);
  const [first] = steps;
  const within = first !== undefined && "alternative" in first ? steps.slice(1) : steps;
  return { body: withValue(base, within, value, sampleValues) as object, value };
}

const sampleValues = {
  ...defaultValues,
  fileUri: "files/abc",
  uri: "files/abc",
  max_total_tokens: "5",
  continuation_token: "token_abc",
  voice: "voice_abc",
  type: "custom",
  n: 2,
  candidateCount: 2,
};

/** The same body without the member, but with the objects that contain it. */
export function bodyWithout({ member, steps }: Occurrence, base: Readonly<Record<string, unknown>>): object {
  const [first] = steps;
  const within = first !== undefined && "alternative" in first ? steps.slice(1) : steps;
  const { [member.name]: _, ...rest } = { ...base };
  return withValue(within.length === 1 ? rest : base, within, undefined, sampleValues) as object;
}

/** The strings in a value, at any depth. */
export function textsIn(value: unknown): readonly string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

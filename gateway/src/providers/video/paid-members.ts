import type { Provider } from "#core/index.ts";
import { isObject, type JsonObject } from "#protocols/index.ts";
import { passesMember } from "../settings.ts";

/** A vendor's field that changes the price of a video. */
interface PaidMember {
  /** The priced field of our API with the same meaning; null: none. */
  readonly instead: "duration" | "resolution" | "audio" | null;
  /** Values without an extra charge. */
  readonly takes: readonly unknown[];
}

/** By lowercase name without dashes and underscores. */
export type PaidMembers = Readonly<Record<string, PaidMember>>;

export interface PaidMemberFound extends PaidMember {
  /** Such as parameters.sampleCount. */
  readonly path: string;
  readonly value: unknown;
}

/** The caller's vendor fields that would raise the price past our priced fields, unless the account allows them. */
export function paidMembersIn(
  vendorFields: Readonly<JsonObject>,
  provider: Provider,
  own: PaidMembers = {},
): readonly PaidMemberFound[] {
  const found: PaidMemberFound[] = [];
  const collect = (members: Readonly<JsonObject>, above: string): void => {
    for (const [name, value] of Object.entries(members)) {
      if (above === "" && holders.has(name) && isObject(value)) collect(value, `${name}.`);
      const folded = name.replaceAll(/[-_]/g, "").toLowerCase();
      const paid =
        (Object.hasOwn(own, folded) ? own[folded] : undefined) ?? common.find(([names]) => names.test(folded))?.[1];
      if (paid === undefined || value === null || paid.takes.includes(value) || passesMember(provider, name)) continue;
      found.push({ ...paid, path: above + name, value });
    }
  };
  collect(vendorFields, "");
  return found;
}

const holders: ReadonlySet<string> = new Set(["parameters", "input"]);

const common: readonly (readonly [RegExp, PaidMember])[] = [
  [
    /^(?:n|nvariants|count|batchsize|samplecount|videocount|num(?:berof)?(?:videos(?:perprompt)?|outputs))$/,
    { instead: null, takes: [1, "1"] },
  ],
  [/^(?:duration(?:seconds)?|seconds|videolength|(?:num)?frames|framecount)$/, { instead: "duration", takes: [] }],
  [/^(?:resolution|(?:video)?size|quality)$/, { instead: "resolution", takes: [] }],
  [/^(?:(?:generate|enable)?audio|sound)$/, { instead: "audio", takes: [false, "off"] }],
  [/^servicetier$/, { instead: null, takes: ["default", "standard", "flex"] }],
  // The operator decides where results are stored.
  [/^(?:storageuri|model(?:name)?)$/, { instead: null, takes: [] }],
];

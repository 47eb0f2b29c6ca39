import { Failure, type Provider } from "#core/index.ts";
import { JsonInvalid, readSpan, type Span, scanObject, type Warn } from "#protocols/index.ts";
import { editBody } from "./edit-body.ts";

/** What becomes of one member that chooses a model or multiplies a cost. */
export interface MemberRule {
  /** Values that choose nothing and cost no more; they go on. null always does. */
  readonly takes?: readonly (string | number)[];
  /** Said to the caller in the place of leaving it out, where leaving it out would break a promise made to somebody. */
  readonly refused?: string;
}

export type MemberRules = Readonly<Record<string, MemberRule>>;

export interface GovernedFor {
  /** The members to look for. */
  readonly choosing: readonly string[];
  readonly provider: Provider;
  /** Of the provider's kind. */
  readonly rules: MemberRules;
  readonly warn: Warn;
}

/** A setting of every kind: members that an operator lets through, whatever they choose or cost. */
export const passMembers = "pass_members";

/**
 * A body without those members that would choose a model past its grant or cost more than its price: left out with a
 * warning, or refused. Rare, so the body may be scanned once more. Throws Failure invalid_request.
 */
export function governedBody(body: Uint8Array, { choosing, provider, rules, warn }: GovernedFor): Uint8Array {
  const left: string[] = [];
  for (const [name, span] of choosingOf(body, new Set(choosing))) {
    if (passesMember(provider, name)) continue;
    const { takes = [], refused } = rules[name] ?? commonRules[name] ?? {};
    const value = readSpan(body, span);
    if (value === null || isOneOf(value, takes)) continue;
    if (refused !== undefined) throw new Failure("invalid_request", refused, { param: name, retry: "other" });
    left.push(name);
    warn(`${name} is governed by the gateway and was left out`);
  }
  return left.length === 0 ? body : editBody(body, { remove: left });
}

/** What is wrong with `settings.pass_members`; null when nothing is. */
export function passMembersProblem(provider: Provider): string | null {
  const said = provider.settings[passMembers];
  if (said === undefined) return null;
  if (Array.isArray(said) && said.every((name) => typeof name === "string" && name !== "")) return null;
  return `settings.${passMembers} must be a list of names of fields`;
}

/** Whether the operator lets this member through to this account. */
export function passesMember(provider: Provider, name: string): boolean {
  const said = provider.settings[passMembers];
  return Array.isArray(said) && said.includes(name);
}

/** Where a kind says nothing else. Tiers and speeds that cost more than the plain price are not among those taken. */
const commonRules: MemberRules = {
  service_tier: { takes: ["auto", "default", "standard", "standard_only", "on_demand", "flex"] },
  serviceTier: { takes: ["auto", "default", "standard", "flex", "service_tier_standard", "service_tier_flex"] },
  speed: { takes: ["standard"] },
  best_of: { takes: [1] },
  inference_geo: {
    takes: ["global"],
    refused: "Where the model runs is decided by the gateway: leave inference_geo out, or ask its operator for it.",
  },
  data_sources: { refused: "Data sources of the account cannot be used through the gateway." },
};

function choosingOf(body: Uint8Array, names: ReadonlySet<string>): ReadonlyMap<string, Span> {
  try {
    return scanObject(body, names);
  } catch (thrown) {
    if (thrown instanceof JsonInvalid) return new Map();
    throw thrown;
  }
}

function isOneOf(value: unknown, takes: readonly (string | number)[]): boolean {
  return takes.includes(typeof value === "string" ? value.toLowerCase() : (value as number));
}

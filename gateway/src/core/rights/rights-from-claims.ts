import type { RightsRule } from "@sluice/contract/config-file";
import type { Remark, WorkspaceRole } from "@sluice/contract/words";
import { piecesMatch } from "../texts.ts";
import { type Claims, type ClaimValue, claimAt } from "./claim-values.ts";

/** The result of one rule. `gives` is empty if an earlier rule decided. */
interface RuleFinding {
  /** In the order of the rules, from 1. */
  readonly number: number;
  readonly rule: RightsRule;
  readonly matched: boolean;
  readonly gives: {
    readonly administrator: boolean;
    readonly role: WorkspaceRole | null;
    readonly group: string | null;
  };
  readonly why: Remark<"rightsRule">;
}

/** Rights in one workspace, by its slug. `rules` names the rules. */
interface PlaceClaimed {
  readonly workspace: string;
  readonly role: WorkspaceRole | null;
  readonly group: string | null;
  readonly rules: string;
}

export interface RightsClaimed {
  /** The rules that make the user an administrator; null if none does. */
  readonly administrator: string | null;
  readonly places: readonly PlaceClaimed[];
  readonly findings: readonly RuleFinding[];
}

/** Existing workspaces with their groups. */
export type PlacesThere = ReadonlyMap<string, ReadonlySet<string>>;

/**
 * Applies the rules to claims. In each workspace the first matching rule with a role decides the role, and the first with a group the
 * group. A rule that names something that does not exist gives nothing.
 */
export function rightsFromClaims(rules: readonly RightsRule[], claims: Claims, there: PlacesThere): RightsClaimed {
  const decided: DecidedSoFar = { administrator: null, places: new Map() };
  const findings = rules.map((rule, index): RuleFinding => {
    const number = index + 1;
    const verdict = verdictOf(rule, claimAt(claims, rule.claim));
    if (verdict.code !== "matches") return { number, rule, matched: false, gives: nothing, why: verdict };
    const missing = missingOf(rule, there);
    if (missing !== null) return { number, rule, matched: true, gives: nothing, why: missing };
    const { gives, decidedBy } = give(decided, rule, number);
    const why: Remark<"rightsRule"> =
      decidedBy === null ? verdict : { code: "decided_before", params: { rule: decidedBy } };
    return { number, rule, matched: true, gives, why };
  });
  return {
    administrator: decided.administrator?.label ?? null,
    places: [...decided.places].map(([workspace, { role, group }]) => ({
      workspace,
      role: role?.value ?? null,
      group: group?.value ?? null,
      rules: [...new Set([role, group].flatMap((each) => each?.label ?? []))].join(", "),
    })),
    findings,
  };
}

interface Decided<Value> {
  readonly value: Value;
  readonly number: number;
  /** Name of the rule in reasons. */
  readonly label: string;
}

interface DecidedSoFar {
  administrator: Decided<true> | null;
  readonly places: Map<string, { role: Decided<WorkspaceRole> | null; group: Decided<string> | null }>;
}

const nothing: RuleFinding["gives"] = { administrator: false, role: null, group: null };

/** `decidedBy`: the earlier rule that decided instead. */
function give(
  sofar: DecidedSoFar,
  rule: RightsRule,
  number: number,
): { readonly gives: RuleFinding["gives"]; readonly decidedBy: number | null } {
  const decide = <Value>(value: Value): Decided<Value> => ({ value, number, label: rule.name ?? `rule ${number}` });
  if (rule.administrator === true) {
    const earlier = sofar.administrator;
    sofar.administrator ??= decide(true);
    return { gives: { ...nothing, administrator: earlier === null }, decidedBy: earlier?.number ?? null };
  }
  const workspace = rule.workspace ?? "";
  const place = sofar.places.get(workspace) ?? { role: null, group: null };
  sofar.places.set(workspace, place);
  const role = rule.role !== undefined && place.role === null ? rule.role : null;
  const group = rule.group !== undefined && place.group === null ? rule.group : null;
  const earlier = (rule.role === undefined ? place.group : place.role)?.number ?? null;
  if (role !== null) place.role = decide(role);
  if (group !== null) place.group = decide(group);
  return { gives: { ...nothing, role, group }, decidedBy: role === null && group === null ? earlier : null };
}

function missingOf(rule: RightsRule, there: PlacesThere): Remark<"rightsRule"> | null {
  if (rule.administrator === true) return null;
  const workspace = rule.workspace ?? "";
  const groups = there.get(workspace);
  if (groups === undefined) return { code: "no_workspace", params: { workspace } };
  if (rule.group === undefined || groups.has(rule.group)) return null;
  return { code: "no_group", params: { group: rule.group, workspace } };
}

function verdictOf(rule: RightsRule, value: ClaimValue): Remark<"rightsRule"> {
  const { claim } = rule;
  if (value.kind === "missing") return { code: "no_claim", params: { claim } };
  if (value.kind === "left-out") return { code: "left_out", params: { claim } };
  if (value.kind === "not-plain") return { code: "not_plain", params: { claim } };
  const isList = value.kind === "list";
  const values: readonly string[] = value.values;
  if (isList && (rule.equals !== undefined || rule.one_of !== undefined)) {
    return { code: "is_list", params: { claim } };
  }
  const matching = values.find((each) => matchesOne(rule, each));
  if (matching !== undefined) return { code: "matches", params: { found: shown(matching) } };
  return { code: isList ? "not_in_list" : "other_value", params: { claim, found: shown(values.join(", ")) } };
}

function matchesOne(rule: RightsRule, value: string): boolean {
  if (rule.equals !== undefined) return value === String(rule.equals);
  if (rule.one_of !== undefined) return rule.one_of.includes(value);
  if (rule.contains !== undefined) return value === rule.contains;
  return rule.matches !== undefined && piecesMatch(rule.matches.split(/\*+/), value);
}

const shownMax = 200;

function shown(text: string): string {
  return text.length <= shownMax ? text : `${text.slice(0, shownMax)}…`;
}

/** Defaults of a single sign-on account. */
export const oidcDefaults = Object.freeze({
  secondFactorTrusted: false,
  scopes: [] as readonly string[],
  offlineAccess: false,
  recheckMinutes: 15,
  graceHours: 24,
  directoryClaim: null,
});

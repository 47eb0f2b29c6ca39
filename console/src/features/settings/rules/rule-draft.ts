import type { AnswerOf, BodyInput, WorkspaceRole } from "@sluice/contract";
import { t } from "../../../language/areas/rules.ts";
import type { Faults } from "../../catalog/use-faults.ts";
import { roleWords } from "../../workspaces/role-words.ts";

export type Rule = AnswerOf<"rights.rules">["rules"][number];
type Rules = BodyInput<"rights.putRules">["rules"];

export const matchKinds = ["equals", "one_of", "contains", "matches"] as const;
type MatchKind = (typeof matchKinds)[number];

export interface RuleDraft {
  /** Stays the same when the rule is moved. */
  readonly key: number;
  readonly name: string;
  readonly claim: string;
  readonly kind: MatchKind;
  /** For every kind except `one_of`. */
  readonly value: string;
  readonly values: readonly string[];
  readonly administrator: boolean;
  readonly workspace: string;
  readonly role: WorkspaceRole | null;
  readonly group: string;
}

export function newRule(key: number): RuleDraft {
  return draftOf({ claim: "groups", contains: "" }, key);
}

export function draftOf(rule: Rule, key: number): RuleDraft {
  const kind = matchKinds.find((each) => rule[each] !== undefined) ?? "contains";
  return {
    key,
    name: rule.name ?? "",
    claim: rule.claim,
    kind,
    value: kind === "one_of" ? "" : String(rule[kind] ?? ""),
    values: rule.one_of ?? [],
    administrator: rule.administrator === true,
    workspace: rule.workspace ?? "",
    role: rule.role ?? null,
    group: rule.group ?? "",
  };
}

/** Numbers and booleans are compared as text, so they are sent as text. */
export function rulesOf(drafts: readonly RuleDraft[]): Rules {
  return drafts.map((draft) => ({
    ...(draft.name.trim() === "" ? {} : { name: draft.name.trim() }),
    claim: draft.claim.trim(),
    [draft.kind]: draft.kind === "one_of" ? [...draft.values] : draft.value,
    ...(draft.administrator
      ? { administrator: true }
      : {
          workspace: draft.workspace.trim(),
          ...(draft.role === null ? {} : { role: draft.role }),
          ...(draft.group.trim() === "" ? {} : { group: draft.group.trim() }),
        }),
  }));
}

/** Validation errors by the gateway's field name: `rules.2.workspace`. */
export function faultsOf(drafts: readonly RuleDraft[]): Faults {
  const faults: Record<string, string> = {};
  for (const [index, { claim, kind, value, values, administrator, workspace, role, group }] of drafts.entries()) {
    const at = `rules.${index}`;
    if (claim.trim() === "") faults[`${at}.claim`] = t("rules.missing.claim");
    if (kind === "one_of" ? values.length === 0 : value === "") faults[`${at}.${kind}`] = t("rules.missing.value");
    if (administrator) continue;
    if (workspace.trim() === "") faults[`${at}.workspace`] = t("rules.missing.workspace");
    if (role === null && group.trim() === "") faults[`${at}.role`] = t("rules.missing.roleOrGroup");
  }
  return faults;
}

/** Which rule a field belongs to: 2 of `rules.2.workspace`. */
export function ruleAt(field: string | null | undefined): number | null {
  const found = /^rules\.(\d+)(?:\.|$)/.exec(field ?? "");
  return found === null ? null : Number(found[1]);
}

export function moved(drafts: readonly RuleDraft[], from: number, to: number): readonly RuleDraft[] {
  const rest = drafts.filter((_, index) => index !== from);
  return [...rest.slice(0, to), ...drafts.slice(from, from + 1), ...rest.slice(to)];
}

export function conditionWords({ claim, kind, value, values }: RuleDraft): string {
  if (claim === "") return t("rules.noClaim");
  return t("rules.summary", { kind, claim, value: (kind === "one_of" ? values.join(", ") : value) || "…" });
}

interface GrantedRights {
  readonly administrator?: boolean;
  readonly workspace: string;
  readonly role: WorkspaceRole | null;
  readonly group: string | null;
}

/** Text for the rights that a rule, or several rules together, grant. */
export function grantWords({ administrator, workspace, role, group }: GrantedRights): string {
  if (administrator === true) return t("rules.administrator");
  if (workspace === "" || (role === null && !group)) return t("rules.nothing");
  if (role === null) return t("rules.groupIn", { workspace, group: group ?? "" });
  const words = { workspace, role: roleWords[role].label };
  return group ? t("rules.roleAndGroupIn", { ...words, group }) : t("rules.roleIn", words);
}

/** Translates rule names of the gateway, such as `eng, rule 2`. */
export function namesOfRules(names: string): string {
  return names.replace(/(^|, )rule (\d+)(?=, |$)/g, (_, before: string, number: string) => {
    return `${before}${t("rules.numbered", { number })}`;
  });
}

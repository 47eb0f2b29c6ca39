import type { GuardrailSide } from "@sluice/contract/words";
import {
  BoundedMap,
  type ConfigSnapshot,
  type Detector,
  type Guardrail,
  type LocatingCheck,
  oncePerObject,
  type Principal,
} from "#core/index.ts";
import type { TextFilter } from "#protocols/index.ts";
import { createDetector, filterOf } from "./detect/index.ts";

/** A guardrail with a compiled detector. */
export interface LocatingRule {
  readonly guardrail: Guardrail;
  readonly detector: Detector;
}

/** The guardrails of one side of a caller's calls. */
export interface SidePolicy {
  readonly all: readonly Guardrail[];
  readonly locating: readonly LocatingRule[];
  /** Checked by a model or a service. */
  readonly remote: readonly Guardrail[];
  /** Excludes texts in which no detector finds anything; null: all have to be searched. */
  readonly filter: TextFilter | null;
}

export interface GuardrailPolicy {
  readonly input: SidePolicy;
  readonly output: SidePolicy;
}

const detectorsMax = 256;
const detectors = new WeakMap<LocatingCheck, Detector>();
/** The same by the check as JSON: threads get a copy of the check with each body. */
const detectorsByJson = new BoundedMap<string, Detector>(detectorsMax);

export function detectorOf(check: LocatingCheck): Detector {
  const own = detectors.get(check);
  if (own !== undefined) return own;
  const json = JSON.stringify(check);
  const detector = detectorsByJson.get(json) ?? createDetector(check);
  detectors.set(check, detector);
  detectorsByJson.set(json, detector);
  return detector;
}

/** With compiled detectors. */
export const sideOf = oncePerObject((all: readonly Guardrail[]): SidePolicy => {
  const locating = all.flatMap((guardrail) => {
    const { check } = guardrail;
    return isLocating(check) ? [{ guardrail, detector: detectorOf(check) }] : [];
  });
  const remote = all.filter(({ check }) => !isLocating(check));
  return { all, locating, remote, filter: filterOf(all.map(({ check }) => check).filter(isLocating)) };
});

const policies = oncePerObject(
  (_guardrails: ConfigSnapshot["guardrails"]) => new WeakMap<Principal, GuardrailPolicy>(),
);

/** null: no guardrail applies to the caller. */
export function policyOf({ guardrails }: ConfigSnapshot, principal: Principal): GuardrailPolicy | null {
  if (guardrails.length === 0) return null;
  const byPrincipal = policies(guardrails);
  let policy = byPrincipal.get(principal);
  if (policy === undefined) {
    policy = policyFor(guardrails.filter((guardrail) => appliesToCaller(guardrail, principal)));
    byPrincipal.set(principal, policy);
  }
  return policy.input.all.length === 0 && policy.output.all.length === 0 ? null : policy;
}

export interface GuardedCaller {
  readonly workspace: { readonly id: string };
  readonly group: { readonly id: string };
  readonly key: { readonly id: string };
}

export function appliesToCaller(
  { workspaceId, workspaces, groups, keys }: Pick<Guardrail, "workspaceId" | "workspaces" | "groups" | "keys">,
  { key, group, workspace }: GuardedCaller,
): boolean {
  if (workspaceId !== null && workspaceId !== workspace.id) return false;
  if (workspaces.length === 0 && groups.length === 0 && keys.length === 0) return true;
  return workspaces.includes(workspace.id) || groups.includes(group.id) || keys.includes(key.id);
}

export function policyFor(guardrails: readonly Guardrail[]): GuardrailPolicy {
  const on = (side: GuardrailSide) => sideOf(guardrails.filter((guardrail) => guardrail.on.includes(side)));
  return { input: on("input"), output: on("output") };
}

export function isLocating(check: Guardrail["check"]): check is LocatingCheck {
  return check.kind !== "moderation" && check.kind !== "classifier" && check.kind !== "webhook";
}

import {
  type BudgetPolicy,
  bounds,
  type ConfigSnapshot,
  type LimitScope,
  noPolicyValue,
  periodStart,
  personOf,
  personOfScope,
  personScopeId,
  policyIdOf,
  policyScope,
  windowName,
  windowStart,
} from "#core/index.ts";
import type { ControlStore, ExpiringToken, PeopleStore } from "#directory/index.ts";
import type { Admission, ScopeLimitUsage } from "#limits/index.ts";
import type { Clock, ReportStore } from "#ports/index.ts";
import { type Finding, type Findings, findingsMax, type Watched } from "./finding.ts";

export interface BudgetSources {
  readonly controlStore: Pick<ControlStore, "limitedKeys" | "expiringTokens" | "keyById" | "reportedKeyRequests">;
  readonly people: Pick<PeopleStore, "limitedPeople">;
  readonly admission: Pick<Admission, "limitUsages">;
  readonly configSnapshot: () => ConfigSnapshot;
  readonly reports: Pick<ReportStore, "policyValues">;
  readonly clock: Pick<Clock, "now">;
}

/** The most budgets of keys, and of people, that one call reads: of the installation or of one workspace. */
const scopesMax = 5_000;

export interface BudgetUse extends ScopeLimitUsage {
  /** null: a policy of the installation. */
  readonly workspaceId: string | null;
  /** For a budget of a person or a personal key. */
  readonly personId: string | null;
}

/** `truncated`: there are more budgets. */
interface BudgetUses {
  readonly uses: readonly BudgetUse[];
  readonly truncated: boolean;
}

/** The use of every budget of a workspace, or with null of the installation. */
export async function readBudgets(sources: BudgetSources, workspaceId: string | null): Promise<BudgetUses> {
  const { controlStore, people, admission, configSnapshot } = sources;
  const { workspaces, groups } = configSnapshot();
  const owners = new Map<string, { readonly workspaceId: string | null; readonly personId: string | null }>();
  const scopes: LimitScope[] = [];
  const add = (scope: LimitScope, workspaceId: string | null, personId: string | null) => {
    if (scope.budget === null) return;
    owners.set(`${scope.kind} ${scope.id}`, { workspaceId, personId });
    scopes.push(scope);
  };
  const isRead = (id: string) => workspaceId === null || id === workspaceId;
  for (const { scope, id } of workspaces.values()) if (isRead(id)) add(scope, id, null);
  for (const group of groups.values()) if (isRead(group.workspaceId)) add(group.scope, group.workspaceId, null);
  const persons = await people.limitedPeople({ workspaceId }, scopesMax);
  for (const person of persons) add(person.scope, person.workspaceId, person.userId);
  const keys = await controlStore.limitedKeys({ workspaceId }, scopesMax);
  for (const key of keys) add(key.scope, key.workspaceId, personOf(key));
  for (const policy of configSnapshot().budgetPolicies) {
    if (workspaceId !== null && policy.workspaceId !== workspaceId) continue;
    for (const scope of await policyScopes(sources, policy)) add(scope, policy.workspaceId, null);
  }
  const usages = await admission.limitUsages(scopes);
  const uses = usages.flatMap((use) => {
    const owner = owners.get(`${use.scope} ${use.scopeId}`);
    return owner === undefined || use.name !== "budget" ? [] : [{ ...use, ...owner }];
  });
  return { uses, truncated: Math.max(persons.length, keys.length) >= scopesMax };
}

/** Of a split policy, the values that spent the most. */
async function policyScopes({ reports, clock }: BudgetSources, policy: BudgetPolicy): Promise<readonly LimitScope[]> {
  if (policy.splitBy === null) return [policyScope({ policy, value: null })];
  const from = windowStart(policy.budget, clock.now());
  const found = await reports.policyValues({ policy, value: null }, from - (from % hourMs), policyValuesMax);
  return found.map(({ value }) => policyScope({ policy, value: value === "" ? noPolicyValue : value }));
}

const hourMs = 3_600_000;
/** Values of a split policy that are watched. */
const policyValuesMax = 50;

export function budgetFindings(
  { workspaceId, condition }: Watched<"budget">,
  uses: readonly BudgetUse[],
  now: number,
): Findings {
  const found: Finding[] = [];
  const undecided = new Set<string>();
  const percents = condition.percent.toSorted((one, other) => one - other);
  for (const use of uses) {
    if (use.period === null || !covers(workspaceId, condition, use)) continue;
    // A budget of 0 is exhausted from the start, so it raises no alert.
    if (use.limit <= 0) continue;
    const window = { period: use.period, rolling: use.isRolling === true, ...zoneOf(use) };
    // A rolling window has no end that resolves the alert: it ends when enough has left the window.
    const start = window.rolling ? "" : ` ${periodStart(window, now)}`;
    const subject = `budget ${use.scope} ${use.scopeId} ${windowName(window)}${start}`;
    if (use.used === null) {
      undecided.add(subject);
      continue;
    }
    const spent = use.used - (use.held ?? 0);
    const percent = (100 * spent) / use.limit;
    const reached = percents.filter((each) => percent >= each).length;
    if (reached === 0) continue;
    // At 100 % the alert becomes critical, so this is a level even if the rule does not list it.
    const isFull = percent >= 100;
    const level = isFull && !percents.includes(100) ? reached + 1 : reached;
    found.push({
      kind: "budget",
      subject,
      ...{ workspaceId: use.workspaceId, personId: use.personId, level },
      severity: isFull ? "critical" : "warning",
      facts: {
        scope: use.scope,
        scope_id: publicIdOf(use),
        // The label begins with the type: `key acme/ci`.
        name: use.label.slice(use.scope.length + 1),
        period: use.period,
        ...{ used_usd: spent, limit_usd: use.limit, percent },
      },
    });
  }
  return { found: found.slice(0, findingsMax), undecided };
}

function publicIdOf({ scope, scopeId }: BudgetUse): string {
  if (scope === "policy") return policyIdOf(scopeId);
  return scope === "person" ? personOfScope(scopeId)[1] : scopeId;
}

function zoneOf({ timeZone }: BudgetUse): { readonly timeZone?: string } {
  return timeZone == null ? {} : { timeZone };
}

function covers(workspaceId: string | null, condition: Watched<"budget">["condition"], use: BudgetUse): boolean {
  if (workspaceId !== null && workspaceId !== use.workspaceId) return false;
  const { scope, scope_id: id } = condition;
  if (scope === null) return true;
  if (scope !== use.scope) return false;
  if (id === null) return true;
  if (scope === "policy") return policyIdOf(use.scopeId) === id;
  return use.scopeId === (scope === "person" ? personScopeId(use.workspaceId ?? "", id) : id);
}

const dayMs = 86_400_000;

/**
 * Enabled service tokens of a workspace, or with null of all workspaces, that expire within the longest time that a rule may set. Each
 * workspace is read separately, so that many tokens of one do not hide the tokens of others.
 */
export async function readTokens(
  { controlStore, configSnapshot }: BudgetSources,
  workspaceId: string | null,
  now: number,
) {
  const workspaces = workspaceId === null ? [...configSnapshot().workspaces.keys()] : [workspaceId];
  return await controlStore.expiringTokens(workspaces, now, now + tokenDaysMax * dayMs, bounds.tokensEndingMax);
}

const tokenDaysMax = 90;

/** `slugOf`: the slug of a workspace. A changed expiry is another subject. */
export function tokenFindings(
  { workspaceId, condition }: Watched<"token_expiry">,
  tokens: readonly ExpiringToken[],
  slugOf: (workspaceId: string) => string,
  now: number,
): Findings {
  const found: Finding[] = [];
  for (const token of tokens) {
    if (workspaceId !== null && token.workspaceId !== workspaceId) continue;
    if (condition.key !== undefined && condition.key !== token.keyId) continue;
    const reached = condition.days.filter((days) => token.expiresAt - now <= days * dayMs);
    if (reached.length === 0) continue;
    const days = Math.min(...reached);
    found.push({
      kind: "token_expiry",
      subject: `token ${token.keyId} ${token.expiresAt}`,
      ...{ workspaceId: token.workspaceId, personId: null, level: reached.length },
      severity: days <= 1 ? "critical" : "warning",
      facts: {
        workspace: slugOf(token.workspaceId),
        token: token.name,
        ...{ key_id: token.keyId, expires_at: token.expiresAt, days },
      },
    });
  }
  return { found: found.slice(0, findingsMax), undecided: new Set() };
}

import {
  type Batch,
  type BudgetPolicy,
  followsAttempts,
  goesByTags,
  type HeaderReader,
  type LimitScope,
  type Model,
  oncePerObject,
  type Principal,
} from "#core/index.ts";
import { mayCall, shadowDenialsOf } from "#identity/index.ts";
import { type EndpointProtocol, endpointProtocols, type RequestFacts } from "#protocols/index.ts";
import type { Call } from "#relay/index.ts";

export interface RowCall extends Pick<Call, "requestId" | "signal" | "startedMs" | "attempts"> {
  readonly batch: Pick<Batch, "id" | "headers" | "userAgent" | "tags">;
  readonly customId: string;
  readonly principal: Principal;
  readonly protocol: EndpointProtocol;
  readonly facts: RequestFacts;
  readonly body: Uint8Array;
  readonly models: readonly Model[];
}

/** A row as a call. */
export function rowCall({ batch, customId, principal, ...call }: RowCall): Call {
  return {
    ...call,
    principal,
    marks: null,
    headers: headersOf(batch.headers),
    query: "",
    mayCall: (model) => mayCall(principal, model),
    // Addresses were checked when the batch was created.
    shadowDenials: shadowDenialsOf(principal),
    bodyWaitMs: 0,
    userAgent: batch.userAgent,
    tags: batch.tags,
    session: null,
    batch: { id: batch.id, customId },
    streamEnd: () => undefined,
  };
}

const headersOf = oncePerObject((headers: Batch["headers"]): HeaderReader => new Headers(headers));

/** The principal without its budgets. */
export const withoutBudgets = oncePerObject((principal: Principal): Principal => withBudgets(principal, () => false));

/** The principal with the budgets that the batch holds its money on. */
export function withHeldBudgets(principal: Principal, { budgets }: Pick<Batch, "budgets">): Principal {
  return withBudgets(principal, (name) => budgets.includes(name));
}

/** The principal with the budgets that were added after the batch was created. */
export function withAddedBudgets(principal: Principal, { budgets }: Pick<Batch, "budgets">): Principal {
  return withBudgets(principal, (name) => !budgets.includes(name));
}

function withBudgets({ policies: all, ...others }: Principal, isWanted: (name: string) => boolean): Principal {
  const scopes = others.scopes.map((scope) => {
    const name = budgetName(scope);
    return name === null || isWanted(name) ? scope : { ...scope, budget: null };
  });
  const policies = all?.filter((policy) => goesByRow(policy) || isWanted(policyName(policy)));
  return { ...others, scopes, ...(policies === undefined || policies.length === 0 ? {} : { policies }) };
}

/** Rows may differ in it: each row holds its own money on the policy. */
function goesByRow(policy: BudgetPolicy): boolean {
  return followsAttempts(policy) || goesByTags(policy);
}

function policyName({ id, budget }: BudgetPolicy): string {
  return `policy ${id} ${budget.period}`;
}

/** A limit that changes does not change the name. null: there is no budget. */
function budgetName({ kind, id, budget }: LimitScope): string | null {
  return budget === null ? null : `${kind} ${id} ${budget.period}`;
}

/** The budgets that money is held on. */
export function budgetNames({ scopes, policies = [] }: Principal): readonly string[] {
  const held = policies.filter((policy) => !goesByRow(policy) && policy.budget.enforce !== false);
  return [
    ...scopes.flatMap((scope) => (scope.budget?.enforce === false ? [] : (budgetName(scope) ?? []))),
    ...held.map(policyName),
  ];
}

/** Whether rows of this key may begin. */
export function maySend({ key, workspace }: Principal, now: number): boolean {
  return key.enabled && workspace.enabled && (key.expiresAt === null || key.expiresAt > now);
}

export function hasBudget({ scopes, policies = [] }: Principal): boolean {
  return [...scopes, ...policies].some(({ budget }) => budget !== null && budget.enforce !== false);
}

/** The protocol of the rows of a batch. */
export function protocolOf({ endpoint }: Pick<Batch, "endpoint">): EndpointProtocol {
  return endpointProtocols[endpoint as keyof typeof endpointProtocols];
}

/** The model in the path of its rows; null: they name their own. */
export function pathModelOf({ api, model }: Pick<Batch, "api" | "model">): string | null {
  return api === "gemini" ? model : null;
}

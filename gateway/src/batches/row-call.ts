import { type Batch, type HeaderReader, type Model, oncePerObject, type Principal } from "#core/index.ts";
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

/** The principal without its budgets: the batch holds the money of its rows. */
export const withoutBudgets = oncePerObject((principal: Principal): Principal => {
  return { ...principal, scopes: principal.scopes.map((scope) => ({ ...scope, budget: null })) };
});

/** Whether rows of this key may begin. */
export function maySend({ key, workspace }: Principal, now: number): boolean {
  return key.enabled && workspace.enabled && (key.expiresAt === null || key.expiresAt > now);
}

export function hasBudget({ scopes }: Principal): boolean {
  return scopes.some(({ budget }) => budget !== null && budget.enforce !== false);
}

/** The protocol of the rows of a batch. */
export function protocolOf({ endpoint }: Pick<Batch, "endpoint">): EndpointProtocol {
  return endpointProtocols[endpoint as keyof typeof endpointProtocols];
}

/** The model in the path of its rows; null: they name their own. */
export function pathModelOf({ api, model }: Pick<Batch, "api" | "model">): string | null {
  return api === "gemini" ? model : null;
}

import type { Explanation } from "@sluice/contract/console";
import type { EndpointId, Intent, LedgerEntry } from "#core/index.ts";

/** How a request was routed: the deployments chosen, refused and retried. */
export interface ExplainedRequest {
  readonly requestId: string;
  readonly workspaceId: string;
  /** Something was refused or failed. When space is short, other explanations are dropped first. */
  readonly isImportant: boolean;
  /** Called only if there is room for it. */
  readonly explanation: () => Explanation;
}

/** A captured body, possibly truncated, or a description of it. */
export interface CapturedBody {
  readonly text: string;
  /** Size of the whole body. */
  readonly bytes: number;
  readonly truncated: boolean;
}

/** Headers of one request, and bodies if the key captures them. Still contains secrets. */
export interface CapturedRequest extends Pick<Intent, "requestId" | "workspaceId" | "keyId" | "endpoint"> {
  readonly requestHeaders: readonly (readonly [name: string, value: string])[];
  readonly responseHeaders: readonly (readonly [name: string, value: string])[];
  /** null: headers only. */
  readonly requestBody: CapturedBody | null;
  readonly responseBody: CapturedBody | null;
  /** Credentials to redact, in addition to those recognized by name or form. */
  readonly secrets: readonly string[];
}

/** A refused call without a separate ledger entry. */
export interface FoldedRequest {
  readonly entry: LedgerEntry;
  /** The request with the entry that counts it, together with identical refusals. */
  readonly countedIn: string;
}

/** Stores explanations and captured requests. Calls never throw or wait; an excess is dropped and counted, fairly between workspaces. */
export interface Explainer {
  explain(explained: ExplainedRequest): void;
  capture(captured: CapturedRequest): void;
  fold(folded: FoldedRequest): void;
  /** Bodies of this request will be captured. */
  willCapture(requestId: string): void;
}

/** Redacted bodies of a captured request. */
export interface ContentBodies {
  readonly endpoint: EndpointId;
  readonly request: CapturedBody | null;
  readonly response: CapturedBody | null;
  /** To redact when pieces are put together again. */
  readonly secrets: readonly string[];
}

/** Exports messages of captured bodies to a collector. Calls never throw or wait. */
export interface ContentSink {
  /** Bodies of this request will follow. */
  willCapture(requestId: string): void;
  /** null: there are none. */
  captured(requestId: string, bodies: ContentBodies | null): void;
}

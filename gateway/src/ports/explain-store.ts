import type { Explanation } from "@sluice/contract/console";

/** Why a request went as it did, when there was something to choose, to refuse or to repeat. */
export interface ExplainedRequest {
  readonly requestId: string;
  readonly workspaceId: string;
  /** Something was refused or failed. What tells of a mere choice is dropped before it. */
  readonly matters: boolean;
  /** Worked out only when there is room for it. */
  readonly explanation: () => Explanation;
}

/** What is kept of one body: its beginning as it is, or a note of what it was. */
export interface CapturedBody {
  readonly text: string;
  /** Of the whole body. */
  readonly bytes: number;
  readonly truncated: boolean;
}

/** Headers, and perhaps bodies, of a request whose key says so. Nothing has been taken out of them yet. */
export interface CapturedRequest {
  readonly requestId: string;
  readonly workspaceId: string;
  readonly keyId: string;
  readonly requestHeaders: readonly (readonly [name: string, value: string])[];
  readonly responseHeaders: readonly (readonly [name: string, value: string])[];
  /** null: headers only. */
  readonly requestBody: CapturedBody | null;
  readonly responseBody: CapturedBody | null;
  /** Credentials that must not be kept wherever they stand, beside those that show themselves by name or looks. */
  readonly secrets: readonly string[];
}

/**
 * The writing half of what is kept of requests beside the ledger. Calls never throw and never wait; what cannot be
 * kept in time is dropped and counted. Credentials are taken out before anything is written.
 */
export interface Explainer {
  explain(explained: ExplainedRequest): void;
  capture(captured: CapturedRequest): void;
}

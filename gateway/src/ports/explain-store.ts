import type { Explanation } from "@sluice/contract/console";
import type { EndpointId, Intent } from "#core/index.ts";

/** Explains a request: what was chosen, refused or repeated, and why. */
export interface ExplainedRequest {
  readonly requestId: string;
  readonly workspaceId: string;
  /** Something was refused or failed. When space is short, explanations without this are dropped first. */
  readonly matters: boolean;
  /** Called only when there is room for it. */
  readonly explanation: () => Explanation;
}

/** What is stored of one body: its beginning, or a note of what it was. */
export interface CapturedBody {
  readonly text: string;
  /** Size of the whole body. */
  readonly bytes: number;
  readonly truncated: boolean;
}

/** Headers, and bodies if the key asks for them, of one request. Secrets are still in them. */
export interface CapturedRequest extends Pick<Intent, "requestId" | "workspaceId" | "keyId" | "endpoint"> {
  readonly requestHeaders: readonly (readonly [name: string, value: string])[];
  readonly responseHeaders: readonly (readonly [name: string, value: string])[];
  /** null: headers only. */
  readonly requestBody: CapturedBody | null;
  readonly responseBody: CapturedBody | null;
  /** Credentials to remove wherever they occur. Others are recognised by their name or form. */
  readonly secrets: readonly string[];
}

/**
 * Stores explanations and captured requests, beside the ledger. Calls never throw and never wait. What cannot be stored in
 * time is dropped and counted. Credentials are removed before anything is written.
 */
export interface Explainer {
  explain(explained: ExplainedRequest): void;
  capture(captured: CapturedRequest): void;
  /** Bodies of this request are to be captured when it is over. */
  expect(requestId: string): void;
}

/** Bodies of a captured request; what is known of its credentials was taken out. */
export interface ContentBodies {
  readonly endpoint: EndpointId;
  readonly request: CapturedBody | null;
  readonly response: CapturedBody | null;
  /** For whoever puts together again what stood in pieces. */
  readonly secrets: readonly string[];
}

/** Where messages of captured bodies go on to a collector. Calls never throw and never wait. */
export interface ContentSink {
  /** Bodies of this request are to come. */
  expect(requestId: string): void;
  /** null: there are none. */
  captured(requestId: string, bodies: ContentBodies | null): void;
}

import type { ModelEndpointId } from "@sluice/contract";
import type { TruthRecord } from "@sluice/simulator";
import type { Clients, Version } from "./clients.ts";
import type { Column } from "./columns.ts";

/** An endpoint, with the calls that are made in each of its cells. */
export interface Row {
  readonly endpoint: ModelEndpointId;
  readonly client: "openai" | "anthropic" | "genai" | "plain";
  /** The client versions to test; both if they differ. */
  readonly versions: readonly Version[];
  /** The first one is also used for failures. */
  readonly calls: readonly Call[];
  /** Set if the gateway estimates where no upstream can answer, with a warning. */
  readonly estimates?: true;
}

export interface Call {
  readonly name: string;
  /** Makes the call and checks what the client returned. */
  run(clients: Clients, model: string, column: Column): Promise<void>;
  /** Whether the call can be made on this upstream model; absent if it can on all. */
  fits?(upstreamModel: string): boolean;
  /** For an estimate: the values that can be predicted. */
  readonly estimatedUsage?: Readonly<Record<string, number>>;
  /** The ledger columns that are not zero, from what the upstream served; null if the ledger estimates and marks it as such. */
  expectedUsage(truth: TruthRecord, column: Column): Readonly<Record<string, number>> | null;
}

/** The prompt's tokens as uncached input. */
export function promptUsage({ prompt_tokens }: TruthRecord) {
  return { input_uncached: prompt_tokens };
}

/** The JSON body of the upstream's answer. */
export function replyJson({ reply_text = "{}" }: TruthRecord): Json {
  return JSON.parse(reply_text) as Json;
}

export type Json = { readonly [name: string]: unknown };

import type { ModelEndpointId } from "@sluice/contract";
import type { TruthRecord } from "@sluice/simulator";
import type { Clients, Version } from "./clients.ts";
import type { Column } from "./columns.ts";

/** An endpoint, with the calls that are made in each of its cells. */
export interface Row {
  readonly endpoint: ModelEndpointId;
  readonly client: "openai" | "anthropic" | "genai" | "plain";
  /** Which versions of the client differ, so that both are tried. */
  readonly versions: readonly Version[];
  /** The first is also the one that fails. */
  readonly calls: readonly Call[];
  /** Where no upstream can, the answer is an estimate and says so. */
  readonly estimates?: true;
}

export interface Call {
  readonly name: string;
  /** Makes the call and judges what the client understood. */
  run(clients: Clients, model: string, column: Column): Promise<void>;
  /** Absent: it is made of every upstream. */
  fits?(upstreamModel: string): boolean;
  /** Of a guess: what is known of it all the same. */
  readonly guessed?: Readonly<Record<string, number>>;
  /** The columns of the ledger that are not zero, by what the upstream has served; null: the ledger guesses and says so. */
  used(truth: TruthRecord, column: Column): Readonly<Record<string, number>> | null;
}

/** The prompt's tokens, as input. */
export function promptOf({ prompt_tokens }: TruthRecord) {
  return { input_uncached: prompt_tokens };
}

/** The body of the upstream's answer. */
export function repliedJson({ reply_text = "{}" }: TruthRecord): Json {
  return JSON.parse(reply_text) as Json;
}

export type Json = { readonly [name: string]: unknown };

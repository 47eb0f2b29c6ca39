import Anthropic from "@anthropic-ai/sdk";
import { ApiError, GoogleGenAI } from "@google/genai";
import type { Script } from "@sluice/simulator";
import AnthropicPrevious from "anthropic-sdk-previous";
import * as genaiPrevious from "google-genai-previous";
import OpenAI from "openai";
import OpenAIPrevious from "openai-previous";
import type { GatewayAccess } from "../matrix/gateway-access.ts";
import { createTape, type Tape } from "../matrix/tape.ts";

export type Version = "latest" | "previous";

/** The official clients in front of the gateway, with a tape of what they sent and got. */
export interface Clients {
  readonly openai: OpenAI;
  readonly anthropic: Anthropic;
  readonly genai: GoogleGenAI;
  /** Plain calls for endpoints that no official client has. Throws PlainError. */
  post(path: string, body: object): Promise<unknown>;
  readonly tape: Tape;
  /** What stands before a text for the script to reach an upstream of another dialect, which gets no header of the caller's. */
  readonly mark: string;
}

/** What a plain call throws. */
class PlainError extends Error {
  override readonly name = "PlainError";
  readonly status: number;

  constructor(status: number, text: string) {
    super(text);
    this.status = status;
  }
}

/** `script` tells the simulator how to answer. */
export function clientsOf(access: GatewayAccess, version: Version, script: Script | null = null): Clients {
  const tape = createTape();
  const headers: Record<string, string> = script === null ? {} : { "x-sim-script": JSON.stringify(script) };
  const options = { apiKey: access.key, maxRetries: 0, fetch: tape.fetch, defaultHeaders: headers };
  const google = { apiKey: access.key, httpOptions: { baseUrl: access.url, fetch: tape.fetch, headers } };
  const atV1 = { ...options, baseURL: `${access.url}/v1` };
  const atRoot = { ...options, baseURL: access.url };
  const latest = version === "latest";
  return {
    // The majors differ in types alone as far as these calls go.
    openai: latest ? new OpenAI(atV1) : (new OpenAIPrevious(atV1) as unknown as OpenAI),
    anthropic: latest ? new Anthropic(atRoot) : (new AnthropicPrevious(atRoot) as unknown as Anthropic),
    genai: latest ? new GoogleGenAI(google) : (new genaiPrevious.GoogleGenAI(google) as unknown as GoogleGenAI),
    async post(path, body) {
      const answer = await tape.fetch(access.url + path, {
        method: "POST",
        headers: { "content-type": "application/json", authorization: `Bearer ${access.key}`, ...headers },
        body: JSON.stringify(body),
      });
      const text = await answer.text();
      if (!answer.ok) throw new PlainError(answer.status, text);
      return JSON.parse(text);
    },
    tape,
    mark: script === null ? "" : `[[sim ${JSON.stringify(script)}]] `,
  };
}

/** Status and class of a client's own error; throws what is none. */
export function errorFrom(thrown: unknown): {
  readonly status: number | undefined;
  readonly kind: string;
  readonly said: string;
} {
  const own = [OpenAI.APIError, OpenAIPrevious.APIError, Anthropic.APIError, AnthropicPrevious.APIError];
  if (own.some((type) => thrown instanceof type) || isGoogles(thrown) || thrown instanceof PlainError) {
    const { status, message } = thrown as { readonly status: number | undefined; readonly message: string };
    return { status, kind: (thrown as object).constructor.name, said: message };
  }
  throw new Error(`not the client's own error: ${String(thrown)}`, { cause: thrown });
}

function isGoogles(thrown: unknown): boolean {
  return thrown instanceof ApiError || thrown instanceof genaiPrevious.ApiError;
}

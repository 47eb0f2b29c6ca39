import Anthropic from "@anthropic-ai/sdk";
import { ApiError, GoogleGenAI } from "@google/genai";
import type { Script } from "@sluice/simulator";
import AnthropicPrevious from "anthropic-sdk-previous";
import * as genaiPrevious from "google-genai-previous";
import OpenAI from "openai";
import OpenAIPrevious from "openai-previous";
import type { GatewayAccess } from "../matrix/gateway-access.ts";
import { createRecorder, type Recorder } from "../matrix/recorder.ts";

export type Version = "latest" | "previous";

/** The official clients, connected to the gateway, with a recording of what they sent and received. */
export interface Clients {
  readonly openai: OpenAI;
  readonly anthropic: Anthropic;
  readonly genai: GoogleGenAI;
  /** Plain calls for endpoints without an official client. Throws PlainError. */
  post(path: string, body: object): Promise<unknown>;
  readonly recorder: Recorder;
  /** A prefix for prompts that carries the script to upstreams with another API, which do not get the caller's headers. */
  readonly marker: string;
}

/** The error of a plain call. */
class PlainError extends Error {
  override readonly name = "PlainError";
  readonly status: number;

  constructor(status: number, text: string) {
    super(text);
    this.status = status;
  }
}

/** `script`: how the simulator answers. */
export function clientsOf(access: GatewayAccess, version: Version, script: Script | null = null): Clients {
  const recorder = createRecorder();
  const headers: Record<string, string> = script === null ? {} : { "x-sim-script": JSON.stringify(script) };
  const options = { apiKey: access.key, maxRetries: 0, fetch: recorder.fetch, defaultHeaders: headers };
  const google = { apiKey: access.key, httpOptions: { baseUrl: access.url, fetch: recorder.fetch, headers } };
  const atV1 = { ...options, baseURL: `${access.url}/v1` };
  const atRoot = { ...options, baseURL: access.url };
  const latest = version === "latest";
  return {
    // For these calls, the major versions differ only in types.
    openai: latest ? new OpenAI(atV1) : (new OpenAIPrevious(atV1) as unknown as OpenAI),
    anthropic: latest ? new Anthropic(atRoot) : (new AnthropicPrevious(atRoot) as unknown as Anthropic),
    genai: latest ? new GoogleGenAI(google) : (new genaiPrevious.GoogleGenAI(google) as unknown as GoogleGenAI),
    async post(path, body) {
      const answer = await recorder.fetch(access.url + path, {
        method: "POST",
        headers: { "content-type": "application/json", authorization: `Bearer ${access.key}`, ...headers },
        body: JSON.stringify(body),
      });
      const text = await answer.text();
      if (!answer.ok) throw new PlainError(answer.status, text);
      return JSON.parse(text);
    },
    recorder,
    marker: script === null ? "" : `[[sim ${JSON.stringify(script)}]] `,
  };
}

/** Status, class and message of a client's own error; throws if it is another error. */
export function errorFrom(thrown: unknown): {
  readonly status: number | undefined;
  readonly kind: string;
  readonly message: string;
} {
  const clientErrors = [OpenAI.APIError, OpenAIPrevious.APIError, Anthropic.APIError, AnthropicPrevious.APIError];
  if (clientErrors.some((type) => thrown instanceof type) || isGoogleError(thrown) || thrown instanceof PlainError) {
    const { status, message } = thrown as { readonly status: number | undefined; readonly message: string };
    return { status, kind: (thrown as object).constructor.name, message };
  }
  throw new Error(`not the client's own error: ${String(thrown)}`, { cause: thrown });
}

function isGoogleError(thrown: unknown): boolean {
  if (thrown instanceof ApiError || thrown instanceof genaiPrevious.ApiError) return true;
  // The newer endpoints have error classes that the client does not export.
  return thrown instanceof Error && thrown.message.includes("API error occurred") && "status" in thrown;
}

import { png } from "../endpoints/assets/upload-form.ts";
import { aliceKey, type StartedGateway } from "../started-gateway.ts";
import { eventStream, shapeOf } from "./echo-upstream.ts";

export interface SentRequest {
  readonly status: number;
  readonly text: string;
}

/** How an endpoint carries texts. */
export interface EndpointCase {
  /** Sends a request with this text in it. */
  readonly send: (gateway: StartedGateway, text: string) => Promise<SentRequest>;
  /** With something to mask, it reaches no vendor: it cannot be changed, or the test's vendor does not offer it. */
  readonly isUnsent?: true;
  /** A vendor's answer with these pieces of a text; or why no answer contains a text of a model. */
  readonly answer: ((pieces: readonly string[]) => Response) | string;
}

export async function sent(response: Promise<Response>): Promise<SentRequest> {
  const { status, text } = await response.then(async (made) => ({ status: made.status, text: await made.text() }));
  return { status, text };
}

/** The text of a stream in Amazon's frames, with its events decoded from base64. */
export async function sentFrames(response: Promise<Response>): Promise<SentRequest> {
  const { status, text } = await sent(response);
  const events = [...text.matchAll(/"bytes":"([^"]*)"/g)].map(([, bytes = ""]) => Buffer.from(bytes, "base64"));
  return { status, text: `${text}\n${events.join("\n")}` };
}

export const version = { headers: { "anthropic-version": "2023-06-01" } };
export const ownHeaders = { authorization: `Bearer ${aliceKey}` };

export const post = (path: string, body: (text: string) => object): EndpointCase["send"] => {
  return (gateway, text) => sent(gateway.post(path, body(text), version));
};

export const postForm = (
  path: string,
  fields: (text: string) => Record<string, string>,
  file: string,
): EndpointCase["send"] => {
  return (gateway, text) => {
    const form = new FormData();
    for (const [name, value] of Object.entries(fields(text))) form.append(name, value);
    const bytes = file === "image" ? png(2, 2) : new Uint8Array(64);
    form.append(file, new Blob([bytes], { type: file === "image" ? "image/png" : "audio/wav" }), `a.${file}`);
    return sent(fetch(`${gateway.url}${path}`, { method: "POST", headers: ownHeaders, body: form }));
  };
};

export const json = (body: (text: string) => object) => (pieces: readonly string[]) =>
  Response.json(body(pieces.join("")));
export const whole = (path: string) => (pieces: readonly string[]) => Response.json(shapeOf(path)(pieces).whole);
export const streamed = (path: string) => (pieces: readonly string[]) => eventStream(shapeOf(path)(pieces).events);

export const message = (text: string) => ({ messages: [{ role: "user", content: text }] });
export const content = (text: string) => ({ parts: [{ text }] });
export const vectors = "vectors";
export const tokens = "a number of tokens";
export const ownState = "state of the gateway itself";
export const chat = "/v1/chat/completions";
export const interactionPaths = ["/v1beta/interactions", "/v1/interactions"] as const;

import type { Script } from "@sluice/simulator";
import { type RawAnswer, type RawOptions, rawCall } from "../../simulator/test/raw-call.ts";
import { keys } from "./test-config.ts";

export { dechunk, eventsOf, type RawAnswer } from "../../simulator/test/raw-call.ts";

export interface ChatOptions {
  readonly model?: string;
  readonly key?: string;
  readonly script?: Script;
  readonly stream?: boolean;
  readonly prompt?: string;
  /** Sent as `X-Client-Request-Id`, which is forwarded to the upstream. */
  readonly requestId?: string;
  /** Use a new connection: an idle one may be closed by the other side at the moment it is used again. */
  readonly ownConnection?: boolean;
  /** Extra fields of the body. */
  readonly more?: Readonly<Record<string, unknown>>;
}

/** The body of a chat call; the script controls the simulated upstream. */
export function chatBody(options: ChatOptions): Record<string, unknown> {
  const marker = options.script === undefined ? "" : ` [[sim ${JSON.stringify(options.script)}]]`;
  return {
    model: options.model ?? "gpt-test",
    ...(options.stream === true ? { stream: true } : {}),
    ...options.more,
    messages: [{ role: "user", content: `${options.prompt ?? "hello there"}${marker}` }],
  };
}

/** A chat call with `fetch`. */
export function chat(url: string, options: ChatOptions, signal?: AbortSignal): Promise<Response> {
  return fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      authorization: `Bearer ${options.key ?? keys.main}`,
      ...(options.requestId === undefined ? {} : { "x-client-request-id": options.requestId }),
    },
    body: JSON.stringify(chatBody(options)),
    keepalive: options.ownConnection !== true,
    ...(signal === undefined ? {} : { signal }),
  });
}

/** A chat call over a plain socket: returns every byte of the answer and how the connection ended. */
export function rawChat(port: number, options: ChatOptions, more: Partial<RawOptions> = {}): Promise<RawAnswer> {
  const headers = { authorization: `Bearer ${options.key ?? keys.main}` };
  return rawCall(port, { body: chatBody(options), headers, ...more });
}

/** The body of an error answer. */
export interface ErrorBody {
  readonly error: {
    readonly message: string;
    readonly type: string;
    readonly param: string | null;
    readonly code: string | null;
    readonly limit?: number;
    readonly used?: number;
    readonly scope?: string;
    readonly resets_at?: number | null;
  };
}

export async function errorOf(answer: Response): Promise<ErrorBody["error"]> {
  return ((await answer.json()) as ErrorBody).error;
}

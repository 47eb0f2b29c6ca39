import { Failure, type Principal } from "#core/index.ts";
import { answerArrival } from "./answer-arrival.ts";
import { asResponse } from "./call-request.ts";
import type { ApiDependencies } from "./dependencies.ts";
import { targetOf } from "./request-parts.ts";

/** A call of the data plane by a signed-in user, with a key but without its secret. */
export interface AsKeyCall {
  readonly principal: Principal;
  /** Its method, headers, body and signal are used, not its URL. */
  readonly request: Request;
  /** Path and query, from `/v1` on, as sent. */
  readonly target: string;
  readonly ip: string;
}

/** Calls of the data plane take the same way as with the key's secret. The caller's own credentials are removed. */
export function createAsKey(dependencies: Omit<ApiDependencies, "admin">): (call: AsKeyCall) => Promise<Response> {
  return (call) => {
    const { principal } = call;
    return answerArrival({
      dependencies: { ...dependencies, admin, authenticator: { authenticate: () => principal } },
      request: innerRequest(call),
      ...targetOf(call.target),
      startedMs: dependencies.clock.monotonic(),
      address: call.ip,
      role: "all",
      flaw: null,
    }).then(asResponse);
  };
}

function admin(): never {
  throw new Failure("not_found", "The admin API cannot be called with a key.");
}

function innerRequest({ request, target }: AsKeyCall): Request {
  const headers = new Headers(request.headers);
  for (const name of ownCredentials) headers.delete(name);
  const url = request.url;
  return new Request(url.slice(0, url.indexOf("/", 8)) + target, {
    method: request.method,
    headers,
    body: request.body,
    signal: request.signal,
  });
}

const ownCredentials = [
  "cookie",
  "authorization",
  "x-api-key",
  "x-goog-api-key",
  "x-bf-vk",
  "origin",
  "referer",
] as const;

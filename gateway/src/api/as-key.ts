import { Failure, type Principal } from "#core/index.ts";
import { answerArrival } from "./answer-arrival.ts";
import { BodyDeadlines } from "./body-deadlines.ts";
import { asResponse } from "./call-request.ts";
import type { ApiDependencies } from "./dependencies.ts";
import { targetOf } from "./request-parts.ts";

/** A call of the data plane by somebody who may use a key without knowing its secret. */
export interface AsKeyCall {
  readonly principal: Principal;
  /** Its method, headers, body and signal count; its own address does not. */
  readonly request: Request;
  /** Path and query, from `/v1` on, as they were written. */
  readonly target: string;
  readonly ip: string;
  /** For the ledger; the caller's own `x-sluice-tags` cannot replace them. */
  readonly tags: Readonly<Record<string, string>>;
  readonly patient: () => void;
}

/**
 * The same way that a call with the key's secret takes: limits, ledger, streams, headers and errors are the same, and the
 * body is read by whoever reads it there. What the caller itself signed in with stays here.
 */
export function createAsKey(dependencies: Omit<ApiDependencies, "admin">): (call: AsKeyCall) => Promise<Response> {
  const bodies = new BodyDeadlines(dependencies.clock);
  return (call) => {
    const startedMs = dependencies.clock.monotonic();
    const principal = withTags(call);
    const own: ApiDependencies = { ...dependencies, admin, authenticator: { authenticate: () => principal } };
    const request = innerRequest(call);
    return answerArrival(own, {
      request,
      whole: request,
      ...targetOf(call.target),
      startedMs,
      address: () => call.ip,
      bodies,
      patient: call.patient,
      // The call that carries this one says when it is over.
      done: () => {},
      role: "all",
      flaw: null,
    }).then(asResponse);
  };
}

function admin(): never {
  throw new Failure("not_found", "The admin API is not called as a key.");
}

/** Tags of a key stand above those of its caller. */
function withTags({ principal, tags }: AsKeyCall): Principal {
  return { ...principal, key: { ...principal.key, tags: { ...principal.key.tags, ...tags } } };
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

const ownCredentials = ["cookie", "authorization", "x-api-key", "x-goog-api-key", "origin", "referer"] as const;

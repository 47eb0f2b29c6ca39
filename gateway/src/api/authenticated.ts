import type { Principal } from "#core/index.ts";
import { ServerAnswer } from "#http-server/index.ts";
import { hasCredential } from "#identity/index.ts";
import type { Answer } from "./call-request.ts";
import type { Endpoint, Exchange } from "./dependencies.ts";
import { json } from "./respond.ts";

/** Returns no promise if the key is in the cache. */
export function authenticated(exchange: Exchange): Principal | Promise<Principal> {
  const found = exchange.dependencies.authenticator.authenticate(exchange.request.headers, exchange.address);
  return found instanceof Promise ? found.then((principal) => note(principal, exchange)) : note(found, exchange);
}

/** The caller of an upload's address, with the token in it or with a key. */
export async function authenticatedForUpload(exchange: Exchange): Promise<Principal> {
  const { dependencies, request, address } = exchange;
  const query = new URLSearchParams(exchange.query);
  const token = query.get("upload_token");
  if (token === null || hasCredential(request.headers)) return authenticated(exchange);
  const id = query.get("upload_id") ?? "";
  return note(await dependencies.uploadTokens.authenticate(token, id, address), exchange);
}

function note(principal: Principal, exchange: Exchange): Principal {
  exchange.seen.key = principal.key.prefix;
  exchange.seen.principal = principal;
  exchange.request.heldFor?.(principal);
  return principal;
}

/** An endpoint that requires a key. `work` returns the answer, or an object to send as JSON. */
export function withKey(
  work: (exchange: Exchange, principal: Principal) => object | Promise<object>,
  authenticate: (exchange: Exchange) => Principal | Promise<Principal> = authenticated,
): Endpoint {
  return async (exchange) => {
    const principal = await authenticate(exchange);
    const made = await work(exchange, principal);
    return isAnswer(made) ? made : json(made);
  };
}

function isAnswer(made: object): made is Answer {
  return made instanceof Response || made instanceof ServerAnswer;
}

/**
 * Does work that has no price but calls an upstream or uses storage. It counts as one request in its caller's limits, before its body
 * is read. Throws rate_limit_exceeded, budget_exceeded or budget_held.
 */
export async function admitted<Result>(
  { dependencies }: Pick<Exchange, "dependencies">,
  principal: Principal,
  work: () => Promise<Result>,
): Promise<Result> {
  const release = await dependencies.countCall(principal);
  try {
    return await work();
  } finally {
    release();
  }
}

import type { Principal } from "#core/index.ts";
import type { ApiDependencies, Endpoint, Exchange } from "./dependencies.ts";
import { json } from "./respond.ts";

/** Returns no promise if the key is in the cache. */
export function authenticated(dependencies: ApiDependencies, exchange: Exchange): Principal | Promise<Principal> {
  const found = dependencies.authenticator.authenticate(exchange.request.headers, exchange.address);
  return found instanceof Promise ? found.then((principal) => note(principal, exchange)) : note(found, exchange);
}

function note(principal: Principal, exchange: Exchange): Principal {
  exchange.seen.key = principal.key.prefix;
  exchange.seen.principal = principal;
  exchange.request.heldFor?.(principal);
  return principal;
}

type Work = (dependencies: ApiDependencies, exchange: Exchange, principal: Principal) => object | Promise<object>;

/** An endpoint that requires a key and answers in JSON. */
export function withKey(work: Work): Endpoint {
  return async (dependencies, exchange) => {
    const principal = await authenticated(dependencies, exchange);
    return json(await work(dependencies, exchange, principal), exchange.requestId);
  };
}

/** The same for work that counts against its caller's limits; see `admitted`. */
export function admittedWithKey(work: Work): Endpoint {
  return withKey((dependencies, exchange, principal) =>
    admitted(dependencies, principal, async () => work(dependencies, exchange, principal)),
  );
}

/**
 * Does work that has no price but calls an upstream or uses storage. It counts as one request in its caller's limits, before its body
 * is read. Throws rate_limit_exceeded, budget_exceeded or budget_held.
 */
export async function admitted<Result>(
  dependencies: ApiDependencies,
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

import type { Principal } from "#core/index.ts";
import type { ApiDependencies, Endpoint, Exchange } from "./dependencies.ts";
import { json } from "./respond.ts";

/** Without a pause where the key is in the cache. */
export function authenticated(dependencies: ApiDependencies, exchange: Exchange): Principal | Promise<Principal> {
  const found = dependencies.authenticator.authenticate(exchange.request.headers, exchange.address);
  return found instanceof Promise ? found.then((principal) => seen(principal, exchange)) : seen(found, exchange);
}

function seen(principal: Principal, exchange: Exchange): Principal {
  exchange.seen.key = principal.key.prefix;
  exchange.seen.principal = principal;
  exchange.request.heldFor?.(principal);
  return principal;
}

type Work = (dependencies: ApiDependencies, exchange: Exchange, principal: Principal) => object | Promise<object>;

/** An endpoint that answers a caller with a key in JSON. */
export function withKey(work: Work): Endpoint {
  return async (dependencies, exchange) => {
    const principal = await authenticated(dependencies, exchange);
    return json(await work(dependencies, exchange, principal), exchange.requestId);
  };
}

/** The same of work that counts against its caller's limits; see `admitted`. */
export function admittedWithKey(work: Work): Endpoint {
  return withKey((dependencies, exchange, principal) =>
    admitted(dependencies, principal, async () => work(dependencies, exchange, principal)),
  );
}

/**
 * Work that costs nothing by itself but reaches for an upstream or fills our store: one request of its caller's limits.
 * Admitted before its body is read. Throws rate_limit_exceeded, budget_exceeded or budget_held.
 */
export async function admitted<Result>(
  dependencies: ApiDependencies,
  principal: Principal,
  work: () => Promise<Result>,
): Promise<Result> {
  const over = await dependencies.countCall(principal);
  try {
    return await work();
  } finally {
    over();
  }
}

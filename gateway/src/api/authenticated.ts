import type { Principal } from "#core/index.ts";
import type { ApiDependencies, Exchange } from "./dependencies.ts";

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

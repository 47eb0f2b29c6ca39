import { asFailure, Failure, type Principal } from "#core/index.ts";
import { mayPassThrough } from "#identity/index.ts";
import type { Dialect } from "#protocols/index.ts";
import { authenticated } from "./authenticated.ts";
import type { ApiDependencies, Exchange } from "./dependencies.ts";
import { providersPath } from "./endpoints/pass-through.ts";
import { routeOf } from "./routes.ts";

/** The refusal of a path that the gateway does not have, for a caller of this dialect. */
export async function unknownPath(
  dependencies: ApiDependencies,
  exchange: Exchange,
  dialect: Dialect,
): Promise<Failure> {
  const { path, request } = exchange;
  const meant = meantPath(path, request.method);
  const more = meant === "" ? await advice(dependencies, exchange, dialect) : meant;
  return new Failure("not_found", `There is no ${request.method} ${path}.${more}`);
}

/** The path that a wrong base URL has hidden: `/v1` twice or not at all, a slash too many. Begins with a space, or is empty. */
export function meantPath(path: string, method: string): string {
  const short = path.replace(/\/+$/, "");
  const once = short.replace(/^(?:\/v1)+(?=\/v1)/, "");
  const found = [short, once, `/v1${once}`].find(
    (each) => each !== path && each.startsWith("/v1/") && routeOf(each, method)?.methods[method] !== undefined,
  );
  return found === undefined ? "" : ` Did you mean ${found}?`;
}

/**
 * Where else the path may be had: the providers' own APIs that the key may use and that speak the caller's dialect. Nothing is said to
 * somebody without a key. Begins with a space, or is empty.
 */
export async function advice(dependencies: ApiDependencies, exchange: Exchange, dialect: Dialect): Promise<string> {
  const { path } = exchange;
  if (path.startsWith(providersPath)) return "";
  const principal = await principalOf(dependencies, exchange);
  if (principal === null) return "";
  const { providers } = dependencies.configSnapshot();
  const places = principal.key.passThrough
    .filter((id) => mayPassThrough(principal, id) && providers.get(id)?.enabled === true)
    .filter((id) => dependencies.relay.passedDialect(id)?.id === dialect.id)
    .map((id) => `${providersPath}${id}${path}`);
  if (places.length > 0) return ` The provider's own API is at ${places.slice(0, namedMax).join(" and ")}.`;
  return ` An administrator can grant this key a provider's own API, which is then at ${providersPath}{provider}${path}.`;
}

const namedMax = 3;

/** null: whose call it is cannot be said. */
async function principalOf(dependencies: ApiDependencies, exchange: Exchange): Promise<Principal | null> {
  try {
    return await authenticated(dependencies, exchange);
  } catch (thrown) {
    if (asFailure(thrown).code === "internal_error") throw thrown;
    return null;
  }
}

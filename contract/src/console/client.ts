import type { Route } from "./route.ts";
import type { AnswerOf, BodyInput, QueryInput, RouteId, RouteParams } from "./routes.ts";

/**
 * Method and path of each call: the only part of `consoleRoutes` that a client needs. It is a parameter, so that a page can load
 * these lines without the schemas.
 */
export type RouteLines = { readonly [Id in RouteId]: Pick<Route, "method" | "path"> };

/** Options of a call. Each route has only some of them. */
export interface CallOptions<Id extends RouteId> {
  readonly params?: RouteParams<Id>;
  readonly query?: QueryInput<Id>;
  readonly body?: BodyInput<Id>;
  readonly signal?: AbortSignal;
}

/** Path and query of a call. Throws if a path parameter is missing or empty. */
export function urlOf<Id extends RouteId>(
  lines: RouteLines,
  id: Id,
  options: Pick<CallOptions<Id>, "params" | "query"> = {},
): string {
  const params: Readonly<Record<string, string>> = options.params ?? {};
  const path = lines[id].path.replace(/\{([a-z]+)\}/g, (_, name: string) => {
    const value = params[name];
    if (value === undefined || value === "") throw new Error(`${id} needs ${name}`);
    return encodeURIComponent(value);
  });
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(options.query ?? {})) {
    if (value !== undefined && value !== null && value !== "") query.set(name, String(value));
  }
  const text = query.toString();
  return text === "" ? path : `${path}?${text}`;
}

/** Sends a request. Resolves to the JSON of a successful response; throws for any other. */
export type Send = (
  path: string,
  init: { readonly method: string; readonly body: string | null; readonly signal: AbortSignal | null },
) => Promise<unknown>;

export type ConsoleCall = <Id extends RouteId>(id: Id, options?: CallOptions<Id>) => Promise<AnswerOf<Id>>;

/** The typed client of the admin API. `send`: such as the console's fetch with its cookies, or a script's with a token. */
export function consoleClient(send: Send, lines: RouteLines): ConsoleCall {
  return async (id, options = {}) => {
    const line = lines[id];
    const body = options.body === undefined ? (line.method === "GET" ? null : "{}") : JSON.stringify(options.body);
    const answer = await send(urlOf(lines, id, options), { method: line.method, body, signal: options.signal ?? null });
    return answer as AnswerOf<typeof id>;
  };
}

import type { z } from "zod";
import type { Need } from "./roles.ts";

declare module "zod" {
  interface GlobalMeta {
    /**
     * On a field of a response: who sees it; it is left out for weaker roles. On a field of a request body: who may send it;
     * weaker roles get `forbidden`.
     */
    needs?: Need;
  }
}

/** The names between braces in a path. */
export type PathNames<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | PathNames<Rest>
  : never;

/**
 * One call of the admin API. The types of the gateway's handler, the OpenAPI document, the client and the tests of roles are
 * derived from it.
 */
export interface Route<
  Path extends string = string,
  Query extends z.ZodType = z.ZodType,
  Body extends z.ZodType = z.ZodType,
  Answer extends z.ZodType = z.ZodType,
  Needs extends Need = Need,
> {
  readonly method: "GET" | "POST" | "PATCH" | "PUT" | "DELETE";
  readonly path: Path;
  readonly summary: string;
  readonly needs: Needs;
  readonly query?: Query;
  readonly body?: Body;
  /** Default: 64 KiB. */
  readonly bodyBytesMax?: number;
  readonly answer: Answer;
  /** Status of a successful response. Default: 200. */
  readonly status?: 200 | 201 | 202 | 204;
  /** Needs a session with a recent sign-in or confirmation. Admin tokens always pass. */
  readonly fresh?: boolean;
}

/** Keeps the exact types of a route. */
export function route<
  const Path extends string,
  Query extends z.ZodType,
  Body extends z.ZodType,
  Answer extends z.ZodType,
  const Needs extends Need,
>(spec: Route<Path, Query, Body, Answer, Needs>): Route<Path, Query, Body, Answer, Needs> {
  return Object.freeze(spec);
}

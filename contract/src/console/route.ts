import type { z } from "zod";
import type { Need } from "./roles.ts";

declare module "zod" {
  interface GlobalMeta {
    /**
     * On a field of an answer: who sees it; it is left out for everybody below. On a field of a body: who may send it;
     * from anybody below it is refused with `forbidden`.
     */
    needs?: Need;
  }
}

/** The names between braces in a path. */
export type PathNames<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | PathNames<Rest>
  : never;

/**
 * One call of the admin API. Everything else follows from it: the gateway's handler is typed by it, the OpenAPI document and
 * the client are made of it, and the tests walk it role by role.
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
  readonly answer: Answer;
  /** Of a good answer; 200 unless said. */
  readonly status?: 200 | 201 | 202 | 204;
  /** Only with a session that was opened (or confirmed) lately; an admin token always is. */
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

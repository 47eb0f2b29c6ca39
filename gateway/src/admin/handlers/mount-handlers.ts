import type { BodyOf, QueryOf, Route, RouteId, RouteParams } from "@sluice/contract";
import { consoleRoutes } from "@sluice/contract/console/routes";
import { meets } from "@sluice/contract/words";
import type { Hono } from "hono";
import type { z } from "zod";
import { type Actor, type ConfigSnapshot, Failure } from "#core/index.ts";
import { readJson } from "../json-body.ts";
import { checkStateChange } from "../state-change.ts";
import { fieldRules, refuseFields, withoutFields } from "./field-policy.ts";
import type { ConsoleCall, Handler, Handlers } from "./handler.ts";
import { type Caller, heldBy, neededWords, type WhoCallsOptions, whoCalls, workspaceNamed } from "./who-calls.ts";

export interface MountOptions extends WhoCallsOptions {
  readonly configSnapshot: () => ConfigSnapshot;
  readonly publicUrl: string | null;
}

export interface AdminEnv {
  readonly Bindings: {
    readonly ip: string;
    /** The request's own id, for answers that repeat it. */
    readonly requestId?: string;
    /** Lifts the server's idle time-out for an answer that may be silent for long. */
    readonly patient?: () => void;
  };
}

/** Puts every route of the contract on the app. Deny by default: what is not in the table is not there. */
export function mountHandlers(app: Hono<AdminEnv>, handlers: Handlers<RouteId>, options: MountOptions): void {
  for (const id of Object.keys(consoleRoutes) as RouteId[])
    mountCall(app, id, handlers[id] as Handler<RouteId>, options);
}

function mountCall(app: Hono<AdminEnv>, id: RouteId, handler: Handler<RouteId>, options: MountOptions): void {
  const spec: Route = consoleRoutes[id];
  const bodyRules = spec.body === undefined ? [] : fieldRules(spec.body);
  const answerRules = fieldRules(spec.answer);
  app.on(spec.method, spec.path.replace(/\{([a-z]+)\}/g, ":$1"), async (c) => {
    const request = c.req.raw;
    const caller = await callerOf(request, spec, options);
    const params = c.req.param() as Readonly<Record<string, string>>;
    const workspace =
      params["workspace"] === undefined
        ? null
        : workspaceNamed(params["workspace"], caller.actor, options.configSnapshot());
    const held = heldBy(caller.actor, workspace);
    allow(spec, caller.actor, held);
    const query = spec.query === undefined ? undefined : readAs(spec.query, queryOf(request));
    const body = spec.body === undefined ? undefined : readAs(spec.body, await bodyOf(request));
    refuseFields(body, bodyRules, held);
    const ip = c.env.ip;
    const call: ConsoleCall<RouteId> = {
      params: params as RouteParams<RouteId>,
      query: query as QueryOf<RouteId>,
      body: body as BodyOf<RouteId>,
      actor: caller.actor,
      auditSource: { actor: caller.actor?.name ?? "nobody", ip },
      held,
      workspace,
      request,
      ip,
      signal: request.signal,
    };
    const answer = withoutFields(await handler(call), answerRules, held);
    const response = Response.json(answer, { status: spec.status ?? 200, headers: { "cache-control": "no-store" } });
    for (const cookie of caller.cookies) response.headers.append("set-cookie", cookie);
    return response;
  });
}

/** A call that changes something must come from our own pages or from a program; one with a token comes from a program. */
async function callerOf(
  request: Request,
  spec: Pick<Route, "method" | "needs">,
  options: MountOptions,
): Promise<Caller> {
  if (spec.method !== "GET") checkStateChange(request, options.publicUrl);
  return await whoCalls(request, options);
}

export function allow(
  spec: Pick<Route, "needs" | "fresh">,
  actor: Actor | null,
  held: ReturnType<typeof heldBy>,
): void {
  if (!meets(held, spec.needs)) {
    if (actor === null) throw new Failure("not_signed_in", "Sign in first.");
    throw new Failure("forbidden", `This needs ${neededWords(spec.needs)}.`);
  }
  if (spec.fresh === true && actor?.fresh !== true) {
    throw new Failure("confirm_sign_in", "Sign in again to do this: your last sign-in was a while ago.");
  }
}

/** What is removed needs nothing said of it, as a rule: there, no body at all is an empty one. */
async function bodyOf(request: Request): Promise<unknown> {
  return request.method === "DELETE" && request.body === null ? {} : await readJson(request);
}

function queryOf(request: Request): Record<string, string> {
  return Object.fromEntries(new URL(request.url).searchParams);
}

function readAs<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const read = schema.safeParse(value);
  if (read.success) return read.data;
  const problem = read.error.issues[0];
  const path = problem?.path ?? [];
  const param = path.join(".");
  if (
    problem?.code === "invalid_type" &&
    path.reduce<unknown>((at, key) => (at as Record<PropertyKey, unknown> | undefined)?.[key], value) === undefined
  ) {
    throw new Failure("missing_required_parameter", `\`${param}\` is missing.`, { param });
  }
  const named = param === "" ? "" : `\`${param}\`: `;
  throw new Failure("invalid_request", `${named}${problem?.message ?? "cannot be used"}`, {
    param: param === "" ? null : param,
  });
}

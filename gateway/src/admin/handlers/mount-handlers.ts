import type { BodyOf, Need, QueryOf, Route, RouteId, RouteParams } from "@sluice/contract";
import { consoleRoutes } from "@sluice/contract/console/routes";
import { meets } from "@sluice/contract/words";
import type { Hono } from "hono";
import { z } from "zod";
import { type Actor, type ConfigSnapshot, Failure } from "#core/index.ts";
import { readJson } from "../json-body.ts";
import { checkStateChange } from "../state-change.ts";
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

/**
 * Where fields are not for everybody, read once from the schemas' `needs`. A path is its steps; `[]` stands for every
 * element of a list, `*` for every value of a record.
 */
interface FieldRule {
  readonly path: readonly string[];
  readonly needs: Need;
}

function fieldRules(schema: z.ZodType): readonly FieldRule[] {
  const rules: FieldRule[] = [];
  collect(schema, [], rules, 0);
  return Object.freeze(rules);
}

const depthMax = 12;

function collect(schema: unknown, path: readonly string[], rules: FieldRule[], depth: number): void {
  if (!(schema instanceof z.ZodType) || depth > depthMax) return;
  const needs = z.globalRegistry.get(schema)?.needs;
  if (needs !== undefined && path.length > 0) {
    rules.push({ path, needs });
    return;
  }
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodDefault) {
    collect(schema.unwrap(), path, rules, depth + 1);
  } else if (schema instanceof z.ZodObject) {
    for (const [name, field] of Object.entries(schema.shape)) collect(field, [...path, name], rules, depth + 1);
  } else if (schema instanceof z.ZodArray) {
    collect(schema.element, [...path, "[]"], rules, depth + 1);
  } else if (schema instanceof z.ZodRecord) {
    collect(schema.valueType, [...path, "*"], rules, depth + 1);
  }
}

/** Throws `forbidden` for the first field of a body that the caller may not send. */
function refuseFields(body: unknown, rules: readonly FieldRule[], held: Need): void {
  for (const rule of rules) {
    if (meets(held, rule.needs) || !isPresent(body, rule.path)) continue;
    const param = rule.path.filter((step) => step !== "[]" && step !== "*").join(".");
    throw new Failure("forbidden", `\`${param}\` can only be set by ${neededWords(rule.needs)}.`, { param });
  }
}

function isPresent(value: unknown, [step, ...rest]: readonly string[]): boolean {
  if (step === undefined) return value !== undefined;
  if (value === null || typeof value !== "object") return false;
  if (step === "[]" || step === "*") return Object.values(value).some((each) => isPresent(each, rest));
  return isPresent(Reflect.get(value, step), rest);
}

/** An answer without the fields that the caller may not see. The answer itself stays as it is. */
function withoutFields<Answer>(answer: Answer, rules: readonly FieldRule[], held: Need): Answer {
  const hidden = rules.filter((rule) => !meets(held, rule.needs));
  return hidden.length === 0
    ? answer
    : (hidden.reduce((value: unknown, rule) => without(value, rule.path), answer) as Answer);
}

function without(value: unknown, [step, ...rest]: readonly string[]): unknown {
  if (step === undefined || value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) return step === "[]" ? value.map((each) => without(each, rest)) : value;
  const entries = Object.entries(value);
  if (step === "*") return Object.fromEntries(entries.map(([name, each]) => [name, without(each, rest)]));
  if (rest.length === 0) return Object.fromEntries(entries.filter(([name]) => name !== step));
  return Object.fromEntries(entries.map(([name, each]) => [name, name === step ? without(each, rest) : each]));
}

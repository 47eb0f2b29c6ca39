import type { AnswerOf, BodyOf, Need, NeedOf, QueryOf, Route, RouteId, RouteParams } from "@sluice/contract";
import { consoleRoutes } from "@sluice/contract/console/routes";
import { meets } from "@sluice/contract/words";
import type { Context, Hono } from "hono";
import { z } from "zod";
import {
  type Actor,
  bounds,
  Failure,
  invalidRequest,
  readBodyJson,
  readBodyText,
  schemaFailure,
  type Workspace,
  withoutControls,
} from "#core/index.ts";
import type { AuditSource } from "#ports/index.ts";
import type { ConsoleDependencies } from "../dependencies.ts";
import {
  checkOwnPage,
  checkStateChange,
  needText,
  notSignedIn,
  readActor,
  roleHeldBy,
  workspaceNamed,
} from "./callers.ts";

type MountOptions = Pick<ConsoleDependencies, "signIn" | "people" | "vault" | "configSnapshot" | "publicUrl">;

export interface AdminEnv {
  readonly Bindings: {
    readonly ip: string;
    readonly requestId?: string;
  };
}

/** An authorized call. */
interface AllowedCall {
  readonly request: Request;
  readonly params: Readonly<Record<string, string>>;
  /** null only on `public` routes. */
  readonly actor: Actor | null;
  readonly auditSource: AuditSource;
  /** The actor's role in the workspace, or `administrator`. At least what the route needs. */
  readonly held: Need;
  /** The workspace in the path; null if the path has none, or `-` for all. */
  readonly workspace: Workspace | null;
  readonly ip: string;
  readonly signal: AbortSignal;
}

/** A call of the admin API that was parsed, validated and authorized. */
export interface ConsoleCall<Id extends RouteId> extends AllowedCall {
  readonly params: RouteParams<Id>;
  readonly query: QueryOf<Id>;
  readonly body: BodyOf<Id>;
  readonly actor: NeedOf<Id> extends "public" ? Actor | null : Actor;
}

/** A handler returns nothing for an empty answer. */
type Handler<Id extends RouteId> = (
  call: ConsoleCall<Id>,
) => Record<string, never> extends AnswerOf<Id> ? Promise<void> : Promise<Frozen<AnswerOf<Id>>> | Frozen<AnswerOf<Id>>;

/** Handlers may return objects of stores and snapshots without a copy. */
type Frozen<Value> = Value extends readonly (infer Item)[]
  ? readonly Frozen<Item>[]
  : Value extends object
    ? { readonly [Name in keyof Value]: Frozen<Value[Name]> }
    : Value;

export type Handlers = { readonly [Id in RouteId]: Handler<Id> };

/** Waits for a write, and until this process has applied it. */
export function applier({ changesSeen }: Pick<ConsoleDependencies, "changesSeen">) {
  return async <Result>(write: Promise<Result>): Promise<Result> => {
    const result = await write;
    await changesSeen();
    return result;
  };
}

/** The default page size, in rows. */
export const pageSize = 50;

/** Throws `invalid_request` for a call that cannot cover all workspaces (`-`). */
export function oneWorkspace({ workspace }: { readonly workspace: Workspace | null }): Workspace {
  if (workspace !== null) return workspace;
  throw invalidRequest("workspace", "Name one workspace. This call cannot cover all workspaces.");
}

/** Mounts every route of the contract. */
export function mountHandlers(app: Hono<AdminEnv>, handlers: Handlers, options: MountOptions): void {
  for (const id of Object.keys(consoleRoutes) as RouteId[])
    mountCall(app, id, handlers[id] as Handler<RouteId>, options);
}

function mountCall(app: Hono<AdminEnv>, id: RouteId, handler: Handler<RouteId>, options: MountOptions): void {
  const spec: Route = consoleRoutes[id];
  app.on(spec.method, spec.path.replace(/\{([a-z]+)\}/g, ":$1"), async (c) => {
    const request = c.req.raw;
    if (spec.method !== "GET") checkStateChange(request, options.publicUrl);
    const call = await allowedCall(c, spec, options);
    const { held } = call;
    const query = spec.query === undefined ? undefined : readAs(spec.query, queryOf(request));
    const body = spec.body === undefined ? undefined : readAs(spec.body, await bodyOf(request, spec.bodyBytesMax));
    if (spec.body !== undefined) refuseFields(body, fieldRules(spec.body), held);
    const answer = (await handler({ ...call, query, body } as ConsoleCall<RouteId>)) ?? {};
    const seen = withoutFields(answer, fieldRules(spec.answer), held);
    return Response.json(seen, { status: spec.status ?? 200, headers: { "cache-control": "no-store" } });
  });
}

/** A call with a body or answer other than JSON. */
export interface StreamingCall extends AllowedCall {
  readonly actor: Actor;
}

export interface StreamingRoute extends Pick<Route, "fresh"> {
  readonly needs: Exclude<Need, "public">;
  readonly methods: readonly string[];
  readonly path: string;
}

/** Mounts a streaming route with the same checks as the other calls. */
export function mountStreaming(
  app: Hono<AdminEnv>,
  route: StreamingRoute,
  options: MountOptions,
  act: (call: StreamingCall) => Promise<Response>,
): void {
  app.on([...route.methods], route.path, async (c: Context<AdminEnv>) => {
    const { method } = c.req.raw;
    if (method !== "GET" && method !== "HEAD") checkOwnPage(c.req.raw, options.publicUrl);
    const call = await allowedCall(c, route, options);
    const response = await act(call as StreamingCall);
    if (!response.headers.has("cache-control")) response.headers.set("cache-control", "no-store");
    return response;
  });
}

async function allowedCall(
  c: Context<AdminEnv>,
  { needs, fresh }: Pick<Route, "needs" | "fresh">,
  options: MountOptions,
): Promise<AllowedCall> {
  const request = c.req.raw;
  const { ip } = c.env;
  const actor = await readActor(request, options);
  const params = c.req.param() as Readonly<Record<string, string>>;
  const workspace = workspaceOf(params, actor, options);
  const held = roleHeldBy(actor, workspace);
  if (!meets(held, needs)) {
    if (actor === null) throw notSignedIn();
    throw new Failure("forbidden", `This needs ${needText(needs)}.`);
  }
  if (fresh === true && actor?.fresh !== true) {
    throw new Failure("confirm_sign_in", "Your last sign-in is too old for this. Sign in again.");
  }
  const auditSource = { actor: actor?.name ?? "nobody", ip };
  return { request, params, actor, auditSource, held, workspace, ip, signal: request.signal };
}

export function workspaceOf(
  params: Readonly<Record<string, string>>,
  actor: Actor | null,
  { configSnapshot }: Pick<MountOptions, "configSnapshot">,
): Workspace | null {
  const name = params["workspace"];
  return name === undefined ? null : workspaceNamed(name, actor, configSnapshot());
}

/** A DELETE without a body counts as one with an empty object. */
async function bodyOf(request: Request, bytesMax: number | undefined): Promise<unknown> {
  return request.method === "DELETE" && request.body === null ? {} : await readJson(request, bytesMax);
}

export function queryOf(request: Request): Record<string, string> {
  return withoutControls(Object.fromEntries(new URL(request.url).searchParams));
}

/** Throws the first problem. */
export function readAs<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const read = schema.safeParse(value);
  if (read.success) return read.data;
  const problem = read.error.issues[0];
  const failure = schemaFailure(problem, "the value is not valid");
  const sent = problem?.path.reduce<unknown>(
    (at, key) => (at as Record<PropertyKey, unknown> | undefined)?.[key],
    value,
  );
  if (problem?.code !== "invalid_type" || sent !== undefined) throw failure;
  throw new Failure("missing_required_parameter", `\`${failure.param ?? ""}\` is missing.`, {
    param: failure.param ?? "",
  });
}

/**
 * A field that needs a role, from the `needs` of a schema. In a path, `[]` is every element of a list, and `*` every value of a
 * record.
 */
interface FieldRule {
  readonly path: readonly string[];
  readonly needs: Need;
}

/** Collected at the first call of a route, because collecting the rules of every route would delay the start of the gateway. */
const collected = new WeakMap<z.ZodType, readonly FieldRule[]>();

function fieldRules(schema: z.ZodType): readonly FieldRule[] {
  const existing = collected.get(schema);
  if (existing !== undefined) return existing;
  const rules: FieldRule[] = [];
  collectRules(schema, [], rules, 0);
  collected.set(schema, Object.freeze(rules));
  return rules;
}

const depthMax = 12;

function collectRules(schema: unknown, path: readonly string[], rules: FieldRule[], depth: number): void {
  if (!(schema instanceof z.ZodType) || depth > depthMax) return;
  const needs = z.globalRegistry.get(schema)?.needs;
  if (needs !== undefined && path.length > 0) {
    rules.push({ path, needs });
    return;
  }
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodDefault) {
    collectRules(schema.unwrap(), path, rules, depth + 1);
  } else if (schema instanceof z.ZodObject) {
    for (const [name, field] of Object.entries(schema.shape)) collectRules(field, [...path, name], rules, depth + 1);
  } else if (schema instanceof z.ZodArray) {
    collectRules(schema.element, [...path, "[]"], rules, depth + 1);
  } else if (schema instanceof z.ZodRecord) {
    collectRules(schema.valueType, [...path, "*"], rules, depth + 1);
  }
}

/** Throws `forbidden` for the first field of a body that the caller may not send. */
function refuseFields(body: unknown, rules: readonly FieldRule[], held: Need): void {
  for (const rule of rules) {
    if (meets(held, rule.needs) || !isPresent(body, rule.path)) continue;
    const param = rule.path.filter((step) => step !== "[]" && step !== "*").join(".");
    throw new Failure("forbidden", `\`${param}\` can only be set by ${needText(rule.needs)}.`, { param });
  }
}

function isPresent(value: unknown, [step, ...rest]: readonly string[]): boolean {
  if (step === undefined) return value !== undefined;
  if (value === null || typeof value !== "object") return false;
  if (step === "[]" || step === "*") return Object.values(value).some((each) => isPresent(each, rest));
  return isPresent(Reflect.get(value, step), rest);
}

/** A copy of the answer without the fields that the caller may not see. */
function withoutFields<Answer>(answer: Answer, rules: readonly FieldRule[], held: Need): Answer {
  const hidden = rules.filter((rule) => !meets(held, rule.needs));
  return hidden.length === 0
    ? answer
    : (hidden.reduce((value: unknown, rule) => omitPath(value, rule.path), answer) as Answer);
}

function omitPath(value: unknown, [step, ...rest]: readonly string[]): unknown {
  if (step === undefined || value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) return step === "[]" ? value.map((each) => omitPath(each, rest)) : value;
  const entries = Object.entries(value);
  if (step === "*") return Object.fromEntries(entries.map(([name, each]) => [name, omitPath(each, rest)]));
  if (rest.length === 0) return Object.fromEntries(entries.filter(([name]) => name !== step));
  return Object.fromEntries(entries.map(([name, each]) => [name, name === step ? omitPath(each, rest) : each]));
}

export async function readJson(request: Request, bytesMax = bounds.controlBodyBytesMax): Promise<unknown> {
  return await readBodyJson(request, bytesMax, bodyName);
}

export async function readText(request: Request, bytesMax: number): Promise<string> {
  return await readBodyText(request, bytesMax, bodyName);
}

const bodyName = "The body of a control call";

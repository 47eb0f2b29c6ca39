import type { AnswerOf, BodyOf, Need, NeedOf, QueryOf, Route, RouteId, RouteParams } from "@sluice/contract";
import { consoleRoutes } from "@sluice/contract/console/routes";
import { meets } from "@sluice/contract/words";
import type { Context, Hono } from "hono";
import { z } from "zod";
import { type Actor, bounds, Failure, readBodyText, schemaFailure, type Workspace } from "#core/index.ts";
import type { AuditSource } from "#ports/index.ts";
import type { ConsoleDependencies } from "../dependencies.ts";
import {
  checkOwnPage,
  checkStateChange,
  heldBy,
  neededWords,
  notSignedIn,
  whoCalls,
  workspaceNamed,
} from "./callers.ts";

type MountOptions = Pick<ConsoleDependencies, "signIn" | "people" | "vault" | "configSnapshot" | "publicUrl">;

export interface AdminEnv {
  readonly Bindings: {
    readonly ip: string;
    /** The request's own id, for answers that repeat it. */
    readonly requestId?: string;
    /** Lifts the server's idle time-out for an answer that may be silent for long. */
    readonly patient?: () => void;
  };
}

/** A call that its caller may make. */
interface AllowedCall {
  readonly request: Request;
  readonly params: Readonly<Record<string, string>>;
  /** Who makes the call; null only on `public` routes. */
  readonly actor: Actor | null;
  /** Who the audit log names for it. */
  readonly auditSource: AuditSource;
  /** The actor's role in the workspace, or `administrator`. Never below what the route needs. */
  readonly held: Need;
  /** The workspace in the path; null when the path has none, or `-` for all. */
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

/** Handles a call and returns its answer, or throws Failure. */
type Handler<Id extends RouteId> = (call: ConsoleCall<Id>) => Promise<Frozen<AnswerOf<Id>>> | Frozen<AnswerOf<Id>>;

/** Handlers answer with what stores and snapshots hold, and copy nothing. */
type Frozen<Value> = Value extends readonly (infer Item)[]
  ? readonly Frozen<Item>[]
  : Value extends object
    ? { readonly [Name in keyof Value]: Frozen<Value[Name]> }
    : Value;

export type Handlers = { readonly [Id in RouteId]: Handler<Id> };

/** What was looked for. Throws not_found where there is none, or where the caller may not know of it. */
export function found<Item>(item: Item | null | undefined, what: string, param: string): Item {
  if (item !== null && item !== undefined) return item;
  throw new Failure("not_found", `There is no such ${what}.`, { param });
}

/** Waits after a write until this process has applied it. */
export function applying({ changesSeen }: Pick<ConsoleDependencies, "changesSeen">) {
  return async <Result>(write: Promise<Result>): Promise<Result> => {
    const result = await write;
    await changesSeen();
    return result;
  };
}

/** The default page size, in rows. */
export const pageSize = 50;

/** Throws invalid_request where the path says `-` for all workspaces and the call needs one. */
export function oneWorkspace({ workspace }: { readonly workspace: Workspace | null }): Workspace {
  if (workspace !== null) return workspace;
  throw new Failure("invalid_request", "Name one workspace. This call cannot cover all of them at once.", {
    param: "workspace",
  });
}

/** Puts every route of the contract on the app. Deny by default: what is not in the table is not there. */
export function mountHandlers(app: Hono<AdminEnv>, handlers: Handlers, options: MountOptions): void {
  for (const id of Object.keys(consoleRoutes) as RouteId[])
    mountCall(app, id, handlers[id] as Handler<RouteId>, options);
}

function mountCall(app: Hono<AdminEnv>, id: RouteId, handler: Handler<RouteId>, options: MountOptions): void {
  const spec: Route = consoleRoutes[id];
  const bodyRules = spec.body === undefined ? [] : fieldRules(spec.body);
  const answerRules = fieldRules(spec.answer);
  app.on(spec.method, spec.path.replace(/\{([a-z]+)\}/g, ":$1"), async (c) => {
    const request = c.req.raw;
    // It must come from our own pages or from a program; one with a token comes from a program.
    if (spec.method !== "GET") checkStateChange(request, options.publicUrl);
    const { call, cookies } = await allowedCall(c, spec, options);
    const { held } = call;
    const query = spec.query === undefined ? undefined : readAs(spec.query, queryOf(request));
    const body = spec.body === undefined ? undefined : readAs(spec.body, await bodyOf(request));
    refuseFields(body, bodyRules, held);
    const answer = withoutFields(await handler({ ...call, query, body } as ConsoleCall<RouteId>), answerRules, held);
    const response = Response.json(answer, { status: spec.status ?? 200, headers: { "cache-control": "no-store" } });
    for (const cookie of cookies) response.headers.append("set-cookie", cookie);
    return response;
  });
}

/** A call whose body, if any, is not JSON, or whose answer is not. */
export interface StreamingCall extends AllowedCall {
  readonly actor: Actor;
  readonly patient: () => void;
}

export interface StreamingRoute extends Pick<Route, "fresh"> {
  readonly needs: Exclude<Need, "public">;
  readonly methods: readonly string[];
  readonly path: string;
}

/** Puts one on the app, behind the same checks that every call of the admin API passes. */
export function mountStreaming(
  app: Hono<AdminEnv>,
  route: StreamingRoute,
  options: MountOptions,
  act: (call: StreamingCall) => Promise<Response>,
): void {
  app.on([...route.methods], route.path, async (c: Context<AdminEnv>) => {
    const { method } = c.req.raw;
    if (method !== "GET" && method !== "HEAD") checkOwnPage(c.req.raw, options.publicUrl);
    const { call, cookies } = await allowedCall(c, route, options);
    const response = await act({ ...call, patient: c.env.patient ?? (() => undefined) } as StreamingCall);
    if (!response.headers.has("cache-control")) response.headers.set("cache-control", "no-store");
    for (const cookie of cookies) response.headers.append("set-cookie", cookie);
    return response;
  });
}

/** `cookies`: the `set-cookie` lines that must go with the answer. */
async function allowedCall(
  c: Context<AdminEnv>,
  { needs, fresh }: Pick<Route, "needs" | "fresh">,
  options: MountOptions,
): Promise<{ readonly call: AllowedCall; readonly cookies: readonly string[] }> {
  const request = c.req.raw;
  const { ip } = c.env;
  const { actor, cookies } = await whoCalls(request, options);
  const params = c.req.param() as Readonly<Record<string, string>>;
  const workspace = workspaceOf(params, actor, options);
  const held = heldBy(actor, workspace);
  if (!meets(held, needs)) {
    if (actor === null) throw notSignedIn();
    throw new Failure("forbidden", `This needs ${neededWords(needs)}.`);
  }
  if (fresh === true && actor?.fresh !== true) {
    throw new Failure("confirm_sign_in", "Sign in again to do this: your last sign-in was a while ago.");
  }
  const auditSource = { actor: actor?.name ?? "nobody", ip };
  return { call: { request, params, actor, auditSource, held, workspace, ip, signal: request.signal }, cookies };
}

export function workspaceOf(
  params: Readonly<Record<string, string>>,
  actor: Actor | null,
  { configSnapshot }: Pick<MountOptions, "configSnapshot">,
): Workspace | null {
  const name = params["workspace"];
  return name === undefined ? null : workspaceNamed(name, actor, configSnapshot());
}

/** What is removed needs nothing said of it, as a rule: there, no body at all is an empty one. */
async function bodyOf(request: Request): Promise<unknown> {
  return request.method === "DELETE" && request.body === null ? {} : await readJson(request);
}

function queryOf(request: Request): Record<string, string> {
  return Object.fromEntries(new URL(request.url).searchParams);
}

/** What a schema reads of a value. Throws its first problem. */
function readAs<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const read = schema.safeParse(value);
  if (read.success) return read.data;
  const problem = read.error.issues[0];
  const failure = schemaFailure(problem, "cannot be used");
  const given = problem?.path.reduce<unknown>(
    (at, key) => (at as Record<PropertyKey, unknown> | undefined)?.[key],
    value,
  );
  if (problem?.code !== "invalid_type" || given !== undefined) throw failure;
  throw new Failure("missing_required_parameter", `\`${failure.param ?? ""}\` is missing.`, {
    param: failure.param ?? "",
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

/** The JSON of a control call, read within its bound. */
export async function readJson(request: Request): Promise<unknown> {
  const text = await readText(request, bounds.controlBodyBytesMax);
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new Failure("invalid_json", "The body is not valid JSON.", { cause });
  }
}

export async function readText(request: Request, bytesMax: number): Promise<string> {
  return await readBodyText(request, bytesMax, "The body of a control call");
}

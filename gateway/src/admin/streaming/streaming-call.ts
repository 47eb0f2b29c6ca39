import type { Need, Route } from "@sluice/contract";
import type { Context, Hono } from "hono";
import { type Actor, Failure, type Workspace } from "#core/index.ts";
import type { AuditSource } from "#ports/index.ts";
import { type AdminEnv, allow, type MountOptions } from "../handlers/mount-handlers.ts";
import { heldBy, whoCalls, workspaceNamed } from "../handlers/who-calls.ts";
import { checkOwnPage } from "../state-change.ts";

/** A call that is allowed and whose body, if any, is not JSON, or whose answer is not. */
export interface StreamingCall {
  readonly request: Request;
  readonly params: Readonly<Record<string, string>>;
  readonly actor: Actor;
  readonly auditSource: AuditSource;
  readonly held: Need;
  /** null: the path names none, or every one (`-`). */
  readonly workspace: Workspace | null;
  readonly ip: string;
  readonly patient: () => void;
}

export interface StreamingRoute extends Pick<Route, "needs" | "fresh"> {
  readonly methods: readonly string[];
  readonly path: string;
}

/** Puts one on the app, behind the same questions that every call of the admin API is asked. */
export function mountStreaming(
  app: Hono<AdminEnv>,
  route: StreamingRoute,
  options: MountOptions,
  act: (call: StreamingCall) => Promise<Response>,
): void {
  app.on([...route.methods], route.path, async (c: Context<AdminEnv>) => {
    const request = c.req.raw;
    if (request.method !== "GET" && request.method !== "HEAD") checkOwnPage(request, options.publicUrl);
    const { actor, cookies } = await whoCalls(request, options);
    const params = c.req.param() as Readonly<Record<string, string>>;
    const workspace = workspaceOf(params, actor, options);
    const held = heldBy(actor, workspace);
    allow(route, actor, held);
    // Nothing here is public, so that whoever is allowed is somebody.
    if (actor === null) throw new Failure("not_signed_in", "Sign in first.");
    const { ip, patient = () => undefined } = c.env;
    const response = await act({
      request,
      params,
      actor,
      auditSource: { actor: actor.name, ip },
      held,
      workspace,
      ip,
      patient,
    });
    if (!response.headers.has("cache-control")) response.headers.set("cache-control", "no-store");
    for (const cookie of cookies) response.headers.append("set-cookie", cookie);
    return response;
  });
}

export function workspaceOf(
  params: Readonly<Record<string, string>>,
  actor: Actor | null,
  options: MountOptions,
): Workspace | null {
  const name = params["workspace"];
  return name === undefined ? null : workspaceNamed(name, actor, options.configSnapshot());
}

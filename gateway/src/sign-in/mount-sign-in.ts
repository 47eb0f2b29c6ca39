import type { z } from "zod";
import { asFailure, bounds, Failure, failureAnswer, hasJsonBody, readBodyJson, schemaFailure } from "#core/index.ts";
import type { Observer } from "#ports/index.ts";
import { accountCalls } from "./account-calls.ts";
import { Call, type CallSpec, type SignInDependencies } from "./call.ts";
import { oidcCalls } from "./oidc-calls.ts";
import { passkeyCalls } from "./passkey-calls.ts";
import { requireSite, type Site } from "./site.ts";
import { twoFactorCalls } from "./two-factor-calls.ts";

/** Every path under /api/auth. Nothing else of the library can be reached. */
const callSpecs: readonly CallSpec[] = Object.freeze([
  ...accountCalls,
  ...twoFactorCalls,
  ...passkeyCalls,
  ...oidcCalls,
]);

interface SignInRoutesOptions {
  readonly dependencies: SignInDependencies;
  readonly publicUrl: string | null;
  readonly observer: Observer;
}

const base = "/api/auth";

/** Answers a request under /api/auth. Never throws. */
export async function answerAuth(options: SignInRoutesOptions, request: Request, ip: string): Promise<Response> {
  try {
    return await answer(options, request, ip);
  } catch (thrown) {
    const failure = asFailure(thrown);
    if (failure.code === "internal_error") {
      const cause = failure.cause instanceof Error ? failure.cause : failure;
      options.observer.log("error", "a sign-in call failed", { error: cause.stack ?? cause.message });
    }
    const refusal = failureAnswer(failure);
    if (failure.code === "method_not_allowed") refusal.headers.set("allow", allowed(pathOf(request)));
    return refusal;
  }
}

async function answer(
  { dependencies, publicUrl }: SignInRoutesOptions,
  request: Request,
  ip: string,
): Promise<Response> {
  const { spec, pathId } = find(request);
  const site = requireSite(request, publicUrl);
  // Issuers redirect from their own site; the state cookie proves that the sign-in started here.
  if (spec.path !== "/callback/:id") checkSource(request, site);
  const session = await dependencies.sessions.find(request.headers, site);
  if (spec.needs !== "anybody" && session === null) throw new Failure("not_signed_in", "Sign in first.");
  if (spec.needs === "fresh" && session?.fresh !== true) {
    throw new Failure("confirm_sign_in", "Sign in again to do this.");
  }
  const body = spec.body === null ? undefined : await readBody(request, spec.body);
  const call = new Call({ dependencies, request, site, ip, session, pathId });
  const response = await spec.answer(call, body as never);
  for (const cookie of call.cookies) response.headers.append("set-cookie", cookie);
  return response;
}

function find(request: Request): { readonly spec: CallSpec; readonly pathId: string } {
  const path = pathOf(request);
  const there = callSpecs.filter((spec) => matches(spec, path));
  if (there.length === 0) throw new Failure("not_found", "Nothing exists at this path.");
  const spec = there.find((each) => each.method === request.method);
  if (spec === undefined) throw new Failure("method_not_allowed", `This path allows ${allowed(path)}.`);
  return { spec, pathId: spec.path.endsWith("/:id") ? path.slice(path.lastIndexOf("/") + 1) : "" };
}

function matches(spec: CallSpec, path: string): boolean {
  if (!spec.path.endsWith("/:id")) return spec.path === path;
  const start = spec.path.slice(0, -":id".length);
  return path.startsWith(start) && /^[\w-]{1,64}$/.test(path.slice(start.length));
}

function pathOf(request: Request): string {
  const { pathname } = new URL(request.url);
  return pathname.startsWith(`${base}/`) ? pathname.slice(base.length) : "";
}

function allowed(path: string): string {
  return [...new Set(callSpecs.filter((spec) => matches(spec, path)).map((spec) => spec.method))].join(", ");
}

/**
 * CSRF protection: pages of other origins may not make this call, since cookies would be sent along. Programs send no origin and no
 * cookies that a page could use.
 */
function checkSource(request: Request, site: Site): void {
  const from = request.headers.get("sec-fetch-site");
  const typed = request.method === "GET" && from === "none";
  if (from !== null && from !== "same-origin" && !typed) throw foreign(site);
  const origin = request.headers.get("origin");
  if (origin !== null && origin !== site.origin) throw foreign(site);
}

function foreign(site: Site): Failure {
  return new Failure("forbidden", `Sign-in is open to this gateway's own pages only, at ${site.origin}/console/.`);
}

async function readBody<Body>(request: Request, schema: z.ZodType<Body>): Promise<Body> {
  if (!hasJsonBody(request)) throw new Failure("unsupported_media_type", "The body must be application/json.");
  const read = schema.safeParse(await readBodyJson(request, bounds.controlBodyBytesMax, "The body"));
  if (read.success) return read.data;
  throw schemaFailure(read.error.issues[0], "the body is not valid");
}

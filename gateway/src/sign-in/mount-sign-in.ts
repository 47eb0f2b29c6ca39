import { asFailure, Failure } from "#core/index.ts";
import type { Observer } from "#ports/index.ts";
import { answerFailure } from "./answers.ts";
import { Call, type CallSpec, type SignInDependencies } from "./call.ts";
import { oidcCalls } from "./oidc-calls.ts";
import { passkeyCalls } from "./passkey-calls.ts";
import { passwordCalls } from "./password-calls.ts";
import { readBody } from "./read-body.ts";
import { sessionCalls } from "./session-calls.ts";
import { requireSite } from "./site.ts";
import { checkSource } from "./source-check.ts";
import { twoFactorCalls } from "./two-factor-calls.ts";

/** Every path there is under /api/auth. What the library offers beyond these cannot be reached. */
const callSpecs: readonly CallSpec[] = Object.freeze([
  ...passwordCalls,
  ...twoFactorCalls,
  ...passkeyCalls,
  ...oidcCalls,
  ...sessionCalls,
]);

export interface SignInRoutesOptions {
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
    const refusal = answerFailure(failure);
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
  // An issuer sends its users back from its own site; the cookie with the state says whether they set out from ours.
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
  if (there.length === 0) throw new Failure("not_found", "There is nothing at this path.");
  const spec = there.find((each) => each.method === request.method);
  if (spec === undefined) throw new Failure("method_not_allowed", `This path takes ${allowed(path)}.`);
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

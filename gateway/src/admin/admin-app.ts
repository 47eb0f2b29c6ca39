import { setupRequestSchema } from "@sluice/contract/answers";
import { Hono } from "hono";
import { asFailure, Failure, failureAnswer, schemaFailure } from "#core/index.ts";
import type { AdminOptions } from "./dependencies.ts";
import { checkStateChange } from "./handlers/callers.ts";
import { type AdminEnv, mountHandlers, readJson } from "./handlers/calls.ts";
import { consoleHandlers } from "./handlers/console-handlers.ts";
import { answerConsole, answerDocs, answerFile, pagePolicy, policyReportPath } from "./pages.ts";
import { policyReports } from "./policy-reports.ts";
import { ScimCalls } from "./scim/scim-calls.ts";
import { scimPath } from "./scim/scim-schema.ts";
import { SpendLimitCalls, spendLimitsPath } from "./spend-limits.ts";
import { mountStreamingRoutes } from "./streaming/mount-streaming-routes.ts";
import { linkRateLimit } from "./throttle.ts";

export function createAdminApp(options: AdminOptions): Hono<AdminEnv> {
  const throttle = linkRateLimit("setup", options.openTries);
  const takePolicyReport = policyReports(options);
  const app = new Hono<AdminEnv>();

  app.get("/", (c) => c.redirect("/console/", 302));
  app.get("/console", (c) => c.redirect("/console/", 308));
  app.get("/console/*", (c) => answerConsole(options, c.req.raw));
  app.get("/docs", (c) => answerDocs(options.files, c.req.raw));
  app.get("/docs/", (c) => c.redirect("/docs", 308));
  app.get("/docs/*", (c) => answerDocs(options.files, c.req.raw));
  app.get("/openapi.json", async (c) => answerFile(c.req.raw, await options.openApi(), pagePolicy));
  app.get("/api/status", async () =>
    noStore(Response.json({ setup_needed: await options.setup.isNeeded(), demo: options.demo() })),
  );
  app.post("/api/setup", async (c) => noStore(await answerSetup(c.req.raw, c.env.ip, options, throttle)));
  app.post(policyReportPath, (c) => takePolicyReport(c.req.raw));
  const { console } = options;
  if (console !== null) {
    app.all("/api/auth/*", async (c) => noStore(await console.signIn.handle(c.req.raw, { ip: c.env.ip })));
    mountStreamingRoutes(app, console);
    const scim = new ScimCalls(console);
    app.all(`${scimPath}/*`, (c) => scim.answer(c.req.raw, c.env.ip));
    const spendLimits = new SpendLimitCalls(console, options.observer);
    for (const path of [spendLimitsPath, `${spendLimitsPath}/*`]) {
      app.all(path, (c) => spendLimits.answer(c.req.raw, c.env));
    }
    mountHandlers(app, consoleHandlers(console), console);
  }
  for (const [path, allow] of onlyMethods) app.all(path, () => methodNotAllowed(allow));
  app.notFound(() => failureAnswer(new Failure("not_found", "Nothing exists at this path.")));
  app.onError((thrown) => {
    const failure = asFailure(thrown);
    if (failure.code === "internal_error") {
      options.observer.log("error", "a control call failed", { error: thrown.stack ?? thrown.message });
    }
    return failureAnswer(failure);
  });

  return app;
}

/** Methods of paths that do not support all. */
const onlyMethods = [
  ["/console/*", "GET, HEAD"],
  ["/docs/*", "GET, HEAD"],
  ["/openapi.json", "GET, HEAD"],
  ["/api/status", "GET, HEAD"],
  ["/api/setup", "POST"],
  [policyReportPath, "POST"],
] as const;

function methodNotAllowed(allow: string): Response {
  const answer = failureAnswer(new Failure("method_not_allowed", `This path allows ${allow}.`));
  answer.headers.set("allow", allow);
  return answer;
}

function noStore(response: Response): Response {
  response.headers.set("cache-control", "no-store");
  return response;
}

/** POST /api/setup: creates the first administrator with the one-time token. */
async function answerSetup(
  request: Request,
  ip: string,
  options: Pick<AdminOptions, "setup" | "observer" | "publicUrl">,
  throttle: ReturnType<typeof linkRateLimit>,
): Promise<Response> {
  checkStateChange(request, options.publicUrl);
  await throttle.take(ip);
  const read = setupRequestSchema.safeParse(await readJson(request));
  if (!read.success) throw schemaFailure(read.error.issues[0], "the body is not a setup request");
  await options.setup.complete({ ...read.data, ip });
  options.observer.log("info", "the first administrator was created");
  return Response.json({ email: read.data.email }, { status: 201 });
}

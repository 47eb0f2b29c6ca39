import { setupRequestSchema } from "@sluice/contract/answers";
import { Hono } from "hono";
import { asFailure, Failure, failureTable } from "#core/index.ts";
import type { StaticFile } from "#ports/index.ts";
import type { AdminOptions } from "./admin-options.ts";
import { answerDocs, docsFile } from "./docs-page.ts";
import { consoleHandlers } from "./handlers/console-handlers.ts";
import { type AdminEnv, mountHandlers } from "./handlers/mount-handlers.ts";
import { readJson } from "./json-body.ts";
import { PolicyReports } from "./policy-reports.ts";
import { ScimCalls } from "./scim/scim-calls.ts";
import { scimPath } from "./scim/scim-descriptions.ts";
import { consolePolicy, pagePolicy, policyReportPath } from "./security-headers.ts";
import { spendLimitsPath } from "./spend-limits/spend-limit.ts";
import { SpendLimitCalls } from "./spend-limits/spend-limit-calls.ts";
import { checkStateChange } from "./state-change.ts";
import { answerFile, answerText } from "./static-answer.ts";
import { mountStreamingRoutes } from "./streaming/mount-streaming-routes.ts";
import { Throttle } from "./throttle.ts";

/** Routes and calls of the control plane. They never throw. */
export function createAdminApp(options: AdminOptions): Hono<AdminEnv> {
  const throttle = new Throttle("setup", options.openTries);
  const policyReports = new PolicyReports(options);
  // Made when somebody first asks: it takes more memory than everything else of this module.
  let openApi: string | null = null;
  const app = new Hono<AdminEnv>();

  app.get("/", (c) => c.redirect("/console/", 302));
  app.get("/console", (c) => c.redirect("/console/", 308));
  app.get("/console/*", (c) => answerConsole(options, c.req.raw));
  app.get("/docs", (c) => answerDocs(c.req.raw));
  app.get("/docs/", (c) => c.redirect("/docs", 308));
  app.get("/docs/*", (c) => docsFile(options.files, c.req.raw));
  app.get("/openapi.json", async (c) => {
    const { openApiDocument } = await import("@sluice/contract/openapi");
    openApi ??= JSON.stringify(openApiDocument((options.callsUrl ?? (() => options.publicUrl))()));
    return answerText(c.req.raw, openApi, "application/json; charset=utf-8", pagePolicy);
  });
  app.get("/api/status", async () =>
    noStore(
      Response.json({
        setup_needed: await options.setup.isNeeded(),
        demo: options.demo(),
      }),
    ),
  );
  app.post("/api/setup", async (c) => noStore(await answerSetup(c.req.raw, c.env.ip, options, throttle)));
  app.post(policyReportPath, (c) => policyReports.answer(c.req.raw));
  const { console } = options;
  if (console !== null) {
    app.all("/api/auth/*", async (c) => noStore(await console.signIn.handle(c.req.raw, { ip: c.env.ip })));
    mountStreamingRoutes(app, console, console);
    const scim = new ScimCalls(console);
    app.all(`${scimPath}/*`, (c) => scim.answer(c.req.raw, c.env.ip));
    const spendLimits = new SpendLimitCalls(console, options.observer);
    for (const path of [spendLimitsPath, `${spendLimitsPath}/*`]) {
      app.all(path, (c) => spendLimits.answer(c.req.raw, c.env));
    }
    mountHandlers(app, consoleHandlers(console), console);
  }
  for (const [path, allow] of onlyMethods) app.all(path, () => methodNotAllowed(allow));
  app.notFound(() => failureAnswer(new Failure("not_found", "There is nothing at this path.")));
  app.onError((thrown) => {
    const failure = asFailure(thrown);
    if (failure.code === "internal_error") {
      options.observer.log("error", "a control call failed", { error: thrown.stack ?? thrown.message });
    }
    return failureAnswer(failure);
  });

  return app;
}

/** Known paths that were asked with a method they do not have. */
const onlyMethods = [
  ["/console/*", "GET, HEAD"],
  ["/docs/*", "GET, HEAD"],
  ["/openapi.json", "GET, HEAD"],
  ["/api/status", "GET, HEAD"],
  ["/api/setup", "POST"],
  [policyReportPath, "POST"],
] as const;

async function answerConsole(options: AdminOptions, request: Request): Promise<Response> {
  const path = new URL(request.url).pathname.slice(1);
  const page = await options.files.find("console/index.html");
  // Whatever is no file is a page of the console, which finds its own way: names of models hold dots, and look like files.
  const file = path === "console/index.html" ? null : await options.files.find(path);
  if (file !== null) return answerFile(request, file, pagePolicy);
  if (path.startsWith("console/assets/")) throw new Failure("not_found", "There is no such file in the console.");
  if (page !== null) return answerConsolePage(page, options.randomToken());
  return new Response("The console has not been built. Run: npm run build -w console\n", {
    status: 503,
    headers: { "content-type": "text/plain; charset=utf-8", "cache-control": "no-store" },
  });
}

function methodNotAllowed(allow: string): Response {
  const answer = failureAnswer(new Failure("method_not_allowed", `This path takes ${allow}.`));
  answer.headers.set("allow", allow);
  return answer;
}

function noStore(response: Response): Response {
  response.headers.set("cache-control", "no-store");
  return response;
}

/** A failure as the JSON that every control call answers with; the shape is OpenAI's, as on the data plane. */
export function failureAnswer(failure: Failure): Response {
  const response = Response.json(
    {
      error: {
        message: failure.message,
        type: failureTable[failure.code].type,
        param: failure.param,
        code: failure.code,
        ...failure.details,
      },
    },
    { status: failure.status, headers: { "cache-control": "no-store" } },
  );
  if (failure.retryAfterMs !== undefined) {
    response.headers.set("retry-after", String(Math.max(1, Math.ceil(failure.retryAfterMs / 1_000))));
  }
  return response;
}

/** Stands in the built page where the answer's nonce goes. */
const placeholder = "{style-nonce}";

/**
 * The console's one page. Every answer has a nonce of its own, so it is never kept; what it loads has hashed names and is
 * kept for good.
 */
function answerConsolePage(page: StaticFile, nonce: string): Response {
  const text = new TextDecoder().decode(page.bytes).replace(placeholder, nonce);
  return new Response(text, {
    headers: {
      "content-type": page.type,
      "content-security-policy": consolePolicy(nonce),
      "cache-control": "no-store",
    },
  });
}

/** POST /api/setup: the one-time token, an address and a password become the first administrator. */
async function answerSetup(
  request: Request,
  ip: string,
  options: Pick<AdminOptions, "setup" | "observer" | "publicUrl">,
  throttle: Throttle,
): Promise<Response> {
  checkStateChange(request, options.publicUrl);
  await throttle.take(ip);
  const read = setupRequestSchema.safeParse(await readJson(request));
  if (!read.success) {
    const problem = read.error.issues[0];
    const param = problem?.path.join(".") ?? "";
    const named = param === "" ? "" : `\`${param}\`: `;
    throw new Failure("invalid_request", `${named}${problem?.message ?? "the body is not a set-up"}`, {
      param: param === "" ? null : param,
    });
  }
  await options.setup.complete({ ...read.data, ip });
  options.observer.log("info", "the first administrator was created");
  return Response.json({ email: read.data.email }, { status: 201 });
}

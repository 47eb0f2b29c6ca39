import { openApiDocument } from "@sluice/contract";
import { Hono } from "hono";
import { asFailure, Failure } from "#core/index.ts";
import type { StaticFiles } from "#ports/index.ts";
import type { AdminOptions } from "./admin-options.ts";
import { answerDocs, docsFile } from "./docs-page.ts";
import { failureAnswer } from "./failure-answer.ts";
import { pagePolicy, withSecurityHeaders } from "./security-headers.ts";
import { answerSetup } from "./setup-call.ts";
import { answerFile, answerText } from "./static-answer.ts";
import { Throttle } from "./throttle.ts";

export interface Admin {
  /** Answers /console, /docs, /api and /openapi.json; anything else is `not_found`. Never throws. */
  readonly fetch: (request: Request, info: { readonly ip: string }) => Promise<Response>;
}

interface Env {
  readonly Bindings: { readonly ip: string };
}

export function createAdmin(options: AdminOptions): Admin {
  const throttle = new Throttle(options.clock);
  const openApi = JSON.stringify(openApiDocument(options.publicUrl, options.version));
  const app = new Hono<Env>();

  app.get("/", (c) => c.redirect("/console/", 302));
  app.get("/console", (c) => c.redirect("/console/", 308));
  app.get("/console/*", (c) => answerConsole(options.files, c.req.raw));
  app.get("/docs", (c) => answerDocs(c.req.raw));
  app.get("/docs/", (c) => c.redirect("/docs", 308));
  app.get("/docs/*", (c) => docsFile(options.files, c.req.raw));
  app.get("/openapi.json", (c) => answerText(c.req.raw, openApi, "application/json; charset=utf-8", pagePolicy));
  app.get("/api/status", () =>
    noStore(
      Response.json({
        setup_needed: options.setup.token() !== null,
        version: options.version,
        demo: options.demo(),
      }),
    ),
  );
  app.post("/api/setup", async (c) => noStore(await answerSetup(c.req.raw, c.env.ip, options, throttle)));
  for (const [path, allow] of onlyMethods) app.all(path, () => methodNotAllowed(allow));
  app.notFound(() => failureAnswer(new Failure("not_found", "There is nothing at this path.")));
  app.onError((thrown) => {
    const failure = asFailure(thrown);
    if (failure.code === "internal_error") {
      options.observer.log("error", "a control call failed", { error: thrown.stack ?? thrown.message });
    }
    return failureAnswer(failure);
  });

  return {
    fetch: async (request, info) => withSecurityHeaders(await app.fetch(request, { ip: info.ip })),
  };
}

/** Known paths that were asked with a method they do not have. */
const onlyMethods = [
  ["/console/*", "GET, HEAD"],
  ["/docs/*", "GET, HEAD"],
  ["/openapi.json", "GET, HEAD"],
  ["/api/status", "GET, HEAD"],
  ["/api/setup", "POST"],
] as const;

async function answerConsole(files: StaticFiles, request: Request): Promise<Response> {
  const path = new URL(request.url).pathname.slice(1);
  const file = await files.find(path);
  if (file !== null) return answerFile(request, file, pagePolicy);
  // A path without a file extension is a page of the console, which finds its own way from its first page.
  const lastStep = path.slice(path.lastIndexOf("/") + 1);
  if (lastStep.includes(".")) throw new Failure("not_found", "There is no such file in the console.");
  const page = await files.find("console/index.html");
  if (page !== null) return answerFile(request, page, pagePolicy);
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

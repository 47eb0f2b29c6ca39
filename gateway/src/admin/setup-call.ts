import { setupRequestSchema } from "@sluice/contract/answers";
import { Failure } from "#core/index.ts";
import type { AdminOptions } from "./admin-options.ts";
import { readJson } from "./json-body.ts";
import { checkStateChange } from "./state-change.ts";
import type { Throttle } from "./throttle.ts";

/** POST /api/setup: the one-time token, an address and a password become the first administrator. */
export async function answerSetup(
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

import { type ConsoleCall, consoleClient } from "@sluice/contract";
import { sendJson } from "../client/call.ts";
import { asProblem, isAbort } from "../client/problem.ts";
import type { Confirmation } from "./confirmation.ts";
import { routeLines } from "./route-lines.ts";

export interface CallDependencies {
  readonly confirmation: Confirmation;
  /** There is no session, or it has ended. */
  readonly onSignedOut: () => void;
}

type SendJson = typeof sendJson;

/**
 * The admin API with the session of this page. A call that needs a recent sign-in asks for one and is then repeated. If the session
 * has ended, the sign-in page opens and returns here afterwards.
 */
export function createCall(dependencies: CallDependencies, send: SendJson = sendJson): ConsoleCall {
  return consoleClient(guarded(dependencies, send), routeLines);
}

/** The same guard for calls of the sign-in API, which are not in the table. */
export function guarded(dependencies: CallDependencies, send: SendJson = sendJson): SendJson {
  return async (path, init) => {
    try {
      return await send(path, init);
    } catch (thrown) {
      if (isAbort(thrown)) throw thrown;
      const problem = asProblem(thrown);
      if (problem.code === "not_signed_in") dependencies.onSignedOut();
      if (problem.code !== "confirm_sign_in" || !(await dependencies.confirmation.ask())) throw problem;
      return await send(path, init);
    }
  };
}

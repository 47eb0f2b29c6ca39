import { useQueryClient } from "@tanstack/react-query";
import { useCallback } from "react";
import { sendJson } from "../client/call.ts";
import { asProblem } from "../client/problem.ts";
import { noticeProblem } from "../components/notice.tsx";

/** Ends the session at the gateway, clears all cached data, and opens the sign-in page. */
export function useSignOut(): () => Promise<void> {
  const queries = useQueryClient();
  return useCallback(async () => {
    try {
      await sendJson("/api/auth/sign-out", { method: "POST", body: "{}", signal: null });
    } catch (thrown) {
      const problem = asProblem(thrown);
      if (problem.code !== "not_signed_in") {
        noticeProblem(problem);
        return;
      }
    }
    await forgetAll(queries);
  }, [queries]);
}

/** The next user must not see data of this one. */
export async function forgetAll(queries: ReturnType<typeof useQueryClient>): Promise<void> {
  queries.removeQueries({ predicate: (query) => query.queryKey[0] !== "session.show" });
  await queries.resetQueries({ queryKey: ["session.show"] });
}
